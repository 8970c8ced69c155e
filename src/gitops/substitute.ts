// Values of the environment in the text of a file, before it is read as YAML.
import type { Place, Problems } from "./problems.ts";

/** The text as it is read, and the way back from a place in it to the place in the file. */
export interface Expanded {
  readonly text: string;
  /** Offset in the file of the character at this offset of `text`. */
  original(offset: number): number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const reference = /(\\*)\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})/g;

/** The server fills these in for each host. */
const PER_HOST = "SVC_VAR_";
/** The server keeps these; they stand in profiles and scripts, never in the configuration itself. */
const SECRET = "SVC_SECRET_";

/**
 * Replaces `$NAME` and `${NAME}`. After an odd number of backslashes the text stays, with one backslash less and the others
 * halved; after an even number they stay and the variable is replaced. Variables that are not set are problems, but in
 * comment lines.
 */
export function substitute(text: string, file: string, environment: Environment, problems: Problems): Expanded {
  // Each piece begins at `at` of the result and comes from `from` of the file.
  const pieces: { at: number; from: number; verbatim: boolean }[] = [];
  let result = "";
  let done = 0;
  const push = (piece: string, from: number, verbatim: boolean) => {
    if (piece === "") return;
    pieces.push({ at: result.length, from, verbatim });
    result += piece;
  };
  for (const match of text.matchAll(reference)) {
    const [whole, slashes = "", bare, braced] = match;
    const name = (bare ?? braced)!;
    push(text.slice(done, match.index), done, true);
    done = match.index + whole.length;
    if (slashes.length % 2 === 1) {
      push(`${"\\".repeat((slashes.length - 1) / 2)}${whole.slice(slashes.length)}`, match.index, false);
      continue;
    }
    const value = lookUp(name, environment);
    if (value === null) push(whole, match.index, true);
    else if (typeof value === "string") push(`${slashes}${value}`, match.index, false);
    else {
      if (!inComment(text, match.index))
        problems.error(placeAt(text, match.index + slashes.length, file), value.problem);
      push(whole, match.index, true);
    }
  }
  push(text.slice(done), done, true);
  return { text: result, original: (offset) => backFrom(pieces, offset) };
}

/** The text to put there; null where the reference stays; else what is wrong with it. */
function lookUp(name: string, environment: Environment): string | null | { problem: string } {
  if (name.startsWith(PER_HOST)) return null;
  if (name.startsWith(SECRET))
    return { problem: `$${name} can stand in profiles and scripts only, not in the configuration itself` };
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
  return value ?? { problem: `the environment variable ${name} is not set` };
}

const inComment = (text: string, offset: number): boolean =>
  /^\s*#/.test(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset + 1));

function backFrom(
  pieces: readonly { readonly at: number; readonly from: number; readonly verbatim: boolean }[],
  offset: number,
): number {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pieces[middle]!.at <= offset) low = middle;
    else high = middle - 1;
  }
  const piece = pieces[low];
  if (!piece) return 0;
  return piece.verbatim ? piece.from + (offset - piece.at) : piece.from;
}

export function placeAt(text: string, offset: number, file: string): Place {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { file, line, column: offset - (before.lastIndexOf("\n") + 1) + 1 };
}
