import type { Collections, Tables } from "../store.ts";
import type { Runner } from "./connection/runner.ts";
import type { Layout } from "./layout.ts";
import type { LayoutOf } from "./predicate.ts";
import { Writes } from "./writes.ts";

class PgCollection extends Writes {
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

/** Creates the collection of each table on first use, because a transaction usually touches only a few tables. */
export function collections<S extends Tables>(
  layouts: Readonly<Record<string, Layout>>,
  layoutOf: LayoutOf,
  runner: Runner,
): Collections<S> {
  const made = {};
  for (const [key, layout] of Object.entries(layouts)) {
    let collection: PgCollection | undefined;
    Object.defineProperty(made, key, {
      enumerable: true,
      get: () => {
        collection ??= new PgCollection(layout, layoutOf, runner);
        return collection;
      },
    });
  }
  // Safe cast: `layouts` was built from the declarations that the row types come from.
  return made as Collections<S>;
}
