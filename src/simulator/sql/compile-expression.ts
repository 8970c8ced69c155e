import type { Expr, Query, Value } from "./ast.ts";
import {
  AGGREGATES,
  aggregate,
  arithmetic,
  bool,
  cast,
  compare,
  noSuchColumn,
  pattern,
  scalar,
  truthy,
} from "./values.ts";

export type SqlRow = Readonly<Record<string, Value>>;

/** The current rows, one per source. Within an aggregate also the rows of the group. */
export type Env = { rows: (SqlRow | null)[]; parent: Env | null; group: Env[] | null };
export type Eval = (env: Env) => Value;

export type Scope = {
  sources: { alias: string; columns: ReadonlySet<string> }[];
  parent: Scope | null;
  /** Result columns by name: in SQLite every clause can use them. */
  aliases: ReadonlyMap<string, Expr>;
  /** Runs a sub-select in this scope. If the second argument is true, it stops at the first row. */
  sub(query: Query, scope: Scope): (env: Env) => SqlRow[];
};

const COMPARISONS: Record<string, (order: number) => boolean> = {
  "=": (order) => order === 0,
  "==": (order) => order === 0,
  "<>": (order) => order !== 0,
  "!=": (order) => order !== 0,
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

export function compileExpression(expr: Expr, scope: Scope): Eval {
  const sub = (inner: Expr) => compileExpression(inner, scope);
  switch (expr.kind) {
    case "literal":
      return () => expr.value;
    case "column":
      return column(expr.source, expr.name, scope);
    case "unary": {
      const operand = sub(expr.operand);
      if (expr.op === "-") return (env) => arithmetic("-", 0, operand(env));
      return (env) => {
        const value = operand(env);
        return value === null ? null : bool(!truthy(value));
      };
    }
    case "binary":
      return binary(expr, scope);
    case "in":
      return membership(expr, scope);
    case "between": {
      const [operand, low, high] = [sub(expr.operand), sub(expr.low), sub(expr.high)];
      const affinity = { left: expr.operand.kind === "column", right: false };
      return (env) => {
        const above = compare(operand(env), low(env), affinity);
        const below = compare(operand(env), high(env), affinity);
        return above === null || below === null ? null : bool((above >= 0 && below <= 0) !== expr.not);
      };
    }
    case "like":
      return like(expr, scope);
    case "is-null": {
      const operand = sub(expr.operand);
      return (env) => bool((operand(env) === null) !== expr.not);
    }
    case "exists": {
      const rows = scope.sub(expr.query, scope);
      return (env) => bool(rows(env).length > 0);
    }
    case "scalar": {
      const rows = scope.sub(expr.query, scope);
      return (env) => Object.values(rows(env)[0] ?? {})[0] ?? null;
    }
    case "case": {
      const subject = expr.subject ? sub(expr.subject) : null;
      const branches = expr.branches.map((branch) => ({ when: sub(branch.when), result: sub(branch.result) }));
      const otherwise = expr.otherwise ? sub(expr.otherwise) : () => null;
      const affinity = { left: expr.subject?.kind === "column", right: false };
      return (env) => {
        const hit = branches.find(({ when }) =>
          subject ? compare(subject(env), when(env), affinity) === 0 : truthy(when(env)),
        );
        return (hit?.result ?? otherwise)(env);
      };
    }
    case "cast": {
      const operand = sub(expr.operand);
      return (env) => cast(operand(env), expr.type);
    }
    case "call":
      return call(expr, scope);
  }
}

export function hasAggregate(expr: Expr): boolean {
  if (expr.kind === "call") {
    const many = (expr.name === "min" || expr.name === "max") && expr.args.length > 1;
    return (AGGREGATES.has(expr.name) && !many) || expr.args.some(hasAggregate);
  }
  if (expr.kind === "binary") return hasAggregate(expr.left) || hasAggregate(expr.right);
  if (expr.kind === "unary" || expr.kind === "cast") return hasAggregate(expr.operand);
  return false;
}

/** Prevents endless recursion for an alias that is defined by itself. */
function mentions(expr: Expr, name: string): boolean {
  if (expr.kind === "column") return expr.source === null && expr.name === name;
  if (expr.kind === "binary") return mentions(expr.left, name) || mentions(expr.right, name);
  if (expr.kind === "unary" || expr.kind === "cast") return mentions(expr.operand, name);
  return expr.kind !== "literal" && expr.kind !== "call"
    ? true
    : expr.kind === "call" && expr.args.some((arg) => mentions(arg, name));
}

function column(source: string | null, name: string, scope: Scope): Eval {
  let depth = 0;
  const alias = source === null ? scope.aliases.get(name) : undefined;
  for (let at: Scope | null = scope; at; at = at.parent, depth++) {
    const index = at.sources.findIndex((s) => (source === null || s.alias === source) && s.columns.has(name));
    if (index < 0) {
      if (depth === 0 && alias && !mentions(alias, name)) return compileExpression(alias, scope);
      continue;
    }
    if (depth === 0) return (env) => env.rows[index]?.[name] ?? null;
    const up = depth;
    return (env) => {
      let outer: Env | null = env;
      for (let i = 0; i < up; i++) outer = outer?.parent ?? null;
      return outer?.rows[index]?.[name] ?? null;
    };
  }
  const lower = name.toLowerCase();
  if (lower !== name) return column(source, lower, scope);
  throw noSuchColumn(source === null ? name : `${source}.${name}`);
}

function binary(expr: Extract<Expr, { kind: "binary" }>, scope: Scope): Eval {
  const left = compileExpression(expr.left, scope);
  const right = compileExpression(expr.right, scope);
  const { op } = expr;
  if (op === "AND") {
    return (env) => {
      const value = left(env);
      if (value !== null && !truthy(value)) return 0;
      const other = right(env);
      if (other !== null && !truthy(other)) return 0;
      return value === null || other === null ? null : 1;
    };
  }
  if (op === "OR") {
    return (env) => {
      const value = left(env);
      if (truthy(value)) return 1;
      const other = right(env);
      if (truthy(other)) return 1;
      return value === null || other === null ? null : 0;
    };
  }
  const affinity = { left: expr.left.kind === "column", right: expr.right.kind === "column" };
  if (op === "IS" || op === "IS NOT") {
    return (env) => {
      const [a, b] = [left(env), right(env)];
      const same = a === null || b === null ? a === b : compare(a, b, affinity) === 0;
      return bool(same === (op === "IS"));
    };
  }
  const test = COMPARISONS[op];
  if (!test) return (env) => arithmetic(op, left(env), right(env));
  return (env) => {
    const order = compare(left(env), right(env), affinity);
    return order === null ? null : bool(test(order));
  };
}

function membership(expr: Extract<Expr, { kind: "in" }>, scope: Scope): Eval {
  const operand = compileExpression(expr.operand, scope);
  const affinity = { left: expr.operand.kind === "column", right: false };
  const list = Array.isArray(expr.list) ? expr.list.map((item) => compileExpression(item, scope)) : null;
  const rows = Array.isArray(expr.list) ? null : scope.sub(expr.list, scope);
  return (env) => {
    const value = operand(env);
    if (value === null) return null;
    const values = list ? list.map((item) => item(env)) : rows!(env).map((row) => Object.values(row)[0] ?? null);
    const isInList = values.some((candidate) => compare(value, candidate, affinity) === 0);
    return !isInList && values.includes(null) ? null : bool(isInList !== expr.not);
  };
}

function like(expr: Extract<Expr, { kind: "like" }>, scope: Scope): Eval {
  const operand = compileExpression(expr.operand, scope);
  const compiledPattern = compileExpression(expr.pattern, scope);
  const fixed = expr.pattern.kind === "literal" ? pattern(String(expr.pattern.value), expr.glob) : null;
  return (env) => {
    const value = operand(env);
    const mask = compiledPattern(env);
    if (value === null || mask === null) return null;
    return bool((fixed ?? pattern(String(mask), expr.glob)).test(String(value)) !== expr.not);
  };
}

function call(expr: Extract<Expr, { kind: "call" }>, scope: Scope): Eval {
  const { name } = expr;
  const args = expr.args.map((arg) => compileExpression(arg, scope));
  if (hasAggregate(expr) && AGGREGATES.has(name)) {
    const [arg] = args;
    return (env) => {
      const group = env.group ?? [];
      if (!arg) return group.length;
      const values = group.map((member) => arg(member));
      return aggregate(name, expr.distinct ? [...new Set(values)] : values);
    };
  }
  if (AGGREGATES.has(name))
    return (env) =>
      aggregate(
        name,
        args.map((arg) => arg(env)),
      );
  const apply = scalar(name);
  return (env) => apply(args.map((arg) => arg(env)));
}
