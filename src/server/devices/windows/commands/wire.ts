// How a command is stored, and how the device gets it.
import { readCommands } from "../../../../syncml/read.ts";
import { everyCommand, type SyncCommand } from "../../../../syncml/value.ts";
import { writeCommands } from "../../../../syncml/write.ts";

/** Commands are stored without ids, so that many hosts share one content. */
export const contentOf = (command: SyncCommand): string => writeCommands([withIds(command, () => "")]);

/** The stored command with the ids that the device names in its answers. */
export const commandFor = (uuid: string, content: string): SyncCommand => {
  const [command] = readCommands(content);
  if (!command) throw new Error("a command without content was queued");
  let inner = 0;
  return withIds(command, (isRoot) => (isRoot ? uuid : `${uuid}.${++inner}`));
};

function withIds(command: SyncCommand, id: (isRoot: boolean) => string, isRoot = true): SyncCommand {
  const cmdId = id(isRoot);
  return { ...command, cmdId, commands: command.commands.map((inner) => withIds(inner, id, false)) };
}

/** The uuid of the command that this id is in. */
export const uuidOf = (cmdRef: string): string => cmdRef.split(".", 1)[0]!;

/** The node that the command is about; of a container, that of its first command. */
export function nodeOf(command: SyncCommand): string | null {
  for (const { items } of everyCommand([command])) if (items[0]?.target) return items[0].target;
  return null;
}
