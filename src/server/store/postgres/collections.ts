import type { Collections, Tables } from "../store.ts";
import type { Layout } from "./layout.ts";
import type { LayoutOf } from "./predicate.ts";
import type { Runner } from "./runner.ts";
import { Writes } from "./writes.ts";

class PgCollection extends Writes {
  get table() {
    return this.layout.table;
  }
}

/** The layouts of the declared tables, found by the name that predicates and references use. */
export function layoutsByName(layouts: Readonly<Record<string, Layout>>): LayoutOf {
  const byName = new Map(Object.values(layouts).map((layout) => [layout.table.name, layout]));
  return (table) => {
    const layout = byName.get(table);
    if (!layout) throw new Error(`no such table: ${table}`);
    return layout;
  };
}

/** A collection for each table, made when it is first used: a transaction touches few of many. */
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
  // The rows' types follow from the declarations, which is what `layouts` was made from.
  return made as Collections<S>;
}
