export type Value = string | number | null;

export type Expr =
  | { kind: "literal"; value: Value }
  | { kind: "column"; source: string | null; name: string }
  | { kind: "unary"; op: "NOT" | "-"; operand: Expr }
  | { kind: "binary"; op: string; left: Expr; right: Expr }
  | { kind: "in"; operand: Expr; list: Expr[] | Query; not: boolean }
  | { kind: "between"; operand: Expr; low: Expr; high: Expr; not: boolean }
  | { kind: "like"; operand: Expr; pattern: Expr; not: boolean; glob: boolean }
  | { kind: "is-null"; operand: Expr; not: boolean }
  | { kind: "exists"; query: Query }
  | { kind: "scalar"; query: Query }
  | { kind: "case"; subject: Expr | null; branches: { when: Expr; result: Expr }[]; otherwise: Expr | null }
  | { kind: "cast"; operand: Expr; type: string }
  | { kind: "call"; name: string; args: Expr[]; star: boolean; distinct: boolean };

export type Item = { kind: "star"; source: string | null } | { kind: "expr"; expr: Expr; name: string };

export type Source = {
  from: { table: string } | { query: Query };
  alias: string;
  left: boolean;
  on: Expr | null;
  using: string[];
};

export type Select = {
  distinct: boolean;
  items: Item[];
  sources: Source[];
  where: Expr | null;
  groupBy: Expr[];
  having: Expr | null;
};

export type Query = {
  selects: Select[];
  /** False if any of the UNIONs is without ALL. */
  all: boolean;
  orderBy: { expr: Expr; descending: boolean }[];
  limit: Expr | null;
  offset: Expr | null;
};
