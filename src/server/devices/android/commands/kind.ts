// Commands of Android devices as operations. Each feature that sends some defines a kind of its own.

import type { Ending, Inside, Operation, OperationKind, OperationView } from "../../../hosts/operations/kind.ts";
import { days } from "../../../platform/core/clock.ts";
import { removeCommand } from "../../commands/rows.ts";
import { ANDROID_LANE } from "../lane.ts";

/** What a device has answered to a command. */
export interface AndroidAnswer {
  readonly isDone: boolean;
  /** Why it was not done. */
  readonly detail: string;
}

/**
 * The type of a command that is none of the vendor's: the device is deleted at the vendor, which removes the work
 * profile of a personal device.
 */
export const DELETE_DEVICE = "DELETE_DEVICE";

export const WIPE = "WIPE";

interface AndroidCommandKind {
  readonly name: string;
  /** The command's name in lists of what is upcoming on a host. */
  readonly title?: string;
  /** Commands of a device with the lowest number come first. */
  readonly priority?: number;
  /** How users see it in these lists. Default: as a script. */
  readonly view?: OperationView;
  /** Runs in the transaction in which it ends. */
  ended(inside: Inside, operation: Operation, ending: Ending<AndroidAnswer>): Promise<void>;
}

/** A kind of operation in the queue of Android devices. It is named in `operationKinds` of `server/extensions.ts`. */
export const androidCommandKind = ({
  name,
  title = "command",
  priority = 10,
  view,
  ended,
}: AndroidCommandKind): OperationKind<AndroidAnswer> => ({
  name,
  lane: ANDROID_LANE,
  priority,
  attempts: 1,
  title,
  isCancellableOnceSent: false,
  // The vendor reports what became of it.
  expires: false,
  keptFor: days(30),
  ...(view && { view }),
  /** With passwords, which the stored content does not have. */
  outgoing: async ({ store }, { id }, content) => (await store.mdmCommands.get(id))?.sealed_content ?? content,
  isDone: ({ isDone }) => isDone,
  async ended(inside, operation, ending) {
    if (ending.state === "cancelled") await removeCommand(inside, operation.id);
    await ended(inside, operation, ending);
  },
});
