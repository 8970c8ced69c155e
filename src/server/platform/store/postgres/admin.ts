// Admin functions of this engine for copy, backup, restore and check.
import type { Restorer, StoreAdmin } from "../admin.ts";
import type { Collections, Tables } from "../store.ts";
import type { RunnerContext } from "./connection/lease.ts";
import { poolRunner, type Runner, transaction } from "./connection/runner.ts";
import { chunks, inputRows, type Layout, type PostgresRow, typed, type WrittenColumn } from "./layout.ts";
import type { LayoutOf } from "./predicate.ts";
import { givesIds, schemaObjects, sequenceOf } from "./schema.ts";
import { list, name, sql, textOf } from "./sql.ts";

interface AdminOptions<S extends Tables> {
  readonly context: RunnerContext;
  readonly tables: S;
  readonly layouts: Readonly<Record<string, Layout>>;
  readonly layoutOf: LayoutOf;
  readonly on: (runner: Runner) => Collections<S>;
}

export function postgresAdmin<S extends Tables>({
  context,
  tables,
  layouts,
  layoutOf,
  on,
}: AdminOptions<S>): StoreAdmin<S> {
  const withIds = Object.values(layouts).filter(({ table }) => givesIds(table));
  const runner = poolRunner(context);
  const command = (on: Runner, text: string) => on.write({ text, values: [] });

  return {
    async nextIds() {
      const next: Record<string, number> = {};
      for (const { table } of withIds) {
        const from = sql`SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END AS next FROM ${name(sequenceOf(table))}`;
        const { rows } = await runner.read({ text: textOf(from), values: [] });
        next[table.name] = rows[0]?.next as number;
      }
      return next;
    },

    snapshot: (work) => transaction(context, (runner) => work(on(runner)), { snapshot: true, long: true }),

    restore(work) {
      const fill = async (runner: Runner) => {
        // References are dropped and recreated within the transaction, so that each is checked once for all rows in
        // one pass.
        const references = schemaObjects(tables).filter(({ kind }) => kind === "reference");
        for (const { table, name: constraint } of references)
          await command(runner, textOf(sql`ALTER TABLE ${name(table)} DROP CONSTRAINT ${name(constraint)}`));
        await work(restorer(runner, layoutOf));
        for (const reference of references) await command(runner, reference.sql);
      };
      return transaction(context, fill, { long: true });
    },
  };
}

function restorer(runner: Runner, layoutOf: LayoutOf): Restorer {
  return {
    async rows(tableName, rows) {
      const layout = layoutOf(tableName);
      const revision: WrittenColumn = {
        name: "revision",
        type: "bigint",
        via: "bigint",
        spec: layout.spec("revision"),
        encode: (row) => row.revision as number,
      };
      const columns = [...layout.written, revision];
      const text = (single: boolean) =>
        layout.text(`restore ${single}`, () => {
          const into = sql`${name(tableName)} (${list(columns.map((column) => name(column.name)))})`;
          const values = list(columns.map((column) => typed("i", column)));
          return textOf(sql`INSERT INTO ${into} SELECT ${values} FROM ${inputRows("i", columns, single)}`);
        });
      for (const { values, single } of chunks(columns, rows as readonly PostgresRow[]))
        await runner.write({ text: text(single), values });
    },

    async nextId(tableName, id) {
      const { table } = layoutOf(tableName);
      if (!givesIds(table)) return;
      const text = textOf(sql`SELECT setval(${sql.lit(`"${sequenceOf(table)}"`)}::regclass, ${0}::bigint, false)`);
      await runner.write({ text, values: [id] });
    },
  };
}
