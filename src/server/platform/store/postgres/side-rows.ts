// Reads the rows of several side tables for many ids with one statement.
import type { Side } from "../sides.ts";
import type { PostgresRow } from "./layout.ts";
import type { LayoutOf } from "./predicate.ts";
import { RECORD, recordOf, recordParser } from "./records.ts";
import { col, compile, name, type Sql, sql } from "./sql.ts";

const IDS = "ids";

interface SideReading {
  /** Identifies the statement. */
  readonly key: string;
  /** The statement; its only parameter is the array of ids. */
  text(): string;
  /** Returns a function that makes the sides of one id, by their names. */
  reader(): (record: PostgresRow) => Record<string, PostgresRow | null>;
}

export function sideReading(sides: readonly (readonly [string, Side])[], layoutOf: LayoutOf): SideReading {
  const parts = sides.map(([key, { table, columns }], i) => {
    const layout = layoutOf(table.name);
    return {
      key,
      layout,
      columns,
      alias: `s${i}`,
      empty: Object.fromEntries(columns.map((column) => [column, null])),
      hasSecrets: columns.some((column) => layout.spec(column).secret),
    };
  });
  // The id comes first: it is null where the table has no row.
  const specs = parts.flatMap(({ layout, columns }) => ["id", ...columns].map((column) => layout.spec(column)));
  return {
    key: `sides ${JSON.stringify(parts.map(({ layout, columns }) => [layout.table.name, ...columns]))}`,
    text: () => sideQuery(parts),
    reader() {
      const parse = recordParser(specs);
      return (record) => {
        const values = parse(record[RECORD] as string);
        const rows: Record<string, PostgresRow | null> = {};
        let at = 0;
        for (const { key, layout, columns, empty, hasSecrets } of parts) {
          const exists = values[at++] !== null;
          const row: PostgresRow | null = exists ? { ...empty } : null;
          for (const column of columns) {
            if (row) row[column] = values[at];
            at++;
          }
          rows[key] = row && hasSecrets ? layout.rows([row])[0]! : row;
        }
        return rows;
      };
    },
  };
}

interface Part {
  readonly layout: ReturnType<LayoutOf>;
  readonly columns: readonly string[];
  readonly alias: string;
}

function sideQuery(parts: readonly Part[]): string {
  const columns = parts.flatMap(({ alias, columns }) => ["id", ...columns].map((column) => col(alias, column)));
  const joins = parts.map(
    ({ layout, alias }): Sql =>
      sql` LEFT JOIN ${name(layout.table.name)} AS ${name(alias)} ON ${col(alias, "id")} = ${col(IDS, "id")}`,
  );
  const ids = sql`unnest(${""}::bigint[]) WITH ORDINALITY AS ${name(IDS)}(id, place)`;
  return compile(sql`SELECT ${recordOf(columns)} FROM ${ids}${sql.join(joins, "")} ORDER BY ${col(IDS, "place")}`).text;
}
