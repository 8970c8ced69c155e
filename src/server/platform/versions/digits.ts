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
  let start = 0;
  while (digits.charCodeAt(start) === ZERO) start++;
  const plain = start === 0 ? digits : digits.slice(start);
  const { length } = plain;
  return length < 9 ? length + plain : `9${String(length).padStart(6, "0")}${plain}`;
}

const ZERO = 48;

/** A text that sorts like numbers with dots between them, compared one by one. Zeros at the end do not count. */
export function numbersKey(dotted: string): string {
  let key = "";
  let zeros = "";
  for (let at = 0; at <= dotted.length; ) {
    const dot = dotted.indexOf(".", at);
    const end = dot < 0 ? dotted.length : dot;
    const number = digitsKey(dotted.slice(at, end));
    if (number === "0") zeros += "*0";
    else {
      key += `${zeros}*${number}`;
      zeros = "";
    }
    at = end + 1;
  }
  return `${key}!`;
}
