// Generates the statements that turn the migrated schema into the declared one.
import { packBytes } from "../packing.ts";
import type { Tables } from "../store.ts";
import type { ColumnSpec, Table } from "../table.ts";
import {
  columnDefinition,
  type SchemaObject,
  type StoredColumn,
  schemaObjects,
  searchColumn,
  storedColumns,
} from "./schema.ts";
import { name, sql, textOf } from "./sql.ts";
import { bytesLiteral } from "./types.ts";

interface Steps {
  /** Quick once they have their locks; they run in one transaction. */
  readonly quick: string[];
  /** Slow on big tables, so they must not keep a lock: they run one by one, outside of a transaction. */
  readonly slow: string[];
}

type Description = ReadonlyMap<string, string>;

export class NeedsHand extends Error {}

/**
 * @param now the schema that the migrations create @param desired the declared schema, both as returned by
 * `describeSchema`
 */
export function evolve(tables: Tables, now: Description, desired: Description): Steps {
  const all = new Map<string, Table>(Object.values(tables).map((table) => [table.name, table as Table]));
  const objects = schemaObjects(tables).filter(({ kind }) => kind !== "search");
  const isNew = (table: string) => !now.has(`table ${table}`);
  const differs = (key: string) => now.get(key) !== desired.get(key);
  const quick: string[] = [];
  const slow: string[] = [];

  for (const key of now.keys()) {
    const [kind, path] = key.split(" ") as [string, string];
    const [table, thing] = path.split(".") as [string, string | undefined];
    const stays = kind === "table" || desired.has(`table ${table}`);
    if (!stays || (desired.has(key) && !differs(key)) || kind === "column" || kind === "function") continue;
    if (kind === "constraint") quick.push(textOf(sql`ALTER TABLE ${name(table)} DROP CONSTRAINT ${name(thing!)}`));
    if (kind === "index") quick.push(textOf(sql`DROP INDEX ${name(thing!)}`));
    if (kind === "trigger") quick.push(textOf(sql`DROP TRIGGER ${name(thing!)} ON ${name(table)}`));
    if (kind === "table") quick.push(textOf(sql`DROP TABLE ${name(table)} CASCADE`));
  }
  for (const key of now.keys()) {
    if (!key.startsWith("column ") || desired.has(key)) continue;
    const [table, column] = key.slice(7).split(".") as [string, string];
    if (desired.has(`table ${table}`)) quick.push(textOf(sql`ALTER TABLE ${name(table)} DROP COLUMN ${name(column)}`));
  }

  for (const object of objects) if (object.kind === "table" && isNew(object.table)) quick.push(object.sql);
  for (const table of all.values())
    if (!isNew(table.name))
      for (const column of storedColumns(table)) {
        const key = `column ${table.name}.${column.name}`;
        if (!differs(key)) continue;
        if (now.has(key) && now.get(key)!.replace(" NOT NULL", "") === desired.get(key)) {
          // Dropping NOT NULL is compatible: older servers never write null and can run beside this one until a null
          // is stored.
          quick.push(textOf(sql`ALTER TABLE ${name(table.name)} ALTER COLUMN ${name(column.name)} DROP NOT NULL`));
          continue;
        }
        if (now.has(key))
          throw new NeedsHand(`${table.name}.${column.name} is "${now.get(key)}" and should be "${desired.get(key)}"`);
        addColumn(table, column, quick, slow);
      }
  for (const object of objects) {
    if (object.kind === "table" || !(isNew(object.table) || differs(keyOf(object)))) continue;
    if (isNew(object.table) || object.kind === "trigger" || object.kind === "storage") quick.push(object.sql);
    else slowly(object, quick, slow);
  }
  return { quick, slow };
}

const keyOf = ({ kind, table, name }: SchemaObject): string =>
  `${kind === "unique" || kind === "reference" ? "constraint" : kind} ${table}.${name}`;

function defaultText({ kind, fallback }: ColumnSpec): string {
  if (kind === "ids") return "{}";
  if (kind === "packed") return bytesLiteral(packBytes(fallback));
  return typeof fallback === "object" ? JSON.stringify(fallback) : String(fallback);
}

function addColumn(table: Table, column: StoredColumn, quick: string[], slow: string[]): void {
  const add = sql`ALTER TABLE ${name(table.name)} ADD COLUMN ${columnDefinition(table, column)}`;
  const shown = Object.entries(table.columns).find(
    ([each]) => searchColumn(each) === column.name && table.columns[each]!.spec.searchable,
  );
  const spec = table.columns[column.name]?.spec;
  if (column.nullable) quick.push(textOf(add));
  else if (!shown && spec?.hasFallback && spec.fallback !== null) {
    // A constant default is added without rewriting old rows. The column does not keep it, because the store fills in
    // defaults itself.
    quick.push(textOf(sql`${add} DEFAULT ${sql.lit(defaultText(spec))}`));
    quick.push(textOf(sql`ALTER TABLE ${name(table.name)} ALTER COLUMN ${name(column.name)} DROP DEFAULT`));
  } else if (shown) {
    quick.push(textOf(sql`${add} DEFAULT ''`));
    quick.push(textOf(sql`ALTER TABLE ${name(table.name)} ALTER COLUMN ${name(column.name)} DROP DEFAULT`));
  } else throw new NeedsHand(`${table.name}.${column.name} is new and has no default for existing rows`);
  // Close enough to the store's own lower-casing for old rows; each gets the exact form with its next write.
  if (shown)
    slow.push(
      textOf(sql`UPDATE ${name(table.name)} SET ${name(column.name)} = lower(${name(shown[0])} COLLATE "und-x-icu")`),
    );
}

function slowly({ kind, table, name: thing, sql: text }: SchemaObject, quick: string[], slow: string[]): void {
  if (kind === "index") slow.push(text.replace("CREATE INDEX", "CREATE INDEX CONCURRENTLY IF NOT EXISTS"));
  else if (kind === "reference") {
    quick.push(`${text} NOT VALID`);
    slow.push(textOf(sql`ALTER TABLE ${name(table)} VALIDATE CONSTRAINT ${name(thing)}`));
  } else if (kind === "unique") {
    const [, nulls, columns] = /UNIQUE( NULLS NOT DISTINCT)? (\(.*\))$/.exec(text) ?? [];
    const on = sql.raw(`${columns}${nulls ?? ""}`);
    slow.push(textOf(sql`CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS ${name(thing)} ON ${name(table)} ${on}`));
    slow.push(textOf(sql`ALTER TABLE ${name(table)} ADD CONSTRAINT ${name(thing)} UNIQUE USING INDEX ${name(thing)}`));
  }
}
