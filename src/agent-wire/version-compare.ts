/** Compares versions number by number; the text between the numbers does not matter. */
export function versionCompare(left: string, right: string): number {
  const a = left.split(/[^\d]+/).map(Number);
  const b = right.split(/[^\d]+/).map(Number);
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const step = Math.sign((a[i] || 0) - (b[i] || 0));
    if (step !== 0) return step;
  }
  return 0;
}
