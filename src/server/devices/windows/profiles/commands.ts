// The commands by which profiles reach Windows devices.

import { isDone, statuses } from "../../../../syncml/codes.ts";
import { xmlAttribute } from "../../../../xml/write.ts";
import type { Inside, Operation } from "../../../hosts/operations/kind.ts";
import { and, eq, not, oneOf } from "../../../platform/store/query.ts";
import { applyEvents, profileAnswered } from "../../profiles/host-rows.ts";
import { fillLate } from "../../profiles/late.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import { fillOrFail } from "../../profiles/requested.ts";
import type { WindowsDeviceListener } from "../channel/listeners.ts";
import { repliesTo, type WindowsMadeLate, windowsCommandKind } from "../commands/kind.ts";
import { checksOfRows } from "./checks.ts";

export const windowsProfileCommand = windowsCommandKind({
  name: "windows_profile",
  title: "profile",
  outgoing: ({ store }, operation, content) => fillLate(store, operation, content, xmlAttribute),
  async ended(inside, operation, { state, result }) {
    if (result === null) return;
    const event =
      state === "answered"
        ? ({ type: "acknowledged" } as const)
        : ({ type: "error", detail: result.detail, isGone: await isGone(inside, operation) } as const);
    await profileAnswered(inside, operation.host_id, operation.uuid, event);
    if (event.type === "acknowledged" || event.isGone) await settle(inside, operation);
    // The profile may be tried again.
    if (event.type === "error") await notifyProfiles(inside.store, { hostIds: [operation.host_id] });
  },
});

/** The content with what certificate authorities give for this device. */
const windowsProfileContent: WindowsMadeLate = (ctx, operation, content) =>
  fillOrFail(ctx, operation, content, xmlAttribute);

export const windowsProfileListener: WindowsDeviceListener = {
  builtLate: { [windowsProfileCommand.name]: windowsProfileContent },
};

/** Deletes what an edited profile has set and does not set any more. */
export const windowsObsoleteNodes = windowsCommandKind({
  name: "windows_obsolete_nodes",
  title: "profile",
  async ended(inside, operation, { state, result }) {
    if (state !== "answered" && !(result !== null && (await isGone(inside, operation)))) return;
    const { store } = inside;
    const row = await store.windowsProfileNodes.first({
      where: and(eq("host_id", operation.host_id), eq("deleting", operation.uuid)),
    });
    if (!row) return;
    const obsolete = new Set(row.obsolete);
    const nodes = row.nodes.filter((node) => !obsolete.has(node));
    await store.windowsProfileNodes.update({ where: eq("id", row.id), set: { nodes, obsolete: [], deleting: null } });
  },
});

/** The device has done it: of a removed profile nothing is left, and some profiles cannot be read afterwards. */
async function settle(inside: Inside, { host_id, uuid }: Operation): Promise<void> {
  const { store, clock } = inside;
  const ofHost = and(eq("host_id", host_id), eq("platform", "windows"));
  const rows = await store.hostProfiles.list({
    where: and(ofHost, eq("command_uuid", uuid), eq("status", "verifying")),
  });
  const checks = await checksOfRows(store, rows);
  const event = { type: "listed", installed_at: null, reported_at: clock.iso() } as const;
  await applyEvents(
    inside,
    rows.flatMap((row) => (checks.get(row.id)?.length === 0 ? [{ row, event }] : [])),
  );
  const profiles = await store.hostProfiles.pick(["profile_uuid"], { where: ofHost });
  const uuids = profiles.map(({ profile_uuid }) => profile_uuid);
  await store.windowsProfileNodes.delete(and(eq("host_id", host_id), not(oneOf("profile_uuid", uuids))));
}

/** Whether nothing was wrong but that nodes were missing. */
async function isGone(inside: Inside, operation: Operation): Promise<boolean> {
  const replies = await repliesTo(inside, operation);
  return replies.every(
    ({ verb, cmdRef, data }) =>
      verb !== "Status" || cmdRef === operation.uuid || data === statuses.notFound || isDone(data ?? ""),
  );
}
