// Configuration profiles that policies send again.
import { channels } from "../../platform/core/channels.ts";
import { conflict } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, oneOf } from "../../platform/store/query.ts";

interface Profile {
  readonly uuid: string;
  readonly name: string;
}

/** 409 if a policy sends one of the profiles again. Runs in the transaction that deletes them. */
export async function checkProfilesUnused(
  { policies }: Pick<ServerTx, "policies">,
  profiles: readonly Profile[],
): Promise<void> {
  const names = new Map(profiles.map(({ uuid, name }) => [uuid, name]));
  const policy = await policies.first({ where: oneOf("resend_profile_uuid", [...names.keys()]) });
  if (policy)
    throw conflict(
      `the policy ${JSON.stringify(policy.name)} sends the profile ` +
        `${JSON.stringify(names.get(policy.resend_profile_uuid!))} again: change it first`,
    );
}

/**
 * Policies that send a profile again which another one of the same name replaces, send that one. Those of the others send
 * none any more. Runs in the transaction that exchanges the profiles of a team.
 */
export async function profilesExchanged(
  store: ServerTx,
  removed: readonly Profile[],
  added: readonly Profile[],
): Promise<void> {
  const successors = new Map(added.map(({ uuid, name }) => [name, uuid]));
  let changed = 0;
  for (const { uuid, name } of removed)
    changed += await store.policies.update({
      where: eq("resend_profile_uuid", uuid),
      set: { resend_profile_uuid: successors.get(name) ?? null },
    });
  if (changed > 0) await store.notify(channels.policies, "");
}
