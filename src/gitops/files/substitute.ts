// Replaces environment variables in the text of a file before it is parsed as YAML.
import { SECRET_PREFIX } from "../../api/settings/variables.ts";
import { type Environment, otherVariable, PER_HOST } from "../environment/variables.ts";
import type { Place, Problems } from "./problems.ts";

export interface UsedVariable {
  readonly name: string;
  readonly value: string;
}

/** The text with all variables replaced may be this long: a short name can stand for a long value, many times. */
const EXPANDED_MAX = 16 * 1024 * 1024;

interface Piece {
  /** Start offset in the result and in the file. */
  readonly at: number;
  readonly end: number;
  readonly from: number;
  readonly verbatim: boolean;
  /** The variable whose value it is. */
  readonly variable?: UsedVariable;
}

export const reference = /(\\*)\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})/g;

/** The text after substitution, and the mapping from its offsets back to those of the file. */
export class ExpandedText {
  readonly #pieces: Piece[] = [];
  #text = "";

  get text(): string {
    return this.#text;
  }

  get used(): readonly UsedVariable[] {
    return this.#pieces.flatMap(({ variable }) => variable ?? []);
  }

  get isTooLong(): boolean {
    return this.#text.length > EXPANDED_MAX;
  }

  /** Adds text that is in the file at `from`, or stands there for something else if it is not `verbatim`. */
  add(text: string, from: number, verbatim: boolean, variable?: UsedVariable): void {
    if (text === "" || this.isTooLong) return;
    const at = this.#text.length;
    this.#pieces.push({ at, end: at + text.length, from, verbatim, ...(variable ? { variable } : {}) });
    this.#text += text;
  }

  clearText(): void {
    this.#text = "";
  }

  /** Offset in the file of the character at this offset of `text`. */
  original(offset: number): number {
    const piece = this.#pieceAt(offset);
    return piece ? piece.from + (piece.verbatim ? offset - piece.at : 0) : 0;
  }

