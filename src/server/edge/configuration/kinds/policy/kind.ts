import { labelScopes } from "../../../../checks/policies/applies.ts";
import { POLICIES_LOCK } from "../../../../checks/policies/counts.ts";
import { profilesResent, slugsOf } from "../../../../checks/policies/wire.ts";
import { parts } from "../../../../platform/core/concurrency/parts.ts";
import { eq, oneOf } from "../../../../platform/store/query.ts";
import type { Kind } from "../../kind.ts";
import { BATCH_SIZE, inPages, mayWriteConfig, ofTier } from "../../shared-rows.ts";
import { softwareOf } from "./software.ts";
import { type DesiredPolicy, type PolicyRows, policyThings, readPolicy } from "./value.ts";
import { writePolicies } from "./write.ts";

export const policy: Kind<PolicyRows, DesiredPolicy> = {
  name: "policy",
  owners: ["global", "team", "no_team"],
  per: "many",
  lock: POLICIES_LOCK,
  action: () => "policies:write",
  async load(ctx) {
    const where = ofTier(ctx, "policies:write", eq("scope", "global"));
    const policies = await inPages(ctx.store.policies.pages({ where }, BATCH_SIZE));
    const ids = mayWriteConfig(ctx) ? undefined : policies.map(({ id }) => id);
    const used = policies.flatMap(({ script_id }) => script_id ?? []);
    const scripts = new Map<number, string>();
    for await (const part of parts([...new Set(used)]))
      for (const { id, name } of await ctx.store.scripts.pick(["id", "name"], { where: oneOf("id", part) }))
        scripts.set(id, name);
    const software = await softwareOf(
      ctx,
      policies.flatMap(({ software_title_id }) => software_title_id ?? []),
    );
    const labels = await labelScopes(ctx.store, ids);
    const profiles = await profilesResent(ctx.store, policies);
    const slugs = await slugsOf(ctx.store, policies);
    return { policies, labels, scripts, profiles, slugs, software };
  },
  things: policyThings,
  read: readPolicy,
  write: writePolicies,
};
