import { admin, type Restorer, type StoreAdmin } from "../admin.ts";
import { partRow } from "../rows.ts";
import { ReferenceViolation, type Tables, UniqueViolation } from "../store.ts";
import type { Memory } from "./memory.ts";
import type { Persistence } from "./persistence.ts";
import type { Sessions } from "./session.ts";

export { admin };

/** Checks everything that row-by-row inserts would have checked. */
function checkAll(memory: Memory): void {
  for (const memoryTable of memory.tables.values()) {
    for (const row of memoryTable.rows.values()) {
      memoryTable.checkUnique(row);
      for (const { column, to } of memory.referencesOf(memoryTable)) {
        const target = row[column] as number | null;
        if (target !== null && !to.rows.has(target)) throw new ReferenceViolation(memoryTable.table.name, column);
      }
    }
  }
}

function restorer(memory: Memory): Restorer {
  return {
    async rows(table, rows) {
      const memoryTable = memory.named(table);
      for (const { revision, ...input } of rows) {
        const values = memoryTable.forms.keep(partRow(memoryTable.table, input));
        for (const column of Object.keys(memoryTable.table.columns))
          if (!(column in values)) throw new Error(`${table}.${column}: missing`);
        if (!Number.isSafeInteger(revision)) throw new Error(`${table}.revision: missing`);
        const row = memoryTable.forms.build({ ...values, revision });
        if (memoryTable.rows.has(row.id)) throw new UniqueViolation(table, ["id"]);
        memoryTable.set(row.id, row);
      }
    },
    async nextId(table, id) {
      const memoryTable = memory.named(table);
      memoryTable.nextId = Math.max(memoryTable.nextId, id);
    },
  };
}

export function storeAdmin<S extends Tables>(
  memory: Memory,
  sessions: Sessions,
  persistence: Persistence,
  collections: StoreAdmin<S>["snapshot"],
): StoreAdmin<S> {
  return {
    // Callable inside a snapshot, too, which already has exclusive access.
    async nextIds() {
      sessions.assertOpen();
      const withIds = [...memory.tables].filter(([, memoryTable]) => memoryTable.ownIds);
      return Object.fromEntries(withIds.map(([name, memoryTable]) => [name, memoryTable.nextId]));
    },
    snapshot: collections,
    restore: (work) =>
      sessions.transact(async () => {
        // The rows are written as a snapshot, which is valid completely or not at all: no undo list and no journal
        // lines are needed.
        persistence.assertWritable();
        if (memory.rowCount > 0) throw new Error("a restore needs an empty store");
        const nextIds = [...memory.tables.values()].map((memoryTable) => [memoryTable, memoryTable.nextId] as const);
        try {
          await work(restorer(memory));
          checkAll(memory);
          await persistence.keepMemory();
        } catch (error) {
          for (const [memoryTable, nextId] of nextIds) {
            memoryTable.clear();
            memoryTable.nextId = nextId;
          }
          throw error;
        }
      }),
  };
}
