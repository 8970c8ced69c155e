// What the policy of a host contains.

import { inJson } from "../../../../text/json.ts";
import { byId } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, isNull, not, oneOf } from "../../../platform/store/query.ts";
import { expandSecrets } from "../../../settings/variables/use.ts";
import type { HostProfileRow } from "../../profiles/platform.ts";
import { type MergedPolicy, mergeProfiles, type PolicyProfile } from "./merge.ts";

interface HostPolicy extends MergedPolicy {
  /** The profiles that it contains, or would contain if they had settings of their own. */
  readonly rows: readonly HostProfileRow[];
}

/**
 * The policy of a host. If two profiles have the same setting, the one with the later name decides. A profile that was
 * refused is left out. The policy contains secrets: it is never stored.
 */
export async function policyOfHost(store: ServerTx, hostId: number): Promise<HostPolicy> {
  const isIn = and(eq("operation_type", "install"), not(isNull("command_uuid")));
  const where = and(eq("host_id", hostId), eq("platform", "android"), isIn);
  const rows = (await store.hostProfiles.list({ where })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const contents = byId(
    await store.androidHostProfiles.list({
      where: oneOf(
        "id",
        rows.map(({ id }) => id),
      ),
    }),
  );
  const profiles: PolicyProfile[] = [];
  for (const { id, name } of rows) {
    const content = contents.get(id)?.content;
    if (content === undefined) continue;
    const sent = { text: content, hostId, use: "profiles" } as const;
    profiles.push({ id, name, content: await expandSecrets(store, sent, inJson) });
  }
  return { rows, ...mergeProfiles(profiles) };
}
