import { createHash, randomBytes, randomInt, randomUUID, timingSafeEqual } from "node:crypto";

/** Where every random value comes from. */
export interface Random {
  /** base64url text of that many random bytes. */
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

/** How tokens and keys of full entropy are kept: SHA-256, hex. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Whether two texts are equal, in a time that tells nothing of where they differ. */
export const sameText = (a: string, b: string): boolean => {
  const x = createHash("sha256").update(a).digest();
  const y = createHash("sha256").update(b).digest();
  return timingSafeEqual(x, y);
};
