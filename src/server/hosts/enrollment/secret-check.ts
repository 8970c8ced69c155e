// Resolves enroll secrets to teams, for stock and managed agents, with one shared limit on failed attempts.

import { minutes } from "../../platform/core/clock.ts";
import { Batcher } from "../../platform/core/concurrency/batcher.ts";
import type { Context } from "../../platform/core/context.ts";
import type { Caller } from "../../platform/core/http/proxies.ts";
import { limit } from "../../platform/core/limits.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { part } from "../../platform/core/running.ts";
import { countFailure } from "../../platform/rate-limits/attempts.ts";
import { findEnrollSecrets } from "../../settings/enroll-secrets/service.ts";

type SecretCheck =
  | { readonly teamId: number | null; readonly secretHash: string }
  /** Invalid secret. `wait`: seconds until this address may retry, or 0. */
  | { readonly wait: number };

export const wrongSecrets = limit({
  what: "enrollments with a wrong secret",
  max: 20,
  unit: "calls",
  per: "address",
  period: minutes(1),
  beyond: "They are refused with 429, by all servers; enrollments with a right secret are not.",
});
/**
 * Limits of wrong secrets. `ofAll`, for all addresses together, bounds the rows and the writes that strangers cause.
 */
const WRONG = { scope: "enroll secrets", most: wrongSecrets.max, ofAll: 1_200, span: minutes(1) };

type MatchingSecret = { team_id: number | null } | null;

const checks = part("checks of enroll secrets", ({ store, clock, running }) => ({
  home: { store, clock, running },
  secrets: new Batcher<string, MatchingSecret>((batch) => findEnrollSecrets({ store, clock }, batch), {
    size: 100,
    parallel: 2,
  }),
}));

type Deps = Pick<Context, "running">;

export async function checkEnrollSecret({ running }: Deps, input: unknown, caller: Caller): Promise<SecretCheck> {
  const { secrets, home } = running.of(checks);
  const secret = typeof input === "string" ? input : "";
  const match = secret === "" ? null : await secrets.add(secret);
  return match
    ? { teamId: match.team_id, secretHash: tokenHash(secret) }
    : { wait: await countFailure(home, WRONG, caller) };
}

/** An enroll secret in a body. A text inside another text of JSON cannot match: its quotes would be escaped. */
const SECRET = /"enroll_secret"\s*:\s*"((?:[^"\\]|\\.){1,512})"/;

/**
 * Whether the body of an enrollment has a right secret, with little work: such enrollments are not refused because of what
 * strangers do. Wrong ones are not counted.
 */
export async function hasRightSecret({ running }: Deps, bytes: Buffer): Promise<boolean> {
  const secret = unescaped(SECRET.exec(bytes.toString("utf8"))?.[1]);
  return secret !== "" && (await running.of(checks).secrets.add(secret)) !== null;
}

function unescaped(written = ""): string {
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return "";
  }
}

/** Resolves when no lookup is in progress. */
export const secretChecksIdle = ({ running }: Deps): Promise<void> => running.of(checks).secrets.idle();
