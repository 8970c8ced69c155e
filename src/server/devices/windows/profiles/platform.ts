// Profiles of Windows devices.

import { xmlAttribute } from "../../../../xml/write.ts";
import { hostMdm } from "../../../hosts/mdm-status/tables.ts";
import type { Context } from "../../../platform/core/context.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import { and, eq, exists, oneOf } from "../../../platform/store/query.ts";
import { applyEvents } from "../../profiles/host-rows.ts";
import type { HostProfileRow, ProfilePlatform, QueuedCommands } from "../../profiles/platform.ts";
import { sendWindowsCommands, type WindowsCommand } from "../commands/send.ts";
import { windowsObsoleteNodes, windowsProfileCommand } from "./commands.ts";
import { installing, nodesIn, readProfile, removing, sameNode } from "./file.ts";

const keyOf = ({ host_id, profile_uuid }: Pick<HostProfileRow, "host_id" | "profile_uuid">) =>
  `${host_id} ${profile_uuid}`;

export const windowsPlatform: ProfilePlatform = {
  name: "windows",
  identifiedBy: "name",
  isNamedByFile: true,
  isOn: async ({ config }) => (await config.current()).mdm.windows_enabled_and_configured,
  read: readProfile,
  fileName: ({ name }) => `${name}.xml`,
  hosts: and(eq("platform", "windows"), exists(hostMdm, "id", eq("connected_to_svc", true))),
  escape: xmlAttribute,
  enrollsLater: true,

  async install(inside, deliveries) {
    const nodesByRow = await nodesOn(
      inside,
      deliveries.map(({ row }) => row),
    );
    const desired = deliveries.map(({ row, content }) => {
      const command = installing(content);
      const nodes = nodesIn(command);
      const obsolete = nodesByRow
        .of(row)
        .filter((node) => !nodes.some((candidate) => sameNode(candidate) === sameNode(node)));
      return { row, command, nodes, obsolete, deleted: nodesByRow.deletable(row, obsolete) };
    });
    const cleaned = desired.filter(({ deleted }) => deleted.length > 0);
    // Before the profile, because they may contain nodes that it sets.
    const uuids = await sendWindowsCommands(
      inside,
      windowsObsoleteNodes,
      cleaned.map(({ row, deleted }) => ({ hostId: row.host_id, command: removing(deleted), name: row.name })),
    );
    const deleting = new Map(cleaned.map(({ row }, i) => [row.id, uuids[i]!]));
    await inside.store.windowsProfileNodes.upsert(
      desired.map(({ row, nodes, obsolete }) => ({
        host_id: row.host_id,
        profile_uuid: row.profile_uuid,
        // What an earlier content has set stays to be removed until the device has deleted it.
        nodes: [...obsolete, ...nodes],
        obsolete,
        deleting: deleting.get(row.id) ?? null,
      })),
      { on: ["host_id", "profile_uuid"] },
    );
    return queue(
      inside,
      desired.map(({ row, command }) => [row, { hostId: row.host_id, command, name: row.name }]),
    );
  },

  async remove(inside, rows) {
    const nodesByRow = await nodesOn(inside, rows);
    const removals = rows.map((row) => ({ row, nodes: nodesByRow.deletable(row, nodesByRow.of(row)) }));
    const event = { type: "removed" } as const;
    await applyEvents(
      inside,
      removals.flatMap(({ row, nodes }) => (nodes.length === 0 ? [{ row, event }] : [])),
    );
    const left = removals.filter(({ nodes }) => nodes.length > 0);
    return queue(
      inside,
      left.map(({ row, nodes }) => [row, { hostId: row.host_id, command: removing(nodes), name: row.name }]),
    );
  },

  created: ({ name }, team) => ({ type: "created_windows_profile", details: { profile_name: name, ...team } }),
  deleted: ({ name }, team) => ({ type: "deleted_windows_profile", details: { profile_name: name, ...team } }),
  edited: (_, team) => ({ type: "edited_windows_profile", details: { ...team } }),
};

interface HostNodes {
  /** What the profile has set on the host, and one of this name that it replaces. */
  of(row: HostProfileRow): readonly string[];
  /** The nodes among these that no other profile of the host sets, nor anything inside of them. */
  deletable(row: HostProfileRow, nodes: readonly string[]): readonly string[];
}

async function nodesOn({ store }: Context, rows: readonly HostProfileRow[]): Promise<HostNodes> {
  const hostIds = [...new Set(rows.map(({ host_id }) => host_id))];
  const [nodes, profiles] = await Promise.all([
    store.windowsProfileNodes.list({ where: oneOf("host_id", hostIds) }),
    store.hostProfiles.pick(["host_id", "profile_uuid", "identifier", "operation_type"], {
      where: and(oneOf("host_id", hostIds), eq("platform", "windows")),
    }),
  ]);
  const nodesByKey = new Map(nodes.map((row) => [keyOf(row), row.nodes]));
  const installedKeys = new Set(
    profiles.flatMap((profile) => (profile.operation_type === "install" ? [keyOf(profile)] : [])),
  );
  const leaving = groupBy(
    profiles.filter(({ operation_type }) => operation_type === "remove"),
    ({ host_id, identifier }) => `${host_id} ${identifier}`,
  );
  const byHost = groupBy(
    nodes.filter((row) => installedKeys.has(keyOf(row))),
    ({ host_id }) => host_id,
  );
  return {
    of(row) {
      const replaced = row.operation_type === "install" ? leaving.get(`${row.host_id} ${row.identifier}`) : undefined;
      return [...new Set([row, ...(replaced ?? [])].flatMap((profile) => nodesByKey.get(keyOf(profile)) ?? []))];
    },
    deletable(row, candidates) {
      const others = (byHost.get(row.host_id) ?? []).filter(({ profile_uuid }) => profile_uuid !== row.profile_uuid);
      const kept = others.flatMap((row) => {
        const obsolete = new Set(row.obsolete);
        return row.nodes.filter((node) => !obsolete.has(node)).map(sameNode);
      });
      return candidates.filter((node) => {
        const name = sameNode(node);
        return !kept.some((keptName) => keptName === name || keptName.startsWith(`${name}/`));
      });
    },
  };
}

async function queue(
  inside: Context,
  pairs: readonly (readonly [HostProfileRow, WindowsCommand])[],
): Promise<QueuedCommands> {
  const uuids = await sendWindowsCommands(
    inside,
    windowsProfileCommand,
    pairs.map(([, command]) => command),
  );
  return new Map(pairs.map(([row], i) => [row.id, uuids[i]!]));
}
