// The kinds of fields of selector expressions: which operators they accept, and which predicates they compile to.
import { isoAt, NEVER } from "../../../platform/core/clock.ts";
import {
  contains,
  eq,
  everything,
  gt,
  gte,
  isNull,
  lt,
  lte,
  not,
  oneOf,
  or,
  type Predicate,
  same,
  search,
} from "../../../platform/store/query.ts";
import { type Operator, SelectorError, type Word } from "./parse.ts";
import { flagOf, instantOf, isNone, numberOf, type Unit } from "./values.ts";

export interface Test {
  readonly field: Word;
  readonly operator: Operator;
  readonly values: readonly Word[];
}

export type OperatorText = Operator | "not in";
const EQUALITY: readonly OperatorText[] = ["=", "!=", "in", "not in"];
const COMPARISONS: readonly OperatorText[] = ["<", "<=", ">", ">="];

export interface Field {
  readonly kind: "text" | "number" | "time" | "flag" | "word";
  /** The operators that it accepts, the usual ones first. */
  readonly operators: readonly OperatorText[];
  /** All values that it can have, or those that have a meaning of their own, such as none. */
  readonly values: readonly string[];
  /** @param now the server's current time, for relative times */
  compile(test: Test, now: number): Predicate;
  /** The predicate if the field is used without an operator. Only for boolean fields. */
  readonly flag?: (now: number) => Predicate;
}

type Wrap = (row: Predicate) => Predicate;
const itself: Wrap = (row) => row;
const compares = { "<": lt, "<=": lte, ">": gt, ">=": gte } as const;
export type Comparison = keyof typeof compares;
const isComparison = (operator: Operator): operator is Comparison => Object.hasOwn(compares, operator);

const refused = ({ field, operator }: Test, kind: string, takes: string): SelectorError =>
  new SelectorError(field.at, `${field.text} is ${kind}: it takes ${takes}, not ${operator}`);

/** Compiles `=`, `!=` and `in` from the predicate for one value. */
function byEquality({ operator, values }: Test, equals: (value: Word) => Predicate): Predicate | null {
  if (operator === "=" || operator === "in") return or(...values.map(equals));
  return operator === "!=" ? not(or(...values.map(equals))) : null;
}

interface TextOptions {
  /** Converts a condition on the row that has the column to a condition on the host. */
  readonly wrap?: Wrap;
  readonly searchable?: boolean;
  /** Whether case is ignored, as for host names. Requires a column declared with `.search()`. */
  readonly anyCase?: boolean;
  /** The predicate for `= none`. */
  readonly none?: Predicate;
  /** Normalizes a value to its stored spelling. */
  readonly clean?: (text: string) => string;
  readonly equals?: (text: string) => Predicate;
  /** The predicate for `<`, `<=`, `>` and `>=`, if the text is a version. */
  readonly ordered?: (operator: Comparison, value: Word) => Predicate;
}

export function textField(column: string, options: TextOptions = {}): Field {
  const { wrap = itself, searchable = false, anyCase = false, none, clean = (text: string) => text, ordered } = options;
  const among = (texts: readonly string[]) => (anyCase ? same(column, ...texts) : oneOf(column, texts));
  const isAbsent = (value: Word) => none !== undefined && isNone(value);
  return {
    kind: "text",
    operators: ["=", "!=", "~", "in", "not in", ...(ordered ? COMPARISONS : [])],
    values: none === undefined ? [] : ["none"],
    compile(test) {
      const { operator, values } = test;
      if (operator === "in" && !options.equals) {
        const texts = values.filter((value) => !isAbsent(value)).map(({ text }) => clean(text));
        return or(...(texts.length > 0 ? [wrap(among(texts))] : []), ...(values.some(isAbsent) ? [none!] : []));
      }
      const equal = byEquality(test, (value) =>
        isAbsent(value) ? none! : (options.equals?.(clean(value.text)) ?? wrap(among([clean(value.text)]))),
      );
      if (equal) return equal;
      if (ordered && isComparison(operator)) return ordered(operator, values[0]!);
      if (operator !== "~") throw refused(test, "text", "=, !=, ~, in and not in");
      const [{ text, at }] = values as readonly [Word];
      if (text === "") throw new SelectorError(at, "~ needs some text to look for");
      return wrap(searchable ? search([column], clean(text)) : contains(column, clean(text)));
    },
  };
}

interface NumberOptions {
  readonly unit?: Unit;
  readonly wrap?: Wrap;
  readonly none?: Predicate;
  /**
   * The number that counts for hosts without a related row. If it satisfies the test, `where` is added as an
   * alternative.
   */
  readonly absent?: { readonly value: number; readonly where: Predicate };
}

