// Hides secrets in outputs of what was sent. It prevents accidents: whoever writes a text that hosts run can always print a
// secret in another form (see README.md, Scopes).
import { MASKED_FROM } from "../../../api/settings/variables.ts";
import { escapedForms } from "./escaped.ts";

interface HiddenSecret {
  readonly secret: string;
  /** What stands in the output instead. */
  readonly shown: string;
}

/**
 * The most lines that are looked for inside of lines, and the most escaped spellings of lines. Of longer secrets, further
 * lines are found as whole lines only.
 */
const SEARCHED_LINES_MAX = 500;
const LINE_BREAK = /\r\n|\r|\n/;

interface Part {
  readonly text: string;
  readonly shown: string;
}

/**
 * The output without the secrets, their lines, and their lines with other breaks or indentation, also where they are
 * escaped (`escaped.ts`). Parts with fewer than `MASKED_FROM` characters stay: they would be found in any text.
 */
export function mask(output: string, secrets: readonly HiddenSecret[]): string {
  const whole: Part[] = [];
  const lines: Part[] = [];
  for (const { secret, shown } of secrets) {
    const text = secret.trim();
    if (text.length < MASKED_FROM) continue;
    whole.push({ text, shown });
    const linesOfSecret = text.split(LINE_BREAK).map((line) => line.trim());
    if (linesOfSecret.length === 1) continue;
    whole.push({ text: linesOfSecret.join("\n"), shown }, { text: linesOfSecret.join("\r\n"), shown });
    for (const line of new Set(linesOfSecret)) if (line.length >= MASKED_FROM) lines.push({ text: line, shown });
  }
  // A secret may be a part of another.
  const inner = lines.toSorted(byLength).slice(0, SEARCHED_LINES_MAX);
  const innerEscaped = inner.flatMap(escaped).toSorted(byLength).slice(0, SEARCHED_LINES_MAX);
  const outer = [...whole, ...whole.flatMap(escaped)].toSorted(byLength);
  const masked = replaceParts(replaceParts(output, outer), [...inner, ...innerEscaped].toSorted(byLength));
  return lines.length > inner.length
    ? replaceLines(masked, new Map(lines.map(({ text, shown }) => [text, shown])))
    : masked;
}

const escaped = ({ text, shown }: Part): Part[] => escapedForms(text).map((form) => ({ text: form, shown }));

const byLength = (a: Part, b: Part): number => b.text.length - a.text.length;

const replaceParts = (output: string, parts: readonly Part[]): string =>
  parts.reduce((text, part) => text.replaceAll(part.text, () => part.shown), output);

const replaceLines = (output: string, lines: ReadonlyMap<string, string>): string =>
  output.replace(/[^\r\n]+/g, (line) => {
    const shown = lines.get(line.trim());
    return shown === undefined ? line : line.replace(line.trim(), () => shown);
  });
