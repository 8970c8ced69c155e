// Characters that control a terminal or change the text direction of a line.

/** A pattern that matches them, and the given ASCII control characters. */
const steering = (ascii: string) =>
  new RegExp(`[${ascii}\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]`, "g");

/** The escape of such a character, as in JSON. */
const escapeOf = (char: string): string =>
  char === "\r" ? "\\r" : `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Line breaks and tabs stay. */
export const controlsInLines = steering("\\u0000-\\u0008\\u000b-\\u001f");

const control = steering("\\u0000-\\u001f");
const controlInJson = steering("");

/**
 * Escapes text that an agent or another user chose. Otherwise escape sequences and direction changes in a
 * hostname could rewrite the screen.
 */
export const printable = (text: string): string =>
  text.replace(control, (char) => (char === "\n" || char === "\t" ? " " : escapeOf(char)));

/** Escapes the same characters in JSON or double-quoted YAML, without changing its meaning. */
export const visible = (json: string): string => json.replace(controlInJson, escapeOf);

/** `printable` for text of several lines: line breaks and tabs stay. */
export const printableLines = (text: string): string => text.replace(controlsInLines, escapeOf);
