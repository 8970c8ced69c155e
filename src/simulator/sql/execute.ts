import type { Expr, Query, Select, Source, Value } from "./ast.ts";
import { compileExpression, type Env, type Eval, hasAggregate, type Scope, type SqlRow } from "./compile-expression.ts";
import { SqlError } from "./tokens.ts";
import { compare, toNumber, truthy } from "./values.ts";

export type { SqlRow } from "./compile-expression.ts";
export type TableData = { columns: readonly string[]; rows: readonly SqlRow[] };

/**
 * Provides rows. `beside` names the tables of the same SELECT: some tables return other rows when they are joined
 * with users.
 */
export interface Tables {
  table(name: string, beside: ReadonlySet<string>): TableData | null;
}

/** Runs a parsed query. Throws SqlError like SQLite, and Unsupported for features that this engine does not have. */
export function execute(query: Query, tables: Tables): SqlRow[] {
  return compileQuery(query, tables, null)({ rows: [], parent: null, group: null }).rows;
}

type Result = { columns: readonly string[]; rows: SqlRow[] };

function compileQuery(query: Query, tables: Tables, parent: Scope | null): (env: Env) => Result {
  const selects = query.selects.map((select, index) => {
    const ordered = query.selects.length === 1 && index === 0 ? query.orderBy : [];
    return compileSelect(select, ordered, tables, parent);
  });
  const empty: Scope = { sources: [], parent, aliases: NO_ALIASES, sub: subOf(tables) };
  const limit = query.limit ? compileExpression(query.limit, empty) : null;
  const offset = query.offset ? compileExpression(query.offset, empty) : null;
  return (outer) => {
    const results = selects.map((select) => select(outer));
    const columns = results[0]!.columns;
    let rows = results.flatMap((result) => renamed(result, columns));
    if (!query.all) rows = unique(rows);
    if (limit) {
      const env: Env = { rows: [], parent: outer, group: null };
      const from = offset ? toNumber(offset(env)) : 0;
      const count = toNumber(limit(env));
      rows = rows.slice(from, count < 0 ? undefined : from + count);
    }
    return { columns, rows };
  };
}

function subOf(tables: Tables): Scope["sub"] {
  return (query, scope) => {
    const run = compileQuery(query, tables, scope);
    return (env) => run(env).rows;
  };
}

function compileSelect(
  select: Select,
  orderBy: Query["orderBy"],
  tables: Tables,
  parent: Scope | null,
): (env: Env) => Result {
  const beside = new Set(select.sources.flatMap((source) => ("table" in source.from ? [source.from.table] : [])));
  const aliases = new Map(
    select.items.flatMap((item) => (item.kind === "expr" ? [[item.name, item.expr] as const] : [])),
  );
  const scope: Scope = { sources: [], parent, aliases, sub: subOf(tables) };
  const joins = select.sources.map((source) => compileJoin(source, beside, tables, scope));
  const where = select.where ? compileExpression(select.where, scope) : null;
  const { columns, project } = projection(select, scope);
  const grouped =
    select.groupBy.length > 0 || select.items.some((item) => item.kind === "expr" && hasAggregate(item.expr));
  const groupBy = select.groupBy.map((expr) => compileExpression(aliased(expr, select), scope));
  const having = select.having ? compileExpression(select.having, scope) : null;
  const order = orderBy.map(({ expr, descending }) => ({
    eval: compileExpression(aliased(expr, select), scope),
    sign: descending ? -1 : 1,
  }));

  return (outer) => {
    let envs: Env[] = [{ rows: [], parent: outer, group: null }];
    for (const join of joins) envs = join(envs);
    if (where) envs = envs.filter((env) => truthy(where(env)));
    if (grouped) envs = groups(envs, groupBy, outer);
    if (having) envs = envs.filter((env) => truthy(having(env)));
    if (order.length > 0) envs.sort((a, b) => ordering(a, b, order));
    const rows = envs.map(project);
    return { columns, rows: select.distinct ? unique(rows) : rows };
  };
}

function compileJoin(
  source: Source,
  beside: ReadonlySet<string>,
  tables: Tables,
  scope: Scope,
): (envs: Env[]) => Env[] {
  const index = scope.sources.length;
  const data = dataOf(source, beside, tables, scope.parent);
  scope.sources.push({ alias: source.alias, columns: new Set(data.columns) });
  const condition = joinCondition(source, scope);
  const on = condition ? compileExpression(condition, scope) : null;
  const key = condition ? equality(condition, source.alias, scope) : null;

  return (envs) => {
    const rows = data.rows(envs[0]?.parent ?? null);
    const byKey = key ? indexed(rows, key.column) : null;
    const joined: Env[] = [];
    for (const env of envs) {
      const candidates = byKey && key ? (byKey.get(String(key.other(env))) ?? []) : rows;
      let matched = false;
      for (const row of candidates) {
        const next: Env = { rows: [...env.rows, row], parent: env.parent, group: null };
        if (on && !truthy(on(next))) continue;
        matched = true;
        joined.push(next);
      }
      if (!matched && source.left) joined.push({ rows: [...env.rows, null], parent: env.parent, group: null });
    }
    return index === 0 && joined.length === 0 ? [] : joined;
  };
}

