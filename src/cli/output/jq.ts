// --jq: jq itself, compiled to WebAssembly, and loaded only if the flag is used.
import type { Jq } from "jq-wasm";
import { usage } from "../errors.ts";

/** Applies the expression to a JSON text, which is one document or several in sequence. */
export type Select = (whole: string) => string;

/** Maximum length of an expression. Expressions are typed by hand, so a longer one is a mistake. */
const MAX_EXPRESSION_LENGTH = 10_000;

/** Compiles the expression, so that a syntax error is reported before any request. */
export async function compileJq(expression: string, compact: boolean): Promise<Select> {
  if (expression.length > MAX_EXPRESSION_LENGTH)
    throw usage(`--jq: the expression is longer than ${MAX_EXPRESSION_LENGTH} characters`);
  const { loadJq } = await import("jq-wasm");
  const jq = await loadJq();
  // jq would read a leading dash as one of its own flags.
  const query = expression.startsWith("-") ? ` ${expression}` : expression;
  run(jq, "", query, compact);
  return (whole) => run(jq, whole, query, compact);
}

function run(jq: Jq, whole: string, query: string, compact: boolean): string {
  // jq blocks until it is done. Without our listeners, Ctrl-C ends the process even if an expression never does.
  const listeners = process.listeners("SIGINT");
  for (const listener of listeners) process.off("SIGINT", listener);
  try {
    const { stdout, stderr, exitCode } = jq.raw(whole, query, compact ? ["-r", "-c"] : ["-r"]);
    if (exitCode !== 0) throw usage(`--jq: ${reasonOf(stderr)}`, hintOf(stderr));
    return stdout === "" || stdout.endsWith("\n") ? stdout : `${stdout}\n`;
  } finally {
    for (const listener of listeners) process.on("SIGINT", listener);
  }
}

/** The first line of jq's error, without the names of the program and of the input: what is wrong, and where. */
const reasonOf = (stderr: string): string =>
  (stderr.split("\n")[0] ?? "")
    .replace(/^jq: error(?: \(at [^)]*\))?: /, "")
    .replace(" at <top-level>, line", " at line")
    .replace(/:$/, "") || "the expression failed";

/** The expression with a mark below the position of the error, as jq prints it. */
function hintOf(stderr: string): string {
  const [, ...drawn] = stderr.split("\n");
  const mark = drawn.findIndex((line) => /^\s*\^+\s*$/.test(line));
  return mark === -1 ? "See https://jqlang.org/manual for the language." : drawn.slice(0, mark + 1).join("\n");
}
