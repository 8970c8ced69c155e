// Resolves enroll secrets to teams, for stock and managed agents, with one shared limit on failed attempts.

import { createBatcher } from "../core/concurrency/batcher.ts";
import type { Context } from "../core/context.ts";
import type { Caller } from "../core/http/proxies.ts";
import { part } from "../core/running.ts";
import { findEnrollSecrets } from "../enroll-secrets/service.ts";
import { createFailureLimit } from "../rate-limits/failures.ts";

export type SecretCheck =
  | { readonly teamId: number | null }
  /** Invalid secret. `wait`: seconds until this address may retry, or 0. */
  | { readonly wait: number };

const BAD_SECRETS_A_MINUTE = 20;

type Found = { team_id: number | null } | null;

const checks = part("checks of enroll secrets", ({ store, clock }) => ({
  secrets: createBatcher<string, Found>((asked) => findEnrollSecrets({ store, clock }, asked), {
    size: 100,
    parallel: 2,
  }),
  bad: createFailureLimit({ store, clock }, { scope: "enroll secrets", most: BAD_SECRETS_A_MINUTE }),
}));

type Backing = Pick<Context, "running">;

export async function checkEnrollSecret({ running }: Backing, given: unknown, caller: Caller): Promise<SecretCheck> {
  const { secrets, bad } = running.of(checks);
  const secret = typeof given === "string" ? given : "";
  const found = secret === "" ? null : await secrets.add(secret);
  return found ? { teamId: found.team_id } : { wait: bad.fail(caller) };
}

/** Resolves when no lookup is in progress. */
export const secretChecksIdle = ({ running }: Backing): Promise<void> => running.of(checks).secrets.idle();
