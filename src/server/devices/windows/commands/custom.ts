// Commands that users write themselves.
import { MASK } from "../../../../api/fields.ts";
import { statuses } from "../../../../syncml/codes.ts";
import { readCommands } from "../../../../syncml/read.ts";
import { BadSyncml, type SyncCommand } from "../../../../syncml/value.ts";
import { writeCommands } from "../../../../syncml/write.ts";
import { invalid } from "../../../platform/core/errors.ts";
import type { CommandPlatform, ReadCommand } from "../../commands/platform.ts";
import { dropSealed } from "../../commands/rows.ts";
import { commandView } from "../../commands/waiting.ts";
import { WINDOWS_LANE, windowsCommandKind } from "./kind.ts";
import { plainNode } from "./node-names.ts";
import { commandFor, contentOf, nodeOf } from "./wire.ts";

export const windowsCustomCommand = windowsCommandKind({
  name: "windows_custom_command",
  isUpcoming: true,
  view: commandView,
  outgoing: async ({ store }, { id }, content) => (await store.mdmCommands.get(id))?.sealed_content ?? content,
  ended: (inside, { id }) => dropSealed(inside, id),
});

export const windowsCommands: CommandPlatform = {
  lane: WINDOWS_LANE,
  kind: windowsCustomCommand,
  cancellable: [],
  serves: ({ platform }) => platform === "windows",
  waiting: statuses.processing,
  read: readCommand,
  // Devices ask by themselves.
  wake: async () => {},
  installsProfile: ({ kind }) => kind === "windows_profile",
  payload: ({ command_uuid, content }) => writeCommands([commandFor(command_uuid, content)]),
};

const NODE_MAX = 255;

function readCommand(bytes: Buffer): ReadCommand {
  const command = parsed(bytes);
  const problem = problemOf(command);
  if (problem !== null) throw invalid("command", problem);
  const node = nodeOf(command)!;
  const wipes = targets(command, /\/remotewipe(\/|$)/);
  const shown = masked(command);
  const content = contentOf(command);
  return {
    requestType: node,
    uuid: null,
    isPremium: wipes,
    wipes,
    isAction: wipes || targets(command, /\/(remotelock|unenroll)(\/|$)/),
    content: shown === null ? content : contentOf(shown),
    sealed: shown === null ? null : content,
  };
}

const ONE_EXEC = "the SyncML has to be one Exec with one Item";

function parsed(bytes: Buffer): SyncCommand {
  try {
    const [command, another] = readCommands(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (command && !another) return command;
  } catch (error) {
    if (error instanceof BadSyncml) throw invalid("command", error.message);
    if (error instanceof TypeError) throw invalid("command", "the command is not in UTF-8");
    throw error;
  }
  throw invalid("command", `${ONE_EXEC}: send several commands one after the other`);
}

/** Why a command is not sent to devices; null: it is. Settings are profiles, which the server keeps as they should be. */
function problemOf({ verb, items }: SyncCommand): string | null {
  if (verb !== "Exec") return `${ONE_EXEC}, but it is ${verb}: settings are changed by configuration profiles`;
  if (items.length !== 1) return `${ONE_EXEC}, but it has ${items.length}`;
  const target = items[0]!.target ?? "";
  if (target === "") return "the Exec has no Target with a LocURI";
  if (target.length > NODE_MAX) return `the Exec has a LocURI of more than ${NODE_MAX} characters`;
  return null;
}

/** Last names of nodes that let somebody into a device, a network or its data. Policies on passwords are none. */
const SECRET = /^(?!(allow|require|enable|disable))\w*(password|passphrase|secret|challenge|pin|psk|pfxcertblob)$/i;
/** Elements of settings with passwords, such as those of Wi-Fi and VPN. */
const SECRET_ELEMENT = /<(\w+:)?(keyMaterial|sharedKey|presharedKey|\w*password|\w*passphrase)[\s>]/i;

/** The command with a mask in place of its passwords; null if it has none. */
function masked(command: SyncCommand): SyncCommand | null {
  let hasSecret = false;
  const items = command.items.map((item) => {
    const name =
      plainNode(item.target ?? "", "command")
        .split("/")
        .at(-1) ?? "";
    if (!item.data || !(SECRET.test(name) || SECRET_ELEMENT.test(item.data))) return item;
    hasSecret = true;
    return { ...item, data: MASK };
  });
  return hasSecret ? { ...command, items } : null;
}

const targets = ({ items }: SyncCommand, node: RegExp): boolean =>
  items.some(({ target }) => node.test(plainNode(target ?? "", "command")));
