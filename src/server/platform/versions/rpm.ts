// Versions of RPM packages: [epoch:]version[-release], compared as rpm does it (rpm-version(7)).
import { compareDigits, digitsKey } from "./digits.ts";

/** A part of digits or of letters, `~` (before the end of the version), or `^` (after it); the rest separates parts. */
const PARTS = /\d+|[A-Za-z]+|~|\^/g;
const isDigits = (part: string): boolean => part >= "0" && part < ":";

function compareSegments(a: string, b: string): number {
  if (a === b) return 0;
  const left = a.match(PARTS) ?? [];
  const right = b.match(PARTS) ?? [];
  for (let i = 0; i < left.length || i < right.length; i++) {
    const character = left[i];
    const other = right[i];
    if (character === "~" || other === "~") {
      if (character === other) continue;
      return character === "~" ? -1 : 1;
    }
    if (character === "^" || other === "^") {
      if (character === other) continue;
      if (character === undefined) return -1;
      if (other === undefined) return 1;
      return character === "^" ? -1 : 1;
    }
    if (character === undefined) return -1;
    if (other === undefined) return 1;
    if (isDigits(character) !== isDigits(other)) return isDigits(character) ? 1 : -1;
    const difference = isDigits(character)
      ? compareDigits(character, other)
      : character < other
        ? -1
        : character > other
          ? 1
          : 0;
    if (difference !== 0) return difference;
  }
  return 0;
}

interface Parts {
  /** Null if the version does not name it. */
  readonly epoch: string | null;
  readonly version: string;
  readonly release: string;
}

function rpmParts(text: string): Parts {
  const colon = text.indexOf(":");
  const rest = text.slice(colon + 1);
  const dash = rest.indexOf("-");
  return {
    epoch: colon < 0 ? null : text.slice(0, colon),
    version: dash < 0 ? rest : rest.slice(0, dash),
    release: dash < 0 ? "" : rest.slice(dash + 1),
  };
}

/** Epochs count only if both versions name one, and releases only if both have one: inventories may lack them. */
export function compareRpm(a: string, b: string): number {
  const left = rpmParts(a.trim());
  const right = rpmParts(b.trim());
  const epochs = left.epoch === null || right.epoch === null ? 0 : compareDigits(left.epoch, right.epoch);
  const releases =
    left.release === "" || right.release === "" ? () => 0 : () => compareSegments(left.release, right.release);
  return epochs || compareSegments(left.version, right.version) || releases();
}

/** In the order of `compareSegments`; the end comes after `~` and before everything else. */
const symbols: Readonly<Record<string, string>> = { "~": "!", "^": "%" };
const END = "#";

function segmentsKey(text: string): string {
  let key = "";
  // A space ends letters, because it comes before all of them.
  for (const part of text.match(PARTS) ?? [])
    key += symbols[part] ?? (isDigits(part) ? `*${digitsKey(part)}` : `(${part} `);
  return `${key}${END}`;
}

/**
 * A text that sorts as `compareRpm` for versions without epochs, which inventories lack. The key of a version without a
 * release is the beginning of the keys of its releases.
 */
export function rpmKey(text: string): string {
  const { version, release } = rpmParts(text.trim());
  return release === "" ? segmentsKey(version) : `${segmentsKey(version)}${segmentsKey(release)}`;
}
