import { hash, type Options, verify } from "@node-rs/argon2";
import { invalid, overloaded } from "../errors.ts";

/**
 * Argon2id (the library's default variant) with the parameters that OWASP's password storage cheat sheet recommends.
 */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } satisfies Options;

/** Hash of an unknown password at the same cost, so that signing in as an unknown user takes equally long. */
const nobodysHash = "$argon2id$v=19$m=19456,t=2,p=1$x6iK8sqYeh5fFpBHznzb5A$7rM+8AwXeg7fQh+sDWkWQCFYBOEqX5hjObl6GizKVgc";

// Hashing and fsync share libuv's four threads: more than two hashes at once would delay writes.
const MAX_CONCURRENT = 2;
const MAX_WAITING = 200;
/** At most this is charged for a hash: on a busy machine, most of the time until it is done is not its own. */
const HASHING_MAX_MS = 50;
let running = 0;
const waiting: (() => void)[] = [];

interface Caller {
  /** Hashing takes processor time in another thread, which is charged as if it were in this one. */
  readonly cost?: { charge(milliseconds: number): void } | undefined;
}

async function inTurn<R>(work: () => Promise<R>, caller?: Caller): Promise<R> {
  if (running < MAX_CONCURRENT) running++;
  else if (waiting.length >= MAX_WAITING) throw overloaded("too many sign-ins at once; try again");
  // The finishing task passes its place on, so `running` does not change.
  else await new Promise<void>((resolve) => waiting.push(resolve));
  const started = performance.now();
  try {
    return await work();
  } finally {
    caller?.cost?.charge(Math.min(performance.now() - started, HASHING_MAX_MS));
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/** Hashes the password; the result is in PHC format. Only for callers who have proved who they are. */
export const hashPassword = (plain: string): Promise<string> => inTurn(() => hash(plain, cost));

/** Verifies the password. Without a stored hash it does the same amount of work and returns false. */
export const verifyPassword = async (stored: string | null, plain: string, caller?: Caller): Promise<boolean> =>
  (await inTurn(() => verify(stored ?? nobodysHash, plain), caller)) && stored !== null;

/** Whether the stored hash uses lower cost parameters than new hashes, or another algorithm. */
export function belowCost(stored: string): boolean {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(stored);
  return !match || Number(match[1]) < cost.memoryCost || Number(match[2]) < cost.timeCost;
}

/** The rule that a new password violates, or null. */
export function passwordProblem(plain: string): string | null {
  const length = [...plain].length;
  if (length < 12) return "the password must have at least 12 characters";
  if (length > 48) return "the password must have at most 48 characters";
  if (!/\p{N}/u.test(plain)) return "the password must have at least one digit";
  if (!/[\p{P}\p{S}]/u.test(plain)) return "the password must have at least one symbol";
  return null;
}

/** Throws 422 for `field` if the password violates a rule. */
export function checkPassword(field: string, plain: string): void {
  const problem = passwordProblem(plain);
  if (problem) throw invalid(field, problem);
}
