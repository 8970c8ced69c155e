// Profiles of Android devices. They are not sent one by one: each device has one policy, made of all its profiles.
import { inJson } from "../../../../text/json.ts";
import { hostMdm } from "../../../hosts/mdm-status/tables.ts";
import type { Context } from "../../../platform/core/context.ts";
import { and, eq, exists } from "../../../platform/store/query.ts";
import type { HostProfileRow, ProfilePlatform, QueuedCommands } from "../../profiles/platform.ts";
import { readPolicyProfile } from "./rules.ts";
import { wantPolicies } from "./wanted.ts";

export const androidPlatform: ProfilePlatform = {
  identifiedBy: "name",
  name: "android",
  isOn: async ({ config }) => (await config.current()).mdm.android_enabled_and_configured,
  read: readPolicyProfile,
  fileName: ({ name }) => `${name}.json`,
  hosts: and(eq("platform", "android"), exists(hostMdm, "id", eq("connected_to_svc", true))),
  escape: inJson,
  async install(inside, deliveries) {
    await inside.store.androidHostProfiles.upsert(
      deliveries.map(({ row, content }) => ({ id: row.id, content: Buffer.from(content).toString("utf8") })),
      { on: ["id"], returning: [] },
    );
    return queue(
      inside,
      deliveries.map(({ row }) => row),
    );
  },
  remove: queue,
  created: ({ name }, team) => ({ type: "created_android_profile", details: { profile_name: name, ...team } }),
  deleted: ({ name }, team) => ({ type: "deleted_android_profile", details: { profile_name: name, ...team } }),
  edited: (_kind, team) => ({ type: "edited_android_profile", details: { ...team } }),
};

/** What is waiting is known by its command, although devices get no commands for profiles. */
async function queue(inside: Context, rows: readonly HostProfileRow[]): Promise<QueuedCommands> {
  await wantPolicies(inside, [...new Set(rows.map(({ host_id }) => host_id))]);
  return new Map(rows.map(({ id }) => [id, inside.random.uuid()]));
}
