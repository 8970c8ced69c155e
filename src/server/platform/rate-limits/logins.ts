import { days, minutes } from "../core/clock.ts";
import { placeOf } from "../core/http/place.ts";
import { type Bucket, countAttempt, forgetAttempts, isMarked, type LimitedBy, mark } from "./shared.ts";

const LOGINS_PER_MINUTE = 10;
export const LOGINS_PER_MINUTE_OF_ALL = 300;
/** How long an address keeps its own counter for an account that signed in from it. */
const KNOWN_FOR = days(30);

const SCOPE = "login";
const perMinute = (key: string, most: number): Bucket => ({ scope: SCOPE, key, most, span: minutes(1) });

/** Emails here are unchecked input. The format of this key ensures that no email can imitate it. */
const pairKey = (place: string, email: string): string => `pair ${place}\n${email}`;
const knownPair = (place: string, email: string): Bucket => ({
  scope: "login from a known address",
  key: pairKey(place, email),
  most: 1,
  span: KNOWN_FOR,
});

async function accountBucket(home: LimitedBy, place: string, email: string): Promise<Bucket> {
  const isKnown = await isMarked(home, knownPair(place, email));
  return perMinute(isKnown ? pairKey(place, email) : `account ${email}`, LOGINS_PER_MINUTE);
}

/**
 * Counts one sign-in by password and throws 429 if it exceeds a limit: ten per minute from one address, and ten per
 * minute for one account from all addresses.
 *
 * With only one bucket for everyone, a single stranger could lock everyone out; with only buckets per address, many
 * strangers could attack one account. So there are both, and one of 300 for everyone, which limits the hashing and
 * the number of rows. An address from which the account has signed in before has its own counter for that account, so
 * that strangers' guesses do not lock out the owner.
 */
export async function countLogin(home: LimitedBy, address: string, email: string): Promise<void> {
  const place = placeOf(address);
  await countAttempt(home, [
    perMinute(`address ${place}`, LOGINS_PER_MINUTE),
    await accountBucket(home, place, email),
    perMinute("everybody", LOGINS_PER_MINUTE_OF_ALL),
  ]);
}

/** Only failed sign-ins count against an account, so the count is cleared. */
export async function loginSucceeded(home: LimitedBy, address: string, email: string): Promise<void> {
  const place = placeOf(address);
  await forgetAttempts(home, await accountBucket(home, place, email));
  await mark(home, knownPair(place, email));
}

/**
 * Checks the current password of a signed-in user. It has the same limit as sign-ins, so that a stolen token does not
 * allow faster guessing.
 */
export async function showingPassword(
  home: LimitedBy,
  userId: number,
  check: () => Promise<boolean>,
): Promise<boolean> {
  const bucket: Bucket = { scope: "current password", key: String(userId), most: LOGINS_PER_MINUTE, span: minutes(1) };
  // Counted before the check, so that simultaneous calls cannot all pass.
  await countAttempt(home, [bucket]);
  const right = await check();
  if (right) await forgetAttempts(home, bucket);
  return right;
}
