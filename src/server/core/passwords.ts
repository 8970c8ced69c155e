import { hash, type Options, verify } from "@node-rs/argon2";
import { invalid, unavailable } from "./errors.ts";

/** Argon2id (the library's default variant) at the cost that OWASP's password storage cheat sheet asks for. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } satisfies Options;

/** The hash of a password that nobody knows, at the same cost: signing in as an unknown user takes as long as any. */
const nobodysHash = "$argon2id$v=19$m=19456,t=2,p=1$x6iK8sqYeh5fFpBHznzb5A$7rM+8AwXeg7fQh+sDWkWQCFYBOEqX5hjObl6GizKVgc";

// Hashing and fsync share libuv's four threads: with more than two hashes at once, writes would wait behind sign-ins.
const AT_ONCE = 2;
const MAX_WAITING = 200;
let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<R>(work: () => Promise<R>): Promise<R> {
  if (running < AT_ONCE) running++;
  else if (waiting.length >= MAX_WAITING) throw unavailable("too many sign-ins at once; try again");
  // Whoever ends hands its place on, so `running` stays as it is.
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/** The password in PHC form. */
export const hashPassword = (plain: string): Promise<string> => inTurn(() => hash(plain, cost));

/** Whether the password is the one that was hashed; false, after the same work, where there is none. */
export const verifyPassword = async (stored: string | null, plain: string): Promise<boolean> =>
  (await inTurn(() => verify(stored ?? nobodysHash, plain))) && stored !== null;

/** Whether the password was hashed at a lower cost than new ones are, or in another way. */
export function belowCost(stored: string): boolean {
  const found = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(stored);
  return !found || Number(found[1]) < cost.memoryCost || Number(found[2]) < cost.timeCost;
}

/** The rule that a new password breaks, or null. */
export function passwordProblem(plain: string): string | null {
  const length = [...plain].length;
  if (length < 12) return "the password must have at least 12 characters";
  if (length > 48) return "the password must have at most 48 characters";
  if (!/\p{N}/u.test(plain)) return "the password must have at least one digit";
  if (!/[\p{P}\p{S}]/u.test(plain)) return "the password must have at least one symbol";
  return null;
}

/** 422 on `field` unless the password may be set. */
export function checkPassword(field: string, plain: string): void {
  const problem = passwordProblem(plain);
  if (problem) throw invalid(field, problem);
}
