// The commands by which profiles reach Apple devices.

import { readPlistDict } from "../../../../plist/read.ts";
import { bytesIn, dictsIn, numberIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { profileAnswered } from "../../profiles/host-rows.ts";
import { fillLate } from "../../profiles/late.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import { fillOrFail } from "../../profiles/requested.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";
import { type AppleAnswer, answerOf, appleCommandKind, CONTENT_MAX, type LateContent } from "../commands/kind.ts";
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
    const isGone = state === "failed" && isNotInstalled(await answerOf(inside, operation));
    const event = state === "answered" ? ({ type: "acknowledged" } as const) : errorOf(result, isGone);
    await profileAnswered(inside, operation.host_id, operation.uuid, event);
    // Sent again at once, as often as the rules allow.
    if (event.type === "error") await notifyProfiles(inside.store, { hostIds: [operation.host_id] });
  },
});

/** The command with what certificate authorities give for this device. */
const profileCommand: LateContent = async (ctx, operation, content) => {
  const command = readPlistDict(Buffer.from(content), CONTENT_MAX);
  const payload = bytesIn(command, "Payload")?.toString("utf8") ?? "";
  const filled = await fillOrFail(ctx, operation, payload, inPlist);
  return filled === payload ? command : { ...command, Payload: Buffer.from(filled) };
};

export const appleProfileListener: AppleDeviceListener = { builtLate: { [appleProfileCommand.name]: profileCommand } };

const errorOf = ({ status, detail }: AppleAnswer, isGone: boolean) =>
  ({ type: "error", detail: detail === "" ? `the device answered ${status}` : detail, isGone }) as const;

/** Errors of Macs, and of iPhones and iPads, which do not have the profile that they should remove. */
const notInstalled: readonly { readonly domain: RegExp; readonly code: number }[] = [
  { domain: /^MDMClientError$/, code: 89 },
  { domain: /MDMErrorDomain$/, code: 12_075 },
];

const isNotInstalled = (answer: PlistDict | null): boolean =>
  answer !== null &&
  dictsIn(answer, "ErrorChain").some((error) =>
    notInstalled.some(
      ({ domain, code }) => domain.test(stringIn(error, "ErrorDomain") ?? "") && numberIn(error, "ErrorCode") === code,
    ),
  );
