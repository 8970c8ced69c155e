import type { Cipher } from "../cipher.ts";
import type { Tables } from "../store.ts";
import type { OnDelete, Table } from "../table.ts";
import { MemoryTable } from "./memory-table.ts";
import { type MemoryRow, RowForms } from "./values.ts";

interface Reference {
  readonly from: MemoryTable;
  readonly column: string;
  readonly to: MemoryTable;
  readonly onDelete: OnDelete;
}

/** All data of the store; lowdb calls this its `data`. */
export class Memory {
  readonly tables = new Map<string, MemoryTable>();
  readonly #outgoing = new Map<MemoryTable, Reference[]>();
  readonly #incoming = new Map<MemoryTable, Reference[]>();

  constructor(tables: Tables, cipher: Cipher, frozen: boolean) {
    for (const table of Object.values(tables)) {
      if (this.tables.has(table.name)) throw new Error(`two tables have the name ${table.name}`);
      this.tables.set(table.name, new MemoryTable(table, new RowForms(table, cipher, frozen)));
    }
    for (const memoryTable of this.tables.values()) {
      this.#outgoing.set(memoryTable, []);
      this.#incoming.set(memoryTable, []);
    }
    for (const from of this.tables.values()) this.#link(from);
  }

  #link(from: MemoryTable): void {
    for (const [column, { spec }] of Object.entries(from.table.columns)) {
      if (spec.to === null || (spec.kind !== "ref" && spec.kind !== "id")) continue;
      const reference = { from, column, to: this.named(spec.to), onDelete: spec.onDelete };
      this.#outgoing.get(from)!.push(reference);
      this.#incoming.get(reference.to)!.push(reference);
    }
  }

  named(name: string): MemoryTable {
    const memoryTable = this.tables.get(name);
    if (!memoryTable) throw new Error(`${name}: the store has no such table`);
    return memoryTable;
  }

  of(table: Table): MemoryTable {
    return this.named(table.name);
  }

  referencesOf(memoryTable: MemoryTable): readonly Reference[] {
    return this.#outgoing.get(memoryTable)!;
  }

  referencesTo(memoryTable: MemoryTable): readonly Reference[] {
    return this.#incoming.get(memoryTable)!;
  }

  /** The rows whose reference has this id. */
  referring({ from, column }: Reference, id: number): MemoryRow[] {
    if (column === "id") {
      const row = from.rows.get(id);
      return row ? [row] : [];
    }
    const index = from.indexOn(column)!;
    return Array.from(index.ids(id), (other) => from.rows.get(other)!);
  }

  get rowCount(): number {
    let count = 0;
    for (const memoryTable of this.tables.values()) count += memoryTable.rows.size;
    return count;
  }
}
