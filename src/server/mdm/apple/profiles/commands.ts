// The commands by which profiles reach Apple devices.
import { readPlistDict } from "../../../../plist/read.ts";
import { bytesIn, type PlistDict } from "../../../../plist/value.ts";
import { profileAnswered } from "../../profiles/host-rows.ts";
import { fillLate } from "../../profiles/late.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import { fillOrFail } from "../../profiles/requested.ts";
import { type AppleAnswer, appleCommandKind, CONTENT_MAX, type MadeLate } from "../commands/kind.ts";
import { inPlist } from "./escape.ts";

const noSecrets: PlistDict = {};

export const appleProfileCommand = appleCommandKind({
  name: "apple_profile",
  title: "profile",
  async secrets({ store }, operation, command) {
    const payload = bytesIn(command, "Payload")?.toString("utf8") ?? "";
    const expanded = await fillLate(store, operation, payload, inPlist);
    return expanded === payload ? noSecrets : { Payload: Buffer.from(expanded) };
  },
  async ended(inside, operation, { state, result }) {
    if (result === null) return;
    const event = state === "answered" ? ({ type: "acknowledged" } as const) : errorOf(result);
    await profileAnswered(inside, operation.host_id, operation.uuid, event);
    // Sent again at once, as often as the rules allow.
    if (event.type === "error") await notifyProfiles(inside.store, { hostIds: [operation.host_id] });
  },
});

/** With what certificate authorities give for this device. */
export const profileCommand: MadeLate = async (ctx, operation, content) => {
  const command = readPlistDict(Buffer.from(content), CONTENT_MAX);
  const payload = bytesIn(command, "Payload")?.toString("utf8") ?? "";
  const filled = await fillOrFail(ctx, operation, payload, inPlist);
  return filled === payload ? command : { ...command, Payload: Buffer.from(filled) };
};

const errorOf = ({ status, detail }: AppleAnswer) =>
  ({ type: "error", detail: detail === "" ? `the device answered ${status}` : detail }) as const;
