// Digests as headers have them (RFC 9530).

/** The field's value for a SHA-256 digest in hex. */
export const sha256Field = (hex: string): string => `sha-256=:${Buffer.from(hex, "hex").toString("base64")}:`;

/** The SHA-256 digest in hex that the field's value contains, or null. */
export function sha256In(field: string): string | null {
  const [, text] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/.exec(field) ?? [];
  return text === undefined ? null : Buffer.from(text, "base64").toString("hex");
}
