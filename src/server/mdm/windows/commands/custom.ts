// Commands that users write themselves.
import { MASK } from "../../../../api/fields.ts";
import { readCommands } from "../../../../syncml/read.ts";
import { BadSyncml, everyCommand, isRequest, type SyncCommand } from "../../../../syncml/value.ts";
import { writeCommands } from "../../../../syncml/write.ts";
import { invalid } from "../../../core/errors.ts";
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
  read: readCommand,
  // Devices ask by themselves.
  wake: async () => {},
  installsProfile: ({ kind }) => kind === "windows_profile",
  payload: ({ command_uuid, content }) => writeCommands([commandFor(command_uuid, content)]),
};

const NODE_MAX = 255;

function readCommand(bytes: Buffer): ReadCommand {
  const command = parsed(bytes);
  for (const problem of problemsOf(command)) throw invalid("command", problem);
  const node = nodeOf(command)!;
  const wipes = [...everyCommand([command])].some(isWipe);
  const shown = masked(command);
  const content = contentOf(command);
  return {
    requestType: node,
    uuid: null,
    isPremium: wipes,
    wipes,
    isAction: wipes || [...everyCommand([command])].some((one) => targets(one, /\/(remotelock|unenroll)(\/|$)/)),
    content: shown === null ? content : contentOf(shown),
    sealed: shown === null ? null : content,
  };
}

function parsed(bytes: Buffer): SyncCommand {
  try {
    const [command, another] = readCommands(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (command && !another) return command;
  } catch (error) {
    if (error instanceof BadSyncml) throw invalid("command", error.message);
    if (error instanceof TypeError) throw invalid("command", "the command is not in UTF-8");
    throw error;
  }
  throw invalid("command", "the SyncML has to be one command; several can be the commands of one Atomic");
}

/** Why a command is not sent to devices. */
export function* problemsOf(command: SyncCommand): Generator<string> {
  const isAtomic = command.verb === "Atomic";
  if (!isAtomic && !isRequest(command)) yield `${command.verb} is not a command for devices`;
  if (isAtomic && command.commands.length === 0) yield "the Atomic has no commands";
  for (const inner of command.commands) {
    if (inner.verb === "Get" || !isRequest(inner)) yield `an Atomic cannot have a command ${inner.verb}`;
  }
  for (const { verb, items } of isAtomic ? command.commands : [command]) {
    if (items.length === 0 || items.some(({ target }) => !target)) yield `the ${verb} has no Target with a LocURI`;
    if (items.some(({ target }) => (target?.length ?? 0) > NODE_MAX))
      yield `the ${verb} has a LocURI of more than ${NODE_MAX} characters`;
  }
}

/** Last names of nodes that let somebody into a device, a network or its data. Policies on passwords are none. */
const SECRET = /^(?!(allow|require|enable|disable))\w*(password|passphrase|secret|challenge|pin|psk|pfxcertblob)$/i;
/** Elements of settings with passwords, such as those of Wi-Fi and VPN. */
const SECRET_ELEMENT = /<(\w+:)?(keyMaterial|sharedKey|presharedKey|\w*password|\w*passphrase)[\s>]/i;

/** The command with a mask in place of its passwords; null if it has none. */
function masked(command: SyncCommand): SyncCommand | null {
  let found = false;
  const shown = (one: SyncCommand): SyncCommand => ({
    ...one,
    commands: one.commands.map(shown),
    items: one.items.map((item) => {
      const name =
        plainNode(item.target ?? "", "command")
          .split("/")
          .at(-1) ?? "";
      if (!item.data || !(SECRET.test(name) || SECRET_ELEMENT.test(item.data))) return item;
      found = true;
      return { ...item, data: MASK };
    }),
  });
  const result = shown(command);
  return found ? result : null;
}

const targets = ({ items }: SyncCommand, node: RegExp): boolean =>
  items.some(({ target }) => node.test(plainNode(target ?? "", "command")));
const isWipe = (command: SyncCommand): boolean => targets(command, /\/remotewipe(\/|$)/);
