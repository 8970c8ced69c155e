/** The known name that is most similar to a mistyped one, if any is similar enough. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const typed = name.toLowerCase();
  const most = Math.max(1, Math.floor(typed.length / 3));
  let best: string | undefined;
  let least = most + 1;
  for (const candidate of known) {
    const away = distance(typed, candidate, least);
    if (away >= least) continue;
    least = away;
    best = candidate;
  }
  return best;
}

/**
 * Edit distance: insertions, deletions, replacements and swaps of adjacent characters. It is computed only up to
 * `enough`.
 */
function distance(a: string, b: string, enough: number): number {
  if (Math.abs(a.length - b.length) >= enough) return enough;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    if (Math.min(...row) >= enough) return enough;
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
