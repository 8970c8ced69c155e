// Refusals of the server in the words of the command line: flags instead of fields of the API, and the place of a
// mistake in an expression.
import { ApiCallError } from "../client/errors.ts";
import { printable } from "../text/printable.ts";
import { CliError } from "./errors.ts";

/** What the server reports of an expression that it cannot read, such as a selector of hosts. */
const AT_COLUMN = /^Invalid (\w+): column (\d+): (.*)$/s;
/** The server's message about SQL that cannot be parsed. */
const OF_SQL = /\bthe SQL is not valid (?:in line (\d+),|at) column (\d+): (.*)\. Correct it and try again\.$/s;
/** How much of a long expression is shown on each side of the mistake. */
const CONTEXT_LENGTH = 40;

const flagOf = (field: string): string => field.replaceAll("_", "-");

export interface CommandInput {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the flags were set to. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The SQL that was sent; null: none was. */
  readonly sql: string | null;
  readonly isJson: boolean;
}

/**
 * The error as the user of a command reads it. A program that reads JSON gets the names of the API, because it may call
 * the API itself.
 */
export function inCommandWords(error: ApiCallError, input: CommandInput): Error {
  const { values, sql, isJson } = input;
  for (const { reason } of error.errors) {
    const [, line, sqlColumn, mistake] = OF_SQL.exec(reason) ?? [];
    if (mistake !== undefined && sql !== null)
      return new CliError(
        "usage",
        `the SQL is not valid${line === undefined ? "" : ` in line ${line}`}: ${mistake}`,
        pointAt(sql, columnOfText(sql, Number(line ?? 1), Number(sqlColumn))),
        isJson ? error.errors : [],
        error.requestId,
      );
    const [, field = "", column, problem] = AT_COLUMN.exec(reason) ?? [];
    const text = values[flagOf(field)];
    if (problem !== undefined && typeof text === "string")
      return new CliError(
        "usage",
        `--${flagOf(field)}: ${problem}`,
        pointAt(text, Number(column)),
        isJson ? error.errors : [],
        error.requestId,
      );
  }
  const order = error.errors.find(({ name }) => name === "order_key");
  if (order !== undefined)
    return new CliError(
      "usage",
      `--${values.sort === undefined ? "order-key" : "sort"}: ${withoutName(order.reason, order.name)}`,
      "See the fields of --order-key in the command's --help.",
      isJson ? error.errors : [],
      error.requestId,
    );
  if (isJson) return error;
  return new ApiCallError(error.status, error.message, {
    ...error,
    errors: error.errors.map(({ name, reason }) => {
      const word = wordOf(name, input);
      return { name: word, reason: word.startsWith("--") ? withoutName(reason, name) : reason };
    }),
  });
}

/** The flag that sets the field. An object that the user has named as an argument needs no name. */
function wordOf(field: string, { flags, args }: CommandInput): string {
  const object = flagOf(field).replace(/-ids?$/, "");
  const flag = [flagOf(field), object].find((name) => Object.hasOwn(flags, name));
  if (flag !== undefined) return `--${flag}`;
  const isArgument = object !== field && [object, `${object}s`].some((name) => Object.hasOwn(args, name));
  return isArgument ? "base" : field;
}

/** `Invalid status: x` is about a flag that the line names already. */
const withoutName = (reason: string, name: string): string =>
  reason.startsWith(`Invalid ${name}: `) ? `invalid value ${reason.slice(`Invalid ${name}: `.length)}` : reason;

/** The column in the whole text of a place in one of its lines. */
const columnOfText = (text: string, line: number, column: number): number =>
  text
    .split("\n")
    .slice(0, line - 1)
    .reduce((sum, above) => sum + [...above].length + 1, column);

/** The line of the expression with a caret below the column, which counts characters from 1. */
function pointAt(expression: string, column: number): string {
  const letters = [...expression];
  const at = Math.min(column - 1, letters.length);
  const lineStart = letters.lastIndexOf("\n", at - 1) + 1;
  const lineEnd = letters.indexOf("\n", at);
  const from = Math.max(lineStart, at - CONTEXT_LENGTH);
  const to = Math.min(lineEnd === -1 ? letters.length : lineEnd, at + CONTEXT_LENGTH);
  const before = `${from > lineStart ? "…" : ""}${printable(letters.slice(from, at).join(""))}`;
  const after = printable(letters.slice(at, to).join(""));
  return `  ${before}${after}\n  ${" ".repeat([...before].length)}^`;
}
