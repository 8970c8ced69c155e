// Commands of Windows devices as operations. Each feature that sends some defines a kind of its own.

import { readSyncml } from "../../../../syncml/read.ts";
import type { SyncCommand } from "../../../../syncml/value.ts";
import type { Ending, Inside, Lane, Operation, OperationKind, OperationView } from "../../../hosts/operations/kind.ts";
import { days } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { removeCommand } from "../../commands/rows.ts";

export const WINDOWS_LANE: Lane = "windows";

/** What a device has answered to a command. `repliesTo` returns all of it. */
export interface WindowsAnswer {
  /** The status of the command, or that of the first command inside of it that failed. */
  readonly status: string;
  readonly isDone: boolean;
  /** The nodes that failed, and how; empty if none did. */
  readonly detail: string;
}

/** Returns the content with what belongs to one device. Outside of transactions; may throw `NotMade`. */
export type WindowsMadeLate = (ctx: Context, operation: Operation, content: string) => Promise<string>;

interface WindowsCommandKind {
  readonly name: string;
  /** The command's name in lists of what is upcoming on a host. */
  readonly title?: string;
  /** Whether users see it in these lists, and may cancel it before the device got it. */
  readonly isUpcoming?: boolean;
  /** Commands of a device with the lowest number come first. */
  readonly priority?: number;
  /** How users see it in these lists. Default: as a script. */
  readonly view?: OperationView;
  /** The command with secrets, which are not stored with it. Runs when the device gets it. */
  outgoing?(inside: Pick<Inside, "store">, operation: Operation, content: string): Promise<string>;
  /** Milliseconds for which commands and their answers are kept after they have ended. */
  readonly keptFor?: number;
  /** Runs in the transaction in which it ends. */
  ended(inside: Inside, operation: Operation, ending: Ending<WindowsAnswer>): Promise<void>;
}

/** A kind of operation in the queue of Windows devices. It is named in `operationKinds` of `server/extensions.ts`. */
export const windowsCommandKind = ({
  name,
  title = "command",
  isUpcoming = false,
  priority = 10,
  view,
  outgoing,
  keptFor = days(30),
  ended,
}: WindowsCommandKind): OperationKind<WindowsAnswer> => ({
  name,
  lane: WINDOWS_LANE,
  priority,
  // What was not answered is sent again in the next session, with the same id.
  attempts: 1,
  title,
  isHidden: !isUpcoming,
  isCancellableOnceSent: false,
  expires: false,
  keptFor,
  ...(view && { view }),
  ...(outgoing && { outgoing }),
  isDone: ({ isDone }) => isDone,
  async ended(inside, operation, ending) {
    if (ending.state === "cancelled") await removeCommand(inside, operation.id);
    await ended(inside, operation, ending);
  },
});

/** What the device has replied to the command: its statuses and results. For `ended`. */
export async function repliesTo({ store }: Pick<Inside, "store">, { id }: Operation): Promise<readonly SyncCommand[]> {
  const command = await store.mdmCommands.get(id);
  return command?.result == null ? [] : readSyncml(Buffer.from(command.result, "base64")).commands;
}
