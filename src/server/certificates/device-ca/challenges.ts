// Challenges: secrets that allow one SCEP enrollment each, and say for what it is.
import { days, hours, isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { tokenHash } from "../../platform/core/random.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, gt, isNull, lt } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { Facts, scepChallenges } from "./tables.ts";

export interface NewChallenge {
  /** The feature that creates it, such as `apple_enrollment`. */
  readonly purpose: string;
  readonly platform?: string;
  /** The team that the device joins; null: no team. */
  readonly team_id: number | null;
  /** The host that it is for, if it is known. */
  readonly host_id?: number;
  readonly hardware_serial?: string;
  readonly hardware_uuid?: string;
  readonly facts?: Facts;
  /** Milliseconds; an hour by default. Profiles that are prepared for later need more. */
  readonly lifetime?: number;
}

type Deps = Pick<Services, "clock" | "random"> & { readonly store: ServerTx };

/** Creates a challenge and returns its text, which is stored nowhere. */
export async function newChallenge({ store, clock, random }: Deps, challenge: NewChallenge): Promise<string> {
  const { lifetime = hours(1), facts = {}, ...fields } = challenge;
  // Hexadecimal, because clients put it into a string type that has few characters.
  const text = Buffer.from(random.token(24), "base64url").toString("hex");
  await store.scepChallenges.insert({
    ...fields,
    facts,
    created_at: clock.iso(),
    digest: tokenHash(text),
    expires_at: isoAt(clock.now() + lifetime),
  });
  return text;
}

/**
 * Uses the challenge up. Null for one that is unknown, used or expired. Of several transactions with the same one,
 * only one gets it.
 */
export async function takeChallenge(
  store: ServerTx,
  text: string,
  now: string,
): Promise<RowOf<typeof scepChallenges> | null> {
  const digest = tokenHash(text);
  const usable = and(eq("digest", digest), isNull("used_at"), gt("expires_at", now));
  const [taken, row] = await Promise.all([
    store.scepChallenges.update({ where: usable, set: { used_at: now } }),
    store.scepChallenges.first({ where: eq("digest", digest) }),
  ]);
  return taken === 0 ? null : row;
}

/** Challenges stay for a day after their end, so that a used one can still be distinguished from an unknown one. */
export async function removeOldChallenges({ store, clock }: Pick<Services, "store" | "clock">): Promise<void> {
  await store.scepChallenges.delete(lt("expires_at", isoAt(clock.now() - days(1))));
}
