import { admin, type Restorer, type StoreAdmin } from "../admin.ts";
import { partRow } from "../rows.ts";
import { ReferenceViolation, type Tables, UniqueViolation } from "../store.ts";
import type { Memory } from "./memory.ts";
import type { Persistence } from "./persistence.ts";
import type { Sessions } from "./session.ts";

export { admin };

/** Everything must hold that a row-by-row insert would have checked. */
function checkAll(memory: Memory): void {
  for (const held of memory.tables.values()) {
    for (const row of held.rows.values()) {
      held.checkUnique(row);
      for (const { column, to } of memory.referencesOf(held)) {
        const target = row[column] as number | null;
        if (target !== null && !to.rows.has(target)) throw new ReferenceViolation(held.table.name, column);
      }
    }
  }
}

function restorer(memory: Memory): Restorer {
  return {
    async rows(table, rows) {
      const held = memory.named(table);
      for (const { revision, ...given } of rows) {
        const values = held.forms.keep(partRow(held.table, given));
        for (const column of Object.keys(held.table.columns))
          if (!(column in values)) throw new Error(`${table}.${column}: missing`);
        if (!Number.isSafeInteger(revision)) throw new Error(`${table}.revision: missing`);
        const row = held.forms.build({ ...values, revision });
        if (held.rows.has(row.id)) throw new UniqueViolation(table, ["id"]);
        held.set(row.id, row);
      }
    },
    async nextId(table, id) {
      const held = memory.named(table);
      held.nextId = Math.max(held.nextId, id);
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
    // Also asked for inside a snapshot, whose turn it is then.
    async nextIds() {
      sessions.assertOpen();
      const own = [...memory.tables].filter(([, held]) => held.ownIds);
      return Object.fromEntries(own.map(([name, held]) => [name, held.nextId]));
    },
    snapshot: collections,
    restore: (work) =>
      sessions.transact(async () => {
        // The rows go to disk as a snapshot, which counts whole or not at all: there is no undo list and no journal line.
        persistence.assertWritable();
        if (memory.rowCount > 0) throw new Error("a restore needs an empty store");
        const nextIds = [...memory.tables.values()].map((held) => [held, held.nextId] as const);
        try {
          await work(restorer(memory));
          checkAll(memory);
          await persistence.keepMemory();
        } catch (error) {
          for (const [held, nextId] of nextIds) {
            held.clear();
            held.nextId = nextId;
          }
          throw error;
        }
      }),
  };
}
