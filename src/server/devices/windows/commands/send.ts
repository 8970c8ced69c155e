// Queues commands for Windows devices, which fetch them in their next session.
import type { SyncCommand } from "../../../../syncml/value.ts";
import type { OperationKind } from "../../../hosts/operations/kind.ts";
import type { Context } from "../../../platform/core/context.ts";
import { addCommands } from "../../commands/rows.ts";
import type { WindowsAnswer } from "./kind.ts";
import { contentOf, nodeOf } from "./wire.ts";

export interface WindowsCommand {
  readonly hostId: number;
  /** A request, or an Atomic of several. Its ids are not used. */
  readonly command: SyncCommand;
  /** Name of the profile, if the command concerns one. */
  readonly name?: string;
}

/** Queues commands in the caller's transaction. Returns the uuid of each. */
export const sendWindowsCommands = (
  inside: Context,
  kind: OperationKind<WindowsAnswer>,
  commands: readonly WindowsCommand[],
): Promise<string[]> =>
  addCommands(
    inside,
    kind,
    commands.map(({ hostId, command, name = null }) => ({
      hostId,
      requestType: nodeOf(command) ?? command.verb,
      name,
      content: contentOf(command),
    })),
  );
