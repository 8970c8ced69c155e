import { versionCompare } from "../../agent-wire/version-compare.ts";
import type { Value } from "./ast.ts";
import { SqlError } from "./tokens.ts";

export class UnsupportedSql extends Error {}

export function truthy(value: Value): boolean {
  return value !== null && toNumber(value) !== 0;
}

export function bool(value: boolean | null): Value {
  return value === null ? null : value ? 1 : 0;
}

export function toNumber(value: Value): number {
  if (typeof value === "number") return value;
  const match = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/.exec(value ?? "");
  return match ? Number(match[0]) : 0;
}

function isNumeric(text: string): boolean {
  return text.trim() !== "" && !Number.isNaN(Number(text));
}

/** The sides of a comparison that are columns. SQLite converts the other side to the type of the column. */
type Affinity = { left: boolean; right: boolean };

export function compare(left: Value, right: Value, affinity: Affinity): number | null {
  if (left === null || right === null) return null;
  if (typeof left === typeof right) return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === "number") return compareMixed(left, right as string, affinity.left, affinity.right);
  const turned = compareMixed(right as number, left, affinity.right, affinity.left);
  return turned === 0 ? 0 : -turned;
}

function compareMixed(number: number, text: string, numberColumn: boolean, textColumn: boolean): number {
  if (numberColumn && isNumeric(text)) return Math.sign(number - Number(text));
  if (textColumn && !numberColumn) return String(number) < text ? -1 : String(number) > text ? 1 : 0;
  return -1;
}

/** LIKE ignores case, GLOB does not. */
export function pattern(text: string, glob: boolean): RegExp {
  const source = text.replace(/[\s\S]/g, (sign) => {
    if (sign === (glob ? "*" : "%")) return "[\\s\\S]*";
    if (sign === (glob ? "?" : "_")) return "[\\s\\S]";
    return sign.replace(/[.*+?^${}()|[\]\\/]/, "\\$&");
  });
  return new RegExp(`^${source.replace(/(\[\\s\\S\]\*)+/g, "[\\s\\S]*")}$`, glob ? "" : "i");
}

export function arithmetic(op: string, left: Value, right: Value): Value {
  if (left === null || right === null) return null;
  if (op === "||") return String(left) + String(right);
  const a = toNumber(left);
  const b = toNumber(right);
  if (op === "+") return a + b;
  if (op === "-") return a - b;
  if (op === "*") return a * b;
  if (b === 0) return null;
  const whole = Number.isInteger(a) && Number.isInteger(b);
  if (op === "/") return whole ? Math.trunc(a / b) : a / b;
  return Math.trunc(a) % Math.trunc(b);
}

export function cast(value: Value, type: string): Value {
  if (value === null) return null;
  if (type.includes("INT")) return Math.trunc(toNumber(value));
  if (/REAL|FLOA|DOUB|NUM|DEC/.test(type)) return toNumber(value);
  return String(value);
}

const text = (value: Value | undefined) => String(value ?? "");

const SCALARS: Record<string, (args: Value[]) => Value> = {
  lower: ([a]) => (a === null ? null : text(a).toLowerCase()),
  upper: ([a]) => (a === null ? null : text(a).toUpperCase()),
  length: ([a]) => (a === null ? null : text(a).length),
  trim: ([a]) => (a === null ? null : text(a).trim()),
  ltrim: ([a]) => (a === null ? null : text(a).trimStart()),
  rtrim: ([a]) => (a === null ? null : text(a).trimEnd()),
  abs: ([a]) => (a === null ? null : Math.abs(toNumber(a ?? null))),
  round: ([a, b]) => (a === null ? null : Number(toNumber(a ?? null).toFixed(toNumber(b ?? 0)))),
  coalesce: (args) => args.find((arg) => arg !== null) ?? null,
  ifnull: ([a, b]) => a ?? b ?? null,
  nullif: ([a, b]) => (a === b ? null : (a ?? null)),
  iif: ([a, b, c]) => (truthy(a ?? null) ? (b ?? null) : (c ?? null)),
  instr: ([a, b]) => text(a).indexOf(text(b)) + 1,
  replace: ([a, b, c]) => (a === null ? null : text(a).replaceAll(text(b), text(c))),
  substr: ([a, b, c]) => {
    const from = toNumber(b ?? 1);
    const start = from > 0 ? from - 1 : Math.max(0, text(a).length + from);
    return text(a).slice(start, c === undefined ? undefined : start + toNumber(c));
  },
  split: ([a, b, c]) =>
    text(a).split(new RegExp(`[${text(b).replace(/[\]\\^-]/g, "\\$&")}]`))[toNumber(c ?? 0)] ?? null,
  version_compare: ([a, b]) => versionCompare(text(a), text(b)),
};

export function scalar(name: string): (args: Value[]) => Value {
  const scalarFunction = SCALARS[name === "substring" ? "substr" : name];
  if (!scalarFunction) throw new UnsupportedSql(`function ${name}`);
  return scalarFunction;
}

export const AGGREGATES = new Set(["count", "sum", "total", "avg", "group_concat", "min", "max"]);

export function aggregate(name: string, values: Value[]): Value {
  const present = values.filter((value) => value !== null);
  if (name === "count") return present.length;
  if (name === "total") return present.reduce<number>((sum, value) => sum + toNumber(value), 0);
  if (present.length === 0) return null;
  if (name === "group_concat") return present.join(",");
  if (name === "sum" || name === "avg") {
    const sum = present.reduce<number>((all, value) => all + toNumber(value), 0);
    return name === "sum" ? sum : sum / present.length;
  }
  const sign = name === "min" ? -1 : 1;
  const none = { left: false, right: false };
  return present.reduce((best, value) => ((compare(value, best, none) ?? 0) * sign > 0 ? value : best));
}

export function noSuchColumn(name: string): SqlError {
  return new SqlError(`no such column: ${name}`);
}
