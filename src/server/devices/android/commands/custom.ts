// Commands that users write themselves: JSON, as the Android Management API describes it.
import { isDeeper, isRecord } from "../../../../text/record.ts";
import { actionDone } from "../../../hosts/host-actions/outcome.ts";
import { invalid } from "../../../platform/core/errors.ts";
import type { CommandPlatform, ReadCommand } from "../../commands/platform.ts";
import { PENDING } from "../../commands/rows.ts";
import { commandView } from "../../commands/waiting.ts";
import { ANDROID_LANE } from "../lane.ts";
import { androidCommandKind, DELETE_DEVICE, WIPE } from "./kind.ts";
import { wantCommands } from "./send.ts";
import { commandFor, masked } from "./wire.ts";

export const androidCustomCommand = androidCommandKind({
  name: "android_custom_command",
  view: commandView,
  async ended({ store }, { id, host_id }, { state }) {
    const type = state === "answered" ? (await store.mdmCommands.get(id))?.request_type : undefined;
    if (type === WIPE) await actionDone({ store }, host_id, "wipe", null);
  },
});

/** Devices lose their data by these: all of it, or that of the work profile. */
const WIPES = [WIPE, "RELINQUISH_OWNERSHIP"];
const LOCKS = ["LOCK", "RESET_PASSWORD", "START_LOST_MODE", "STOP_LOST_MODE"];
const PREMIUM = ["LOCK", "RESET_PASSWORD"];

export const androidCommands: CommandPlatform = {
  lane: ANDROID_LANE,
  waiting: PENDING,
  kind: androidCustomCommand,
  cancellable: ["LOCK", "RESET_PASSWORD", "REBOOT", WIPE],
  serves: ({ platform }) => platform === "android",
  read: readCommand,
  wake: wantCommands,
  // Profiles reach these devices as parts of their policy.
  installsProfile: () => false,
  payload: ({ content }) => JSON.stringify(commandFor(content)),
};

const DEPTH_MAX = 64;

function readCommand(bytes: Buffer): ReadCommand {
  const command = parsed(bytes);
  const { type } = command;
  if (typeof type !== "string" || !/^[A-Z][A-Z0-9_]{0,99}$/.test(type))
    throw invalid("command", "the command has no type, such as LOCK");
  if (type === DELETE_DEVICE) throw invalid("command", `${type} is not a type of the Android Management API`);
  if (isDeeper(command, DEPTH_MAX))
    throw invalid("command", `the command has more than ${DEPTH_MAX} lists and objects inside each other`);
  const content = JSON.stringify(command);
  const { value, isMasked } = masked(command);
  return {
    requestType: type,
    uuid: null,
    isPremium: PREMIUM.includes(type),
    wipes: WIPES.includes(type),
    isAction: [...WIPES, ...LOCKS].includes(type),
    content: isMasked ? JSON.stringify(value) : content,
    sealed: isMasked ? content : null,
  };
}

function parsed(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (isRecord(value)) return value;
  } catch {
    // Text that cannot be parsed is refused below, like other text that is no object.
  }
  throw invalid("command", "the command is not a JSON object");
}
