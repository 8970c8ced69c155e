/** Compares texts of digits by their value, however many digits they have. An empty text is zero. */
export function compareDigits(a: string, b: string): number {
  const left = a.replace(/^0+/, "");
  const right = b.replace(/^0+/, "");
  return Math.sign(left.length - right.length) || (left < right ? -1 : left > right ? 1 : 0);
}

/**
 * A text for digits that sorts like their value: the number of digits comes first. No such text is the beginning of
 * another one.
 */
export function digitsKey(digits: string): string {
  const plain = digits.replace(/^0+/, "");
  const { length } = plain;
  return length < 9 ? `${length}${plain}` : `9${String(length).padStart(6, "0")}${plain}`;
}

/** A text that sorts like numbers with dots between them, compared one by one. Zeros at the end do not count. */
export function numbersKey(dotted: string): string {
  const numbers = dotted.split(".");
  while (numbers.length > 0 && /^0*$/.test(numbers.at(-1)!)) numbers.pop();
  return `${numbers.map((number) => `*${digitsKey(number)}`).join("")}!`;
}
