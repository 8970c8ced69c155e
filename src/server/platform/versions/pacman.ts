// Versions of Arch Linux's packages: [epoch:]version[-release], ordered as in vercmp(8). Unlike rpm, letters come before
// the end of a version (1.0rc < 1.0 < 1.0.1), and more separators come after fewer.
import { digitsKey } from "./digits.ts";

/** Digits or letters, with the separators before them. What follows the last of them does not count. */
const PARTS = /([^A-Za-z0-9]*)(\d+|[A-Za-z]+)/g;
const ADJACENT_LETTERS = "!";
const END = "#";
const ADJACENT_DIGITS = "%";
/** Separators sort by their number: letters behind one come before digits behind one. */
const SEPARATED = ";";

function segmentsKey(text: string): string {
  let key = "";
  for (const [, separators = "", part = ""] of text.matchAll(PARTS)) {
    const isNumber = part >= "0" && part < ":";
    if (separators === "") key += isNumber ? ADJACENT_DIGITS : ADJACENT_LETTERS;
    else key += `${SEPARATED}${digitsKey(String(separators.length))}${isNumber ? "b" : "a"}`;
    // A space ends letters, because it comes before all of them.
    key += isNumber ? digitsKey(part) : `${part} `;
  }
  return `${key}${END}`;
}

/** A text that sorts as vercmp. The key of a version without a release is the beginning of the keys of its releases. */
export function pacmanKey(text: string): string {
  const [, epoch = "", rest = ""] = /^(?:(\d*):)?(.*)$/s.exec(text.trim())!;
  const dash = rest.lastIndexOf("-");
  const version = dash < 0 ? rest : rest.slice(0, dash);
  const release = dash < 0 ? "" : rest.slice(dash + 1);
  return `${digitsKey(epoch)}${segmentsKey(version)}${release === "" ? "" : segmentsKey(release)}`;
}