export function numberField(
  column: string,
  { unit = "plain", wrap = itself, none, absent }: NumberOptions = {},
): Field {
  const of = (predicate: Predicate, meets: (value: number) => boolean) =>
    absent && meets(absent.value) ? or(wrap(predicate), absent.where) : wrap(predicate);
  return {
    kind: "number",
    operators: [...EQUALITY, ...COMPARISONS],
    values: none === undefined ? [] : ["none"],
    compile(test) {
      const { operator, values } = test;
      if (isComparison(operator)) {
        const bound = numberOf(values[0]!, unit);
        return of(compares[operator](column, bound), (value) => meets(value, operator, bound));
      }
      const equal = byEquality(test, (word) => {
        if (none && isNone(word)) return none;
        const operand = numberOf(word, unit);
        return of(eq(column, operand), (value) => value === operand);
      });
      if (!equal) throw refused(test, "a number", "=, !=, <, <=, >, >=, in and not in");
      return equal;
    },
  };
}

const meets = (value: number, operator: Comparison, bound: number): boolean =>
  operator === "<"
    ? value < bound
    : operator === "<="
      ? value <= bound
      : operator === ">"
        ? value > bound
        : value >= bound;

const opposite = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

/** Times are compared with times, ages with durations: `seen < 7d` means within the last seven days. */
function timeBy(compare: (by: typeof lt, time: string) => Predicate, never?: Predicate): Field {
  return {
    kind: "time",
    operators: never === undefined ? COMPARISONS : [...COMPARISONS, "=", "!="],
    values: never === undefined ? [] : ["never"],
    compile(test, now) {
      const { operator, values } = test;
      const only = byEquality(test, (word) => {
        if (never && isNone(word)) return never;
        throw refused(test, "a time", `<, <=, > and >=${never ? ", and = never" : ""}`);
      });
      if (only) return only;
      if (!isComparison(operator)) throw refused(test, "a time", "<, <=, > and >=");
      const { age, at } = instantOf(values[0]!, now);
      return compare(compares[age ? opposite[operator] : operator], isoAt(at));
    },
  };
}

/** Hosts that never reported a value count as `NEVER`, as in the API. */
export const timeField = (column: string, nullable = false): Field =>
  nullable
    ? timeBy((by, time) => {
        const { op } = by(column, time);
        const counts = meets(
          Date.parse(NEVER),
          op === "lt" ? "<" : op === "lte" ? "<=" : op === "gt" ? ">" : ">=",
          Date.parse(time),
        );
        return counts ? or(isNull(column), by(column, time)) : by(column, time);
      }, isNull(column))
    : timeBy((by, time) => by(column, time));
export const relatedTimeField = timeBy;

/** A boolean field. It has `none` if the value may be unknown. */
export function flagField(yes: (now: number) => Predicate, more: { no?: Predicate; none?: Predicate } = {}): Field {
  return {
    kind: "flag",
    operators: EQUALITY,
    values: more.none === undefined ? ["true", "false"] : ["true", "false", "none"],
    flag: yes,
    compile(test, now) {
      const equal = byEquality(test, (word) => {
        if (more.none && isNone(word)) return more.none;
        return flagOf(word) ? yes(now) : (more.no ?? not(yes(now)));
      });
      if (!equal) throw refused(test, "true or false", "=, != and in");
      return equal;
    },
  };
}

export const flagColumn = (column: string, nullable: boolean): Field =>
  flagField(() => eq(column, true), { no: eq(column, false), ...(nullable ? { none: isNull(column) } : {}) });

/** A field with a fixed set of values. */
export function wordField<W extends string>(words: readonly W[], means: (word: W, now: number) => Predicate): Field {
  return {
    kind: "word",
    operators: EQUALITY,
    values: words,
    compile(test, now) {
      const equal = byEquality(test, ({ text, at }) => {
        const word = words.find((candidate) => candidate === text.toLowerCase());
        if (word === undefined) throw new SelectorError(at, `"${text}" is none of ${words.join(", ")}`);
        return means(word, now);
      });
      if (!equal) throw refused(test, "a word", "=, !=, in and not in");
      return equal;
    },
  };
}

/** Text of related rows, of which a host may have several: `=` matches if one of them is equal. */
export const relatedText = (column: string, wrap: Wrap, more: Omit<TextOptions, "wrap" | "none"> = {}): Field =>
  textField(column, { ...more, wrap, none: not(wrap(everything)) });
