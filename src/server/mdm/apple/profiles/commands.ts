// The commands by which profiles reach Apple devices.
import { bytesIn, type PlistDict } from "../../../../plist/value.ts";
import { profileAnswered } from "../../profiles/host-rows.ts";
import { fillLate } from "../../profiles/late.ts";
import { type AppleAnswer, appleCommandKind } from "../commands/kind.ts";
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
  },
});

const errorOf = ({ status, detail }: AppleAnswer) =>
  ({ type: "error", detail: detail === "" ? `the device answered ${status}` : detail }) as const;