function dataOf(source: Source, beside: ReadonlySet<string>, tables: Tables, parent: Scope | null) {
  if ("table" in source.from) {
    const data = tables.table(source.from.table, beside);
    if (!data) throw new SqlError(`no such table: ${source.from.table}`);
    return { columns: data.columns, rows: () => data.rows };
  }
  const run = compileQuery(source.from.query, tables, parent);
  const empty: Env = { rows: [], parent: null, group: null };
  const { columns } = run(empty);
  return { columns, rows: (outer: Env | null) => run(outer ?? empty).rows };
}

function joinCondition(source: Source, scope: Scope): Expr | null {
  return source.using.reduce<Expr | null>((all, name) => {
    const other = scope.sources.find((s) => s.alias !== source.alias && s.columns.has(name));
    const left: Expr = { kind: "column", source: other?.alias ?? null, name };
    const equality: Expr = { kind: "binary", op: "=", left, right: { kind: "column", source: source.alias, name } };
    return all ? { kind: "binary", op: "AND", left: all, right: equality } : equality;
  }, source.on);
}

/**
 * Finds a `this.column = earlier.column` in a join condition, so that large tables are looked up instead of scanned.
 */
function equality(expr: Expr, alias: string, scope: Scope): { column: string; other: Eval } | null {
  if (expr.kind !== "binary") return null;
  if (expr.op === "AND") return equality(expr.left, alias, scope) ?? equality(expr.right, alias, scope);
  if ((expr.op !== "=" && expr.op !== "==") || expr.left.kind !== "column" || expr.right.kind !== "column") return null;
  for (const [mine, other] of [[expr.left, expr.right] as const, [expr.right, expr.left] as const]) {
    if (mine.source === alias && other.source !== null && other.source !== alias) {
      return { column: mine.name, other: compileExpression(other, scope) };
    }
  }
  return null;
}

function indexed(rows: readonly SqlRow[], column: string): Map<string, SqlRow[]> {
  const index = new Map<string, SqlRow[]>();
  for (const row of rows) {
    const key = String(row[column]);
    const list = index.get(key);
    if (list) list.push(row);
    else index.set(key, [row]);
  }
  return index;
}

function projection(select: Select, scope: Scope): { columns: string[]; project: (env: Env) => SqlRow } {
  const parts: { name: string; eval: Eval }[] = [];
  for (const item of select.items) {
    if (item.kind === "expr") {
      parts.push({ name: item.name, eval: compileExpression(item.expr, scope) });
      continue;
    }
    const sources = scope.sources.filter((source) => item.source === null || source.alias === item.source);
    if (sources.length === 0) throw new SqlError(item.source ? `no such table: ${item.source}` : "no tables specified");
    for (const source of sources) {
      for (const name of source.columns) {
        parts.push({ name, eval: compileExpression({ kind: "column", source: source.alias, name }, scope) });
      }
    }
  }
  const columns = [...new Set(parts.map((part) => part.name))];
  const project = (env: Env) => {
    const row: Record<string, Value> = {};
    for (const part of parts) row[part.name] = part.eval(env);
    return row;
  };
  return { columns, project };
}

const NO_ALIASES: Scope["aliases"] = new Map();

/** ORDER BY and GROUP BY may use the name or the position of a result column. */
function aliased(expr: Expr, select: Select): Expr {
  if (expr.kind === "literal" && typeof expr.value === "number") {
    const item = select.items[expr.value - 1];
    return item?.kind === "expr" ? item.expr : expr;
  }
  if (expr.kind !== "column" || expr.source !== null) return expr;
  const item = select.items.find((item) => item.kind === "expr" && item.name === expr.name);
  return item?.kind === "expr" ? item.expr : expr;
}

function groups(envs: Env[], by: Eval[], outer: Env): Env[] {
  if (by.length === 0) return [{ rows: envs[0]?.rows ?? [], parent: outer, group: envs }];
  const groupsByKey = new Map<string, Env[]>();
  for (const env of envs) {
    const key = JSON.stringify(by.map((part) => part(env)));
    const list = groupsByKey.get(key);
    if (list) list.push(env);
    else groupsByKey.set(key, [env]);
  }
  return [...groupsByKey.values()].map((group) => ({ rows: group[0]!.rows, parent: outer, group }));
}

function ordering(a: Env, b: Env, order: { eval: Eval; sign: number }[]): number {
  for (const part of order) {
    const [x, y] = [part.eval(a), part.eval(b)];
    if (x === y) continue;
    if (x === null || y === null) return (x === null ? -1 : 1) * part.sign;
    const step = compare(x, y, { left: false, right: false }) ?? 0;
    if (step !== 0) return step * part.sign;
  }
  return 0;
}

function unique(rows: SqlRow[]): SqlRow[] {
  const texts = new Set<string>();
  return rows.filter((row) => {
    const key = JSON.stringify(Object.values(row));
    return !texts.has(key) && texts.add(key);
  });
}

/** The columns of a compound select are those of its first part. */
function renamed(result: Result, columns: readonly string[]): SqlRow[] {
  if (result.columns === columns || result.columns.every((name, i) => name === columns[i])) return result.rows;
  return result.rows.map((row) =>
    Object.fromEntries(result.columns.map((name, i) => [columns[i] ?? name, row[name] ?? null])),
  );
}
