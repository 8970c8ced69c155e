/** The text of the bytes, with its byte order mark if it has one. Null if they are not UTF-8. */
export function textOfUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
