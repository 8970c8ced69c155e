// Replaces environment variables in the text of a file before it is parsed as YAML.
import { SECRET_PREFIX } from "../../api/variables.ts";
import type { Place, Problems } from "./problems.ts";

/** The text after substitution, and the mapping from its offsets back to those of the file. */
export interface Expanded {
  readonly text: string;
  /** Offset in the file of the character at this offset of `text`. */
  original(offset: number): number;
  /**
   * The parts of a variable's value before and after this offset of `text`; null outside of values. They may be
   * secret and are never shown.
   */
  inValue(offset: number): { readonly before: string; readonly rest: string } | null;
}

interface Piece {
  /** Start offset in the result and in the file. */
  readonly at: number;
  readonly end: number;
  readonly from: number;
  readonly verbatim: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const reference = /(\\*)\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})/g;

/** The server replaces these for each host. */
export const PER_HOST = "SVC_VAR_";

/**
 * Replaces `$NAME` and `${NAME}`. After an odd number of backslashes the text stays, with one backslash less and the
 * others
 * halved; after an even number they stay and the variable is replaced. Unset variables are problems, except in
 * comment
 * lines.
 */
export function substitute(
  text: string,
  file: string,
  environment: Environment,
  problems: Problems,
  isKept: (name: string, offset: number) => boolean = (name) => name.startsWith(PER_HOST),
): Expanded {
  const pieces: Piece[] = [];
  let result = "";
  let done = 0;
  const place = placesIn(text, file);
  const push = (piece: string, from: number, verbatim: boolean) => {
    if (piece === "") return;
    pieces.push({ at: result.length, end: result.length + piece.length, from, verbatim });
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
    const value = isKept(name, match.index + slashes.length) ? null : lookUp(name, environment);
    if (value === null) push(whole, match.index, true);
    else if (typeof value === "string") {
      // An empty value often comes of a secret that is missing where the files are applied.
      if (value === "" && !inComment(text, match.index))
        problems.warn(place(match.index + slashes.length), `$${name} is empty`);
      push(`${slashes}${value}`, match.index, false);
    } else {
      if (!inComment(text, match.index)) problems.error(place(match.index + slashes.length), value.problem);
      push(whole, match.index, true);
    }
  }
  push(text.slice(done), done, true);
  return {
    text: result,
    original(offset) {
      const piece = pieceAt(pieces, offset);
      return piece ? piece.from + (piece.verbatim ? offset - piece.at : 0) : 0;
    },
    inValue(offset) {
      const piece = pieceAt(pieces, offset);
      if (!piece || piece.verbatim) return null;
      return { before: result.slice(piece.at, offset), rest: result.slice(offset, piece.end) };
    },
  };
}

/** What the server replaces in the files that hosts get. */
export const isServerVariable = (name: string): boolean => name.startsWith(PER_HOST) || name.startsWith(SECRET_PREFIX);

/** The custom variables that a text names, each as often as it occurs, with its offset. */
export const customVariablesIn = (text: string): { readonly name: string; readonly offset: number }[] =>
  Array.from(text.matchAll(reference), ({ index, 1: slashes = "", 2: bare, 3: braced }) => ({
    name: (bare ?? braced)!,
    offset: index + slashes.length,
  })).filter(({ name }) => name.startsWith(SECRET_PREFIX));

export interface VariableSources {
  readonly environment: Environment;
  readonly problems: Problems;
  /** Values of custom variables by name. */
  readonly variables: Map<string, string>;
}

/** Keeps the value of a custom variable, which is sent to the server beside the text that names it. */
export function takeVariable(name: string, at: Place, { environment, problems, variables }: VariableSources): void {
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
  if (value) variables.set(name.slice(SECRET_PREFIX.length), value);
  else problems.error(at, `the environment variable ${name} is not set`);
}

/** The replacement, or the problem. */
function lookUp(name: string, environment: Environment): string | { problem: string } {
  if (name.startsWith(SECRET_PREFIX))
    return {
      problem: `$${name} can only be used in profiles, scripts and name_template, not elsewhere in the configuration`,
    };
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
  return value ?? { problem: `the environment variable ${name} is not set` };
}

export const inComment = (text: string, offset: number): boolean =>
  /^\s*#/.test(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset + 1));

const TEMPLATE = /(?:^|[\s{,])(["']?)name_template\1\s*:\s*(?:"[^"]*|'[^']*|[^\s"'][^,}#]*|)$/;

/** Whether this offset is in the value of `name_template`, on the line of its key. */
export const inNameTemplate = (text: string, offset: number): boolean =>
  TEMPLATE.test(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset));

function pieceAt(pieces: readonly Piece[], offset: number): Piece | undefined {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pieces[middle]!.at <= offset) low = middle;
    else high = middle - 1;
  }
  return pieces[low];
}

/** Maps offsets of the text to places without counting lines again. */
export function placesIn(text: string, file: string): (offset: number) => Place {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { file, line: low + 1, column: offset - starts[low]! + 1 };
  };
}
