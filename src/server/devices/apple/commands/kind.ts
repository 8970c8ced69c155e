// Commands of Apple devices as operations. Each feature that sends some defines a kind of its own.
import { readPlistDict } from "../../../../plist/read.ts";
import type { PlistDict } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import type { Ending, Inside, Operation, OperationKind, OperationView } from "../../../hosts/operations/kind.ts";
import { days } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { removeCommand } from "../../commands/rows.ts";
import { APPLE_LANE } from "../lane.ts";

/** What a device has answered to a command. `answerOf` returns the whole message. */
export interface AppleAnswer {
  /** `Acknowledged`, `Error` or `CommandFormatError`. */
  readonly status: string;
  /** Why it failed; empty if it did not. */
  readonly detail: string;
}

/** Makes the command that the device gets, of what is stored. Outside of transactions; may throw `NotMade`. */
export type LateContent = (ctx: Context, operation: Operation, content: string) => Promise<PlistDict>;

interface AppleCommandKind {
  readonly name: string;
  /** The command's name in lists of what is upcoming on a host. */
  readonly title?: string;
  /** Whether users see it in these lists, and may cancel it before the device got it. */
  readonly isUpcoming?: boolean;
  /** Commands of a device with the lowest number come first. */
  readonly priority?: number;
  /** How users see it in these lists. Default: as a script. */
  readonly view?: OperationView;
  /** Members of the command that are secrets: they are added when the device gets it, and are not stored with it. */
  secrets?(inside: Pick<Inside, "store">, operation: Operation, command: PlistDict): Promise<PlistDict>;
  /** Milliseconds for which commands and their answers are kept after they have ended. */
  readonly keptFor?: number;
  /** Runs in the transaction in which it ends. */
  ended(inside: Inside, operation: Operation, ending: Ending<AppleAnswer>): Promise<void>;
}

/** Profiles are sent inside of commands. */
export const CONTENT_MAX = { bytes: 16 * 1024 * 1024 };

/** A kind of operation in the queue of Apple devices. It is named in `operationKinds` of `server/extensions.ts`. */
export const appleCommandKind = ({
  name,
  title = "command",
  isUpcoming = false,
  priority = 10,
  view,
  secrets,
  keptFor = days(30),
  ended,
}: AppleCommandKind): OperationKind<AppleAnswer> => ({
  name,
  lane: APPLE_LANE,
  priority,
  // A device that asks again gets the same command again, with the same id.
  attempts: 1,
  title,
  isHidden: !isUpcoming,
  isCancellableOnceSent: false,
  expires: false,
  keptFor,
  ...(view && { view }),
  ...(secrets && {
    async outgoing(inside, operation, content) {
      const command = readPlistDict(Buffer.from(content), CONTENT_MAX);
      const members = await secrets(inside, operation, command);
      return Object.keys(members).length === 0 ? content : writePlist({ ...command, ...members });
    },
  }),
  isDone: ({ status }) => status === "Acknowledged",
  async ended(inside, operation, ending) {
    if (ending.state === "cancelled") await removeCommand(inside, operation.id);
    await ended(inside, operation, ending);
  },
});

/** The larger of the answers list the applications of a device. */
const ANSWER_MAX = { bytes: 10 * 1024 * 1024 };

/** The device's answer as it was sent; for `ended`, which runs after it was stored. Null: there is none. */
export async function answerOf({ store }: Pick<Inside, "store">, { id }: Operation): Promise<PlistDict | null> {
  const command = await store.mdmCommands.get(id);
  return command?.result == null ? null : readPlistDict(Buffer.from(command.result, "base64"), ANSWER_MAX);
}
