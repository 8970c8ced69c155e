// Passwords are really hashed and verified, but each only once: argon2 is slow by design, and every app of a test has
// an admin.
import { vi } from "vitest";

vi.mock("../../src/server/platform/core/security/passwords.ts", async (original) => {
  const real = await original<typeof import("../../src/server/platform/core/security/passwords.ts")>();
  return { ...real, hashPassword: remembered(real.hashPassword), verifyPassword: remembered(real.verifyPassword) };
});

function remembered<A extends readonly unknown[], R>(work: (...given: A) => Promise<R>) {
  const known = new Map<string, Promise<R>>();
  return (...given: A): Promise<R> => {
    const key = JSON.stringify(given.filter((one) => typeof one !== "object" || one === null));
    const answer = known.get(key) ?? work(...given);
    known.set(key, answer);
    answer.catch(() => known.delete(key));
    return answer;
  };
}
