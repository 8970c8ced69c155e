// What a device's report means for its profiles.
import { type Context, within } from "../../../platform/core/context.ts";
import { eq } from "../../../platform/store/query.ts";
import { applyEvents } from "../../profiles/host-rows.ts";
import type { HostProfileRow } from "../../profiles/platform.ts";
import type { ProfileEvent } from "../../profiles/state.ts";
import { policyOfHost } from "./of-host.ts";
import { wantPolicies } from "./wanted.ts";

interface ReportedPolicy {
  readonly name: string;
  /** The policy that the vendor has for the device; empty: it is not reported. */
  readonly policyName: string;
  readonly appliedPolicyName: string;
  readonly appliedPolicyVersion: number;
  readonly nonComplianceDetails: readonly {
    readonly settingName: string;
    readonly nonComplianceReason: string;
    readonly packageName: string;
  }[];
}

interface Device {
  readonly host_id: number;
}

/** `enterprises/LC1/devices/2` has the policy `enterprises/LC1/policies/2`. */
export const policyNameOf = (deviceName: string): string => deviceName.replace("/devices/", "/policies/");

const isAgent = ({ settings }: Context, name: string) => name !== "" && name === settings.android_agent_package;

/** Once the device has applied what was sent last, every profile of it is verified, or has failed. */
export async function policyReported(ctx: Context, { host_id }: Device, device: ReportedPolicy): Promise<void> {
  const ownName = policyNameOf(device.name);
  if (device.policyName !== "" && device.policyName !== ownName) return giveBack(ctx, host_id);
  if (device.appliedPolicyName !== ownName) return;
  await ctx.store.tx(async (store) => {
    const policy = await store.androidPolicies.get(host_id);
    // More is to be sent: the device reports again after it has applied that.
    if (!policy || policy.due || policy.version === 0 || device.appliedPolicyVersion < policy.version) return;
    const { rows, settings, replaced } = await policyOfHost(store, host_id);
    // The agent's app is not part of any profile.
    const details = device.nonComplianceDetails.filter(({ packageName }) => !isAgent(ctx, packageName));
    const reasons = new Map(details.map((nonCompliance) => [nonCompliance.settingName.split(".")[0]!, nonCompliance]));
    const events: { row: HostProfileRow; event: ProfileEvent }[] = rows.map((row) => {
      const problems = [
        ...[...(replaced.get(row.id) ?? [])].map(([setting, by]) => `${setting} is replaced by the profile ${by}.`),
        ...(settings.get(row.id) ?? []).flatMap((setting) => {
          const nonCompliance = reasons.get(setting);
          return nonCompliance
            ? [`${setting} is not applied: ${nonCompliance.nonComplianceReason || "no reason was given"}.`]
            : [];
        }),
      ];
      const state = problems.length === 0 ? "active" : "invalid";
      return { row, event: { type: "declared", state, detail: problems.join(" ") } };
    });
    for (const row of await store.hostProfiles.list({ where: eq("host_id", host_id) }))
      if (row.platform === "android" && row.operation_type === "remove" && row.status === "pending")
        events.push({ row, event: { type: "acknowledged" } });
    await applyEvents(within(ctx, store), events);
  });
}

/** The device was given another policy elsewhere, or was set up again: it gets its own one, unless that is under way. */
async function giveBack(ctx: Context, hostId: number): Promise<void> {
  await ctx.store.tx(async (store) => {
    const policy = await store.androidPolicies.get(hostId);
    if (!policy || policy.due || policy.version === 0) return;
    await wantPolicies(within(ctx, store), [hostId], { isNew: true });
  });
}
