// Resolves enroll secrets to teams, for stock and managed agents, with one shared limit on failed attempts.

import { type Batcher, createBatcher } from "../core/concurrency/batcher.ts";
import type { Context } from "../core/context.ts";
import type { Caller } from "../core/http/proxies.ts";
import { findEnrollSecrets } from "../enroll-secrets/service.ts";
import { createFailureLimit, type FailureLimit } from "../rate-limits/failures.ts";

export type SecretCheck =
  | { readonly teamId: number | null }
  /** Invalid secret. `wait`: seconds until this address may retry, or 0. */
  | { readonly wait: number };

const BAD_SECRETS_A_MINUTE = 20;

type Found = { team_id: number | null } | null;
interface Parts {
  readonly secrets: Batcher<string, Found>;
  readonly bad: FailureLimit;
}

/** One per server, keyed by its configuration reader. */
const servers = new WeakMap<Context["config"], Parts>();

type Backing = Pick<Context, "store" | "clock" | "config">;

function partsOf({ store, clock, config }: Backing): Parts {
  const known = servers.get(config);
  if (known) return known;
  const parts: Parts = {
    secrets: createBatcher((asked) => findEnrollSecrets(store, asked), { size: 100, parallel: 2 }),
    bad: createFailureLimit({ store, clock }, { scope: "enroll secrets", most: BAD_SECRETS_A_MINUTE }),
  };
  servers.set(config, parts);
  return parts;
}

export async function checkEnrollSecret(services: Backing, given: unknown, caller: Caller): Promise<SecretCheck> {
  const { secrets, bad } = partsOf(services);
  const secret = typeof given === "string" ? given : "";
  const found = secret === "" ? null : await secrets.add(secret);
  return found ? { teamId: found.team_id } : { wait: bad.fail(caller) };
}

/** Resolves when no lookup is in progress. */
export const secretChecksIdle = (services: Backing): Promise<void> => partsOf(services).secrets.idle();
