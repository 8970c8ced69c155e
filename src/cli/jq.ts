// --jq: jq itself, compiled to WebAssembly; loaded only where it is asked for.
import type { Jq } from "jq-wasm";
import { usage } from "./errors.ts";
import { printableLines } from "./text.ts";

/** Makes text of JSON: `whole` is one document, or several after one another. */
export type Select = (whole: string) => string;

/** More is refused: an expression is typed, not generated. */
const LONGEST = 10_000;

/** The expression, held against jq's grammar before anything is asked for. */
export async function compileJq(expression: string, compact: boolean): Promise<Select> {
  if (expression.length > LONGEST) throw usage(`--jq: the expression is longer than ${LONGEST} characters`);
  const { loadJq } = await import("jq-wasm");
  const jq = await loadJq();
  // What begins with a dash would be taken for a flag of jq's own.
  const query = expression.startsWith("-") ? ` ${expression}` : expression;
  run(jq, "", query, compact);
  return (whole) => printableLines(run(jq, whole, query, compact));
}

function run(jq: Jq, whole: string, query: string, compact: boolean): string {
  // jq runs to its end at once. Without listeners of ours Ctrl-C ends the process, also while an expression does not.
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

/** jq's first line without its own name and that of its pretended file: what is wrong, and where. */
const reasonOf = (stderr: string): string =>
  (stderr.split("\n")[0] ?? "")
    .replace(/^jq: error(?: \(at [^)]*\))?: /, "")
    .replace(" at <top-level>, line", " at line")
    .replace(/:$/, "") || "the expression failed";

/** The expression with a mark below the place, as jq draws it. */
function hintOf(stderr: string): string {
  const [, ...drawn] = stderr.split("\n");
  const mark = drawn.findIndex((line) => /^\s*\^+\s*$/.test(line));
  return mark === -1 ? "See https://jqlang.org/manual for the language." : drawn.slice(0, mark + 1).join("\n");
}
