/** Compares texts of digits by their value, however many digits they have. An empty text is zero. */
export function compareDigits(a: string, b: string): number {
  const left = a.replace(/^0+/, "");
  const right = b.replace(/^0+/, "");
  return Math.sign(left.length - right.length) || (left < right ? -1 : left > right ? 1 : 0);
}
