// Which team an enroll secret enrolls into, for stock and managed agents alike: one limit on bad secrets for both.
import type { Context } from "../core/context.ts";
import { findEnrollSecrets } from "../enroll-secrets/service.ts";
import { type Batcher, createBatcher } from "./batcher.ts";
import { createFailureLimit, type FailureLimit } from "./failure-limit.ts";

export type SecretCheck =
  | { readonly teamId: number | null }
  /** Bad; `wait`: seconds until this address may try again, 0 while it may. */
  | { readonly wait: number };

const BAD_SECRETS_A_MINUTE = 20;

type Found = { team_id: number | null } | null;
interface Parts {
  readonly secrets: Batcher<string, Found>;
  readonly bad: FailureLimit;
}

/** One per server: its configuration reader is the same object everywhere. */
const servers = new WeakMap<Context["config"], Parts>();

type Backing = Pick<Context, "store" | "clock" | "config">;

function partsOf({ store, clock, config }: Backing): Parts {
  const known = servers.get(config);
  if (known) return known;
  const parts: Parts = {
    secrets: createBatcher((asked) => findEnrollSecrets(store, asked), { size: 100, parallel: 2 }),
    bad: createFailureLimit(clock, BAD_SECRETS_A_MINUTE),
  };
  servers.set(config, parts);
  return parts;
}

export async function checkEnrollSecret(services: Backing, given: unknown, address: string): Promise<SecretCheck> {
  const { secrets, bad } = partsOf(services);
  const secret = typeof given === "string" ? given : "";
  const found = secret === "" ? null : await secrets.add(secret);
  return found ? { teamId: found.team_id } : { wait: bad.fail(address) };
}

/** Resolves when no look-up is under way. */
export const secretChecksIdle = (services: Backing): Promise<void> => partsOf(services).secrets.idle();
