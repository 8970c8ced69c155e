// Characters that control a terminal or change the text direction of a line.

/** A pattern that matches them, and the given ASCII control characters. */
export const steering = (ascii: string) =>
  new RegExp(`[${ascii}\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]`, "g");

/** The escape of such a character, as in JSON. */
export const escapeOf = (char: string): string =>
  char === "\r" ? "\\r" : `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Line breaks and tabs stay. */
export const controlsInLines = steering("\\u0000-\\u0008\\u000b-\\u001f");
