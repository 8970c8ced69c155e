// Passwords that this server makes for devices, and the form in which macOS takes those of accounts.
import { pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { writePlist } from "../../../../plist/write.ts";
import type { Random } from "../../../platform/core/random.ts";

/** Without characters that look alike, because people read them from one screen and type them at another. */
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const GROUPS = 6;

/** Six groups of four characters: 120 bits. */
export const newPassword = (random: Random): string =>
  Array.from({ length: GROUPS }, () =>
    Array.from({ length: 4 }, () => LETTERS[random.int(LETTERS.length)]).join(""),
  ).join("-");

/** Apple recommends 20,000 to 40,000; the password itself cannot be guessed. */
const ITERATIONS = 20_000;

/** A salted hash as macOS stores it. */
export async function hashForMacos(password: string): Promise<Buffer> {
  const salt = randomBytes(32);
  const entropy = await promisify(pbkdf2)(password, salt, ITERATIONS, 128, "sha512");
  return Buffer.from(writePlist({ "SALTED-SHA512-PBKDF2": { entropy, iterations: ITERATIONS, salt } }));
}