  /**
   * The parts of a variable's value before and after this offset of `text`; null outside of values. They may be
   * secret and are never shown.
   */
  inValue(offset: number): { readonly before: string; readonly rest: string } | null {
    const piece = this.#pieceAt(offset);
    if (!piece || piece.verbatim) return null;
    return { before: this.#text.slice(piece.at, offset), rest: this.#text.slice(offset, piece.end) };
  }

  /** The variables whose values have a part in this range of `text`. */
  variablesIn(start: number, end: number): readonly UsedVariable[] {
    const pieces = this.#pieces;
    const variables: UsedVariable[] = [];
    for (let i = this.#indexAt(start); i < pieces.length && pieces[i]!.at < Math.max(end, start + 1); i++)
      if (pieces[i]?.variable && pieces[i]!.end > start) variables.push(pieces[i]!.variable!);
    return variables;
  }

  #pieceAt(offset: number): Piece | undefined {
    return this.#pieces[this.#indexAt(offset)];
  }

  #indexAt(offset: number): number {
    return lastIndexUpTo(this.#pieces.length, offset, (i) => this.#pieces[i]!.at);
  }
}

/**
 * Replaces `$NAME` and `${NAME}`. After an odd number of backslashes the text stays, with one backslash less and the
 * others halved; after an even number they stay and the variable is replaced. Unset variables are problems, except in
 * comment lines.
 */
export function substitute(
  text: string,
  file: string,
  environment: Environment,
  problems: Problems,
  isKept: (name: string, offset: number) => boolean = (name) => name.startsWith(PER_HOST),
): ExpandedText {
  const expanded = new ExpandedText();
  let done = 0;
  const place = placesIn(text, file);
  for (const match of text.matchAll(reference)) {
    if (expanded.isTooLong) break;
    const [whole, slashes = "", bare, braced] = match;
    const name = (bare ?? braced)!;
    expanded.add(text.slice(done, match.index), done, true);
    done = match.index + whole.length;
    if (slashes.length % 2 === 1) {
      expanded.add(`${"\\".repeat((slashes.length - 1) / 2)}${whole.slice(slashes.length)}`, match.index, false);
      continue;
    }
    const value = isKept(name, match.index + slashes.length) ? null : lookUp(name, environment);
    if (value === null) expanded.add(whole, match.index, true);
    else if (typeof value === "string") {
      // An empty value often comes of a secret that is missing where the files are applied.
      if (value === "" && !inComment(text, match.index))
        problems.warn(place(match.index + slashes.length), `$${name} is empty`);
      expanded.add(`${slashes}${value}`, match.index, false, { name, value });
    } else {
      if (!inComment(text, match.index)) problems.error(place(match.index + slashes.length), value.problem);
      expanded.add(whole, match.index, true);
    }
  }
  expanded.add(text.slice(done), done, true);
  if (expanded.isTooLong) {
    problems.error(place(0), `with the values of its variables, the file is longer than ${EXPANDED_MAX} characters`);
    expanded.clearText();
  }
  return expanded;
}

/** The custom variables that a text names, each as often as it occurs, with its offset. */
export const customVariablesIn = (text: string): { readonly name: string; readonly offset: number }[] =>
  Array.from(text.matchAll(reference), ({ index, 1: slashes = "", 2: bare, 3: braced }) => ({
    name: (bare ?? braced)!,
    offset: index + slashes.length,
  })).filter(({ name }) => name.startsWith(SECRET_PREFIX) && name !== SECRET_PREFIX);

/** Variables as other systems call them, which nobody replaces. */
export const otherVariablesIn = (text: string) =>
  Array.from(text.matchAll(reference), ({ index, 1: slashes = "", 2: bare, 3: braced }) => {
    const name = (bare ?? braced)!;
    return { name, other: otherVariable(name), offset: index + slashes.length };
  }).filter(({ other }) => other !== undefined);

export interface VariableSources {
  readonly environment: Environment;
  readonly problems: Problems;
  /** Values of custom variables by name. */
  readonly variables: Map<string, string>;
  /** `$NAME` means something else in this text: nothing is replaced. */
  readonly isVerbatim?: boolean;
  /** The text as YAML, of the same length so that places stay, and with `OMITTED` for what texts do not contain. */
  readonly prepared?: (text: string) => string;
}

/** Takes the place of characters that a format leaves out of texts. */
export const OMITTED = "\ue000";

/** Keeps the value of a custom variable, which is sent to the server beside the text that names it. */
export function takeVariable(name: string, at: Place, { environment, problems, variables }: VariableSources): void {
  const value = environment.valueOf(name);
  if (typeof value !== "string") problems.error(at, value.problem);
  else if (value === "") problems.error(at, `the environment variable ${name} is not set`);
  else variables.set(name.slice(SECRET_PREFIX.length), value);
}

/** The replacement, or the problem. */
function lookUp(name: string, environment: Environment): string | { problem: string } {
  if (name.startsWith(SECRET_PREFIX))
    return {
      problem: `$${name} can only be used in profiles, scripts and name_template, not elsewhere in the configuration`,
    };
  return environment.valueOf(name);
}

export const inComment = (text: string, offset: number): boolean =>
  /^\s*#/.test(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset + 1));

const TEMPLATE = /(?:^|[\s{,])(["']?)name_template\1\s*:\s*(?:"[^"]*|'[^']*|[^\s"'][^,}#]*|)$/;

/** Whether this offset is in the value of `name_template`, on the line of its key. */
export const inNameTemplate = (text: string, offset: number): boolean =>
  TEMPLATE.test(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset));

/** The last index whose offset is at most this one, in ascending order; 0 if there is none. */
function lastIndexUpTo(length: number, offset: number, offsetAt: (i: number) => number): number {
  let low = 0;
  let high = length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsetAt(middle) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Maps offsets of the text to places without counting lines again. */
export function placesIn(text: string, file: string): (offset: number) => Place {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    const line = lastIndexUpTo(starts.length, offset, (i) => starts[i]!);
    return { file, line: line + 1, column: offset - starts[line]! + 1 };
  };
}
