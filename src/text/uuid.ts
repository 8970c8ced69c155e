/** The UUID in its usual form, in lower case. Null if the text is none; dashes and braces are optional. */
export function uuidIn(text: string): string | null {
  const digits = /^\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?$/i.exec(
    text.trim(),
  );
  return digits === null ? null : digits.slice(1).join("-").toLowerCase();
}
