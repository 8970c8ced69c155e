import { inJson } from "../../text/json.ts";

// Values of environment variables, and what files make of them, must not be printed: their names take their place.

/** Shorter texts are everywhere, and protect nothing. */
const MIN_MASKED_LENGTH = 4;
/** Shorter texts are only masked where they are whole words. */
const MIN_LENGTH_ANYWHERE = 8;
/** Longer texts are searched for as they are: a pattern of them would be too large. */
const PATTERN_MAX = 1000;
/** Lines of a value that is longer than that. */
const LINE_FROM = 6;
/** What is printed where no name can take the place of a value. */
export const NOT_SHOWN = "(not shown)";
const WORD = "[\\p{L}\\p{N}_$]";
/** Values that say nothing. */
const plainValues: ReadonlySet<string> = new Set(["true", "false", "null", "none"]);

const isHarmless = (value: string): boolean => value.length < MIN_MASKED_LENGTH || plainValues.has(value.toLowerCase());

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

const shownOf = (names: readonly string[]): string => names.map((name) => `$${name}`).join("");

/** The forms in which a text may be printed. */
function formsOf(text: string): string[] {
  const lines = text.split(/\r\n?|\n/).map((line) => line.trim());
  const whole = [text, text.trim(), lines.join(" ").trim(), lines.join("\n")];
  const parts = lines.length > 1 ? lines.filter((line) => line.length >= LINE_FROM) : [];
  return [...whole, ...parts].flatMap((form) => [form, form.normalize("NFC"), inJson(form), encodeIfPossible(form)]);
}

function encodeIfPossible(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    // Half of a surrogate pair.
    return text;
  }
}

export class Masks {
  /** The variables that a text comes from, by the text in lower case. */
  readonly #names = new Map<string, readonly string[]>();
  readonly #long = new Map<string, readonly string[]>();
  #pattern: RegExp | null = null;

  /** Masks the value of a variable, or a text that the values of several have a part in. */
  add(names: readonly string[], text: string): void {
    for (const form of formsOf(text)) {
      if (form.length > PATTERN_MAX) this.#long.set(form, names);
      else if (!isHarmless(form) && !this.#names.has(form.toLowerCase())) {
        this.#names.set(form.toLowerCase(), names);
        this.#pattern = null;
      }
    }
  }

  /** The text with the names of variables in place of their values. */
  hide(text: string): string {
    const rest = this.#longIn(text).reduce((left, [long, names]) => left.replaceAll(long, shownOf(names)), text);
    const pattern = this.#compiled();
    return pattern === null ? rest : rest.replace(pattern, (match) => this.#shownFor(match));
  }

  #shownFor(value: string): string {
    const names = this.#names.get(value.toLowerCase());
    return names ? shownOf(names) : NOT_SHOWN;
  }

  #longIn(text: string): (readonly [string, readonly string[]])[] {
    return [...this.#long].filter(([long]) => text.includes(long));
  }

  /** The variables whose values the text contains. */
  namesIn(text: string): readonly string[] {
    const pattern = this.#compiled();
    const matches = pattern === null ? [] : (text.match(pattern) ?? []);
    const long = this.#longIn(text).flatMap(([, names]) => names);
    return [...new Set([...long, ...matches.flatMap((match) => this.#names.get(match.toLowerCase()) ?? [])])];
  }

  /**
   * Masks a text of a file that these variables have a part in, unless it contains their values as they are: those are
   * masked in any text, and the rest of it can be shown.
   */
  addDerived(variables: readonly { readonly name: string; readonly value: string }[], text: string): void {
    if (variables.every(({ value }) => isHarmless(value) || this.#hides(text, value))) return;
    this.add([...new Set(variables.map(({ name }) => name))], text);
  }

  #hides(text: string, value: string): boolean {
    const form = formsOf(value).find((candidate) => text.includes(candidate));
    return form !== undefined && !this.hide(text).includes(form);
  }

  /** For a saved plan: the texts with the names of the variables. */
  entries(): (readonly [text: string, names: readonly string[]])[] {
    return [...this.#names, ...this.#long];
  }

  #compiled(): RegExp | null {
    if (this.#names.size === 0 || this.#pattern !== null) return this.#pattern;
    const texts = [...this.#names.keys()].sort((a, b) => b.length - a.length);
    const parts = texts.map((text) =>
      text.length < MIN_LENGTH_ANYWHERE ? `(?<!${WORD})${escaped(text)}(?!${WORD})` : escaped(text),
    );
    this.#pattern = new RegExp(parts.join("|"), "giu");
    return this.#pattern;
  }
}
