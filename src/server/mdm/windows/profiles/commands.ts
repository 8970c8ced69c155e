// The commands by which profiles reach Windows devices.
import { isDone, statuses } from "../../../../syncml/codes.ts";
import { xmlAttribute } from "../../../../xml/write.ts";
import type { Inside, Operation } from "../../../operations/kind.ts";
import { profileAnswered } from "../../profiles/host-rows.ts";
import { fillLate } from "../../profiles/late.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import { repliesTo, windowsCommandKind } from "../commands/kind.ts";

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
    // It may be tried again.
    if (event.type === "error") await notifyProfiles(inside.store, { hostIds: [operation.host_id] });
  },
});

/** Whether nothing was wrong but that nodes were missing. */
async function isGone(inside: Inside, operation: Operation): Promise<boolean> {
  const replies = await repliesTo(inside, operation);
  return replies.every(
    ({ verb, cmdRef, data }) =>
      verb !== "Status" || cmdRef === operation.uuid || data === statuses.notFound || isDone(data ?? ""),
  );
}
