// Commands that users write themselves.
import { readPlistDict } from "../../../../plist/read.ts";
import { BadPlist, dictIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import { invalid } from "../../../core/errors.ts";
import type { CommandPlatform, ReadCommand } from "../../commands/platform.ts";
import { commandView } from "../../commands/waiting.ts";
import { push } from "../push/push.ts";
import { APPLE_LANE, appleCommandKind } from "./kind.ts";

const ERASE = "EraseDevice";
const LOCK = "DeviceLock";

export const appleCustomCommand = appleCommandKind({
  name: "apple_custom_command",
  isUpcoming: true,
  view: commandView,
  ended: async () => {},
});

export const appleCommands: CommandPlatform = {
  lane: APPLE_LANE,
  kind: appleCustomCommand,
  cancellable: [LOCK, ERASE, "ClearPasscode", "EnableLostMode"],
  serves: ({ platform }) => ["darwin", "ios", "ipados"].includes(platform),
  read: readCommand,
  wake: async (inside, hostIds) => push(inside, await inside.extensions.pushDevices.ofHosts(inside.store, hostIds)),
  payload: ({ command_uuid: CommandUUID, content }) => applePayload(CommandUUID, content),
};

/** Profiles are sent inside of commands. */
const CONTENT_MAX = { bytes: 16 * 1024 * 1024 };

/** A command as the device gets it. */
export const applePayload = (CommandUUID: string, content: string): string =>
  writePlist({ CommandUUID, Command: readPlistDict(Buffer.from(content), CONTENT_MAX) });

const NAME_MAX = 255;

function readCommand(bytes: Buffer): ReadCommand {
  const list = parsed(bytes);
  const command = dictIn(list, "Command");
  if (command === null) throw invalid("command", "the property list has no dictionary named Command");
  const requestType = stringIn(command, "RequestType") ?? "";
  if (!/^[A-Za-z0-9.]+$/.test(requestType) || requestType.length > NAME_MAX)
    throw invalid("command", "the Command has no RequestType");
  const uuid = stringIn(list, "CommandUUID");
  // It is part of paths of the API.
  if (uuid !== null && (!/^[A-Za-z0-9._-]*[A-Za-z0-9_-]$/.test(uuid) || uuid.length > NAME_MAX))
    throw invalid("command", "the CommandUUID may have letters, digits, points, dashes and underscores only");
  return {
    requestType,
    uuid,
    isPremium: requestType === ERASE || requestType === LOCK,
    wipes: requestType === ERASE,
    content: writePlist(command),
  };
}

function parsed(bytes: Buffer): PlistDict {
  try {
    return readPlistDict(bytes);
  } catch (error) {
    if (error instanceof BadPlist) throw invalid("command", `the command is not a property list: ${error.message}`);
    throw error;
  }
}
