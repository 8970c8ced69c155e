import type { Layout } from "./layout.ts";
import type { LayoutOf } from "./predicate.ts";
import { Writes } from "./writes.ts";

export class PgCollection extends Writes {
  get table() {
    return this.layout.table;
  }
}

/** Finds the layouts of the declared tables by the table name that predicates and references use. */
export function layoutsByName(layouts: Readonly<Record<string, Layout>>): LayoutOf {
  const byName = new Map(Object.values(layouts).map((layout) => [layout.table.name, layout]));
  return (table) => {
    const layout = byName.get(table);
    if (!layout) throw new Error(`no such table: ${table}`);
    return layout;
  };
}
