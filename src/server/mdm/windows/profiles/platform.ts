// Profiles of Windows devices.

import { xmlAttribute } from "../../../../xml/write.ts";
import type { Context } from "../../../core/context.ts";
import { hostMdm } from "../../../mdm-status/tables.ts";
import { and, eq, exists, oneOf } from "../../../store/query.ts";
import type { HostProfileRow, ProfilePlatform, Queued } from "../../profiles/platform.ts";
import { sendWindowsCommands, type WindowsCommand } from "../commands/send.ts";
import { windowsProfileCommand } from "./commands.ts";
import { installing, nodesIn, readProfile, removing } from "./file.ts";

const keyOf = ({ host_id, profile_uuid }: Pick<HostProfileRow, "host_id" | "profile_uuid">) =>
  `${host_id} ${profile_uuid}`;

export const windowsPlatform: ProfilePlatform = {
  name: "windows",
  isOn: async ({ config }) => (await config.current()).mdm.windows_enabled_and_configured,
  read: readProfile,
  fileName: ({ name }) => `${name}.xml`,
  hosts: and(eq("platform", "windows"), exists(hostMdm, "id", eq("connected_to_svc", true))),
  escape: xmlAttribute,

  async install(inside, deliveries) {
    const before = await nodesOn(
      inside,
      deliveries.map(({ row }) => row),
    );
    const wanted = deliveries.map(({ row, content }) => ({ row, command: installing(content) }));
    await inside.store.windowsProfileNodes.upsert(
      wanted.map(({ row, command }) => ({
        host_id: row.host_id,
        profile_uuid: row.profile_uuid,
        // What an earlier content has set stays to be removed.
        nodes: [...new Set([...(before.get(keyOf(row)) ?? []), ...nodesIn(command)])],
      })),
      { on: ["host_id", "profile_uuid"] },
    );
    return queue(
      inside,
      wanted.map(({ row, command }) => [row, { hostId: row.host_id, command, name: row.name }]),
    );
  },

  async remove(inside, rows) {
    const nodes = await nodesOn(inside, rows);
    return queue(
      inside,
      rows.map((row) => {
        const command = removing(nodes.get(keyOf(row)) ?? []);
        return [row, { hostId: row.host_id, command, name: row.name }];
      }),
    );
  },

  created: ({ name }, team) => ({ type: "created_windows_profile", details: { profile_name: name, ...team } }),
  deleted: ({ name }, team) => ({ type: "deleted_windows_profile", details: { profile_name: name, ...team } }),
  edited: (_, team) => ({ type: "edited_windows_profile", details: { ...team } }),
};

async function nodesOn(
  { store }: Context,
  rows: readonly HostProfileRow[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const where = and(
    oneOf("host_id", [...new Set(rows.map(({ host_id }) => host_id))]),
    oneOf("profile_uuid", [...new Set(rows.map(({ profile_uuid }) => profile_uuid))]),
  );
  return new Map((await store.windowsProfileNodes.list({ where })).map((row) => [keyOf(row), row.nodes]));
}

async function queue(inside: Context, wanted: readonly (readonly [HostProfileRow, WindowsCommand])[]): Promise<Queued> {
  const uuids = await sendWindowsCommands(
    inside,
    windowsProfileCommand,
    wanted.map(([, command]) => command),
  );
  return new Map(wanted.map(([row], i) => [row.id, uuids[i]!]));
}
