// The differences of two texts, line by line.

export interface DiffLine {
  /** A gap stands for unchanged lines that are left out. */
  readonly kind: "same" | "removed" | "added" | "gap";
  readonly text: string;
  /** The position among all lines of the difference. */
  readonly key: number;
}

/** Comparing takes the product of the numbers of lines; beyond this, everything between the common ends has changed. */
const MAX_COMPARISONS = 4_000_000;

type Line = Omit<DiffLine, "key">;

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, young] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(old.length, young.length);
  let start = 0;
  while (start < shorter && old[start] === young[start]) start++;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === young[young.length - 1 - end]) end++;
  const same = (lines: readonly string[]) => lines.map((text): Line => ({ kind: "same", text }));
  return [
    ...same(old.slice(0, start)),
    ...between(old.slice(start, old.length - end), young.slice(start, young.length - end)),
    ...same(old.slice(old.length - end)),
  ].map((line, key) => ({ ...line, key }));
}

/** By the longest common subsequence. */
function between(old: readonly string[], young: readonly string[]): readonly Line[] {
  const width = young.length + 1;
  if (old.length * young.length > MAX_COMPARISONS) return [...removed(old), ...added(young)];
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = young.length - 1; j >= 0; j--)
      lengths[i * width + j] = old[i] === young[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < young.length) {
    const text = old[i] ?? "";
    if (text === young[j]) {
      lines.push({ kind: "same", text });
      i++;
      j++;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      lines.push({ kind: "removed", text });
      i++;
    } else {
      lines.push({ kind: "added", text: young[j] ?? "" });
      j++;
    }
  }
  return [...lines, ...removed(old.slice(i)), ...added(young.slice(j))];
}

const removed = (lines: readonly string[]) => lines.map((text): Line => ({ kind: "removed", text }));
const added = (lines: readonly string[]) => lines.map((text): Line => ({ kind: "added", text }));

/** The changed lines with as many unchanged lines around them. */
export function aroundChanges(lines: readonly DiffLine[], context = 3): readonly DiffLine[] {
  const isNear = new Uint8Array(lines.length);
  for (const [position, { kind }] of lines.entries())
    if (kind !== "same") isNear.fill(1, Math.max(0, position - context), position + context + 1);
  return lines.flatMap((line, position): DiffLine[] => {
    if (isNear[position] === 1) return [line];
    return position === 0 || isNear[position - 1] === 1 ? [{ ...line, kind: "gap", text: "…" }] : [];
  });
}
