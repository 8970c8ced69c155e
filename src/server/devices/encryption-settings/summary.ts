import type { DiskEncryptionSummary } from "../../../api/devices/disk-encryption.ts";
import type { DiskEncryptionStatus } from "../../hosts/disk-encryption/tables.ts";
import { onPlatform } from "../../hosts/hosts/status.ts";
import { hosts } from "../../hosts/hosts/tables.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import { and, exists, isNull, not } from "../../platform/store/query.ts";
import { teamFor } from "../profiles/access.ts";

const platforms = { macos: "darwin", windows: "windows", linux: "linux" } as const;
const names = Object.keys(platforms) as (keyof typeof platforms)[];
const states = ["verified", "verifying", "action_required", "enforcing", "failed", "removing_enforcement"] as const;

export async function diskEncryptionSummary(
  ctx: Context,
  query: { team_id?: number | undefined },
): Promise<DiskEncryptionSummary> {
  const { team_id } = await teamFor(ctx, "mdm:read", query.team_id);
  const ofTeam = inTeam(team_id ?? 0);
  return ctx.running.of(sharing).run(JSON.stringify(["disk encryption", team_id]), async () => {
    const counted = await Promise.all(
      names.map(async (name) => {
        const here = exists(hosts, "id", and(ofTeam, onPlatform(platforms[name])));
        const groups = await ctx.store.hostDiskEncryption.groupCount("status", and(not(isNull("status")), here));
        return new Map(groups.map(({ value, count }) => [value as DiskEncryptionStatus, count]));
      }),
    );
    const countsOf = (state: DiskEncryptionStatus) => ({
      macos: counted[0]!.get(state) ?? 0,
      windows: counted[1]!.get(state) ?? 0,
      linux: counted[2]!.get(state) ?? 0,
    });
    return Object.fromEntries(states.map((state) => [state, countsOf(state)])) as DiskEncryptionSummary;
  });
}
