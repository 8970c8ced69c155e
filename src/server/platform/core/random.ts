import { createHash, randomBytes, randomInt, randomUUID, timingSafeEqual } from "node:crypto";

/** The source of all random values. */
export interface Random {
  /** Base64url text of this many random bytes. */
  token(bytes: number): string;
  uuid(): string;
  /** An integer from 0 to max - 1. */
  int(max: number): number;
}

export const systemRandom: Random = {
  token: (bytes) => randomBytes(bytes).toString("base64url"),
  uuid: () => randomUUID(),
  int: (max) => randomInt(max),
};

/** Tokens and keys with full entropy are stored as SHA-256 in hex. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Compares two texts in constant time. */
export const sameText = (a: string, b: string): boolean => {
  const x = createHash("sha256").update(a).digest();
  const y = createHash("sha256").update(b).digest();
  return timingSafeEqual(x, y);
};
