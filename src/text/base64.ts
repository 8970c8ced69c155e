/**
 * The bytes of base64, which may lack its padding and contain line breaks. Null for anything else: `Buffer.from` ignores
 * other characters.
 */
export function bytesOfBase64(text: string): Buffer | null {
  const bare = text.replace(/\s+/g, "");
  return /^[A-Za-z0-9+/]*={0,2}$/.test(bare) ? Buffer.from(bare, "base64") : null;
}

/** The bytes of base64 that is not empty and has its padding; it may contain line breaks. Null for anything else. */
export function bytesOfPaddedBase64(text: string): Buffer | null {
  const bare = text.replace(/\s+/g, "");
  return bare.length > 0 && bare.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(bare)
    ? Buffer.from(bare, "base64")
    : null;
}
