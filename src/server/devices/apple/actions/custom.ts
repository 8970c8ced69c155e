// Commands that users write themselves.

import { MASK } from "../../../../api/fields.ts";
import { readPlistDict } from "../../../../plist/read.ts";
import { BadPlist, dictIn, isDict, type PlistDict, type PlistValue, stringIn } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import { actionDone } from "../../../hosts/host-actions/outcome.ts";
import { ownMdm } from "../../../hosts/mdm-status/own.ts";
import type { Inside } from "../../../hosts/operations/kind.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { isPhone } from "../../../platform/core/platforms.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { CommandPlatform, ReadCommand } from "../../commands/platform.ts";
import { dropSealed, PENDING } from "../../commands/rows.ts";
import type { mdmCommands } from "../../commands/tables.ts";
import { commandView } from "../../commands/waiting.ts";
import { expectReturn, LOCKS_WITHIN } from "../channel/devices.ts";
import { appleCommandKind, CONTENT_MAX } from "../commands/kind.ts";
import { applePayload, storedCommand } from "../commands/payload.ts";
import { APPLE_LANE } from "../lane.ts";
import { comparable } from "../profiles/own.ts";
import { enrollmentsOfHosts } from "../push/devices.ts";
import { push } from "../push/push.ts";

type CommandRow = RowOf<typeof mdmCommands>;

const ERASE = "EraseDevice";
const LOCK = "DeviceLock";
const ACTIONS = [ERASE, LOCK, "EnableLostMode", "DisableLostMode", "ClearPasscode"];

export const appleCustomCommand = appleCommandKind({
  name: "apple_custom_command",
  isUpcoming: true,
  view: commandView,
  async secrets({ store }, { id }) {
    const sealed = (await store.mdmCommands.get(id))?.sealed_content ?? null;
    return sealed === null ? {} : readPlistDict(Buffer.from(sealed), CONTENT_MAX);
  },
  async ended(inside, operation, { state }) {
    const command = await inside.store.mdmCommands.get(operation.id);
    if (!command) return;
    if (state === "answered") await showEffect(inside, command);
    await dropSealed(inside, operation.id);
  },
});

const removesManagement = (command: PlistDict): boolean =>
  comparable(stringIn(command, "Identifier") ?? "") === comparable(ownMdm.payloadIdentifier);

/** What the device has done shows in the state of its host, as if it had been asked by the host's own actions. */
async function showEffect(
  inside: Inside,
  { host_id, request_type, sealed_content: sealed }: CommandRow,
): Promise<void> {
  const host = await inside.store.hosts.get(host_id);
  if (request_type === ERASE) return actionDone(inside, host_id, "wipe", null);
  if (host && isPhone(host.platform)) {
    if (request_type === "EnableLostMode") await actionDone(inside, host_id, "lock", null);
    if (request_type === "DisableLostMode") await actionDone(inside, host_id, "unlock", null);
    return;
  }
  const pin =
    request_type === LOCK && sealed !== null ? stringIn(readPlistDict(Buffer.from(sealed), CONTENT_MAX), "PIN") : null;
  if (pin === null) return;
  await actionDone(inside, host_id, "lock", pin);
  await expectReturn(inside, host_id, LOCKS_WITHIN);
}

export const appleCommands: CommandPlatform = {
  lane: APPLE_LANE,
  waiting: PENDING,
  kind: appleCustomCommand,
  cancellable: [LOCK, ERASE, "ClearPasscode", "EnableLostMode"],
  serves: ({ platform }) => ["darwin", "ios", "ipados"].includes(platform),
  read: readCommand,
  wake: async (inside, hostIds) => push(inside, await enrollmentsOfHosts(inside.store, hostIds)),
  installsProfile: ({ request_type }) => request_type === "InstallProfile",
  payload: ({ command_uuid: CommandUUID, content }) => applePayload(CommandUUID, storedCommand(content)),
};

const NAME_MAX = 255;

function readCommand(bytes: Buffer): ReadCommand {
  const list = parsed(bytes);
  const command = dictIn(list, "Command");
  if (command === null) throw invalid("command", "the property list has no dictionary named Command");
  const requestType = stringIn(command, "RequestType") ?? "";
  if (!/^[A-Za-z0-9.]+$/.test(requestType) || requestType.length > NAME_MAX)
    throw invalid("command", "the Command has no RequestType");
  const uuid = stringIn(list, "CommandUUID");
  // The uuid becomes part of paths of the API.
  if (uuid !== null && (!/^[A-Za-z0-9._-]*[A-Za-z0-9_-]$/.test(uuid) || uuid.length > NAME_MAX))
    throw invalid("command", "the CommandUUID may have letters, digits, points, dashes and underscores only");
  const shown = masked(command);
  const content = writePlist(command);
  return {
    requestType,
    uuid,
    isPremium: requestType === ERASE || requestType === LOCK,
    wipes: requestType === ERASE,
    isAction: ACTIONS.includes(requestType) || (requestType === "RemoveProfile" && removesManagement(command)),
    content: shown === null ? content : writePlist(shown),
    sealed: shown === null ? null : content,
  };
}

/** Names of members that let somebody into a device, or into its data. */
const SECRET = /^(PIN|UnlockToken|BootstrapToken|\w*Password|passwordHash|PrivateKeyExport)$/;

/** The command with a mask in place of its passwords, at any depth; null if it has none. */
function masked(command: PlistDict): PlistDict | null {
  let isFound = false;
  const dict = (value: PlistDict): PlistDict =>
    Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        if (!SECRET.test(key)) return [key, any(member)];
        isFound = true;
        return [key, MASK];
      }),
    );
  const any = (value: PlistValue): PlistValue =>
    Array.isArray(value) ? value.map(any) : isDict(value) ? dict(value) : value;
  const shown = dict(command);
  return isFound ? shown : null;
}

function parsed(bytes: Buffer): PlistDict {
  try {
    return readPlistDict(bytes);
  } catch (error) {
    if (error instanceof BadPlist) throw invalid("command", `the command is not a property list: ${error.message}`);
    throw error;
  }
}
