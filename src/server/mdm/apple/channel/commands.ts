// Hands commands to Apple devices, and stores what they answer.
import { readPlistDict } from "../../../../plist/read.ts";
import { BadPlist, dictsIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import { type Context, within } from "../../../core/context.ts";
import { nextOperation, postponeOperation } from "../../../operations/device-queue.ts";
import { answerOperation, operationLock } from "../../../operations/queue.ts";
import { commandOf, postponedOf, resumePostponed, setAnswer } from "../../commands/rows.ts";
import { APPLE_LANE, type AppleAnswer } from "../commands/kind.ts";

/** Profiles are sent inside of commands. */
const COMMAND_MAX = { bytes: 16 * 1024 * 1024 };

/** Stores what the device answered, and returns the next command for it; null: there is none. */
export async function exchange(ctx: Context, hostId: number, message: PlistDict, body: Buffer): Promise<string | null> {
  const status = stringIn(message, "Status");
  if (status === null) throw new BadPlist("the property list has no Status");
  if (status !== "Idle") await keepAnswer(ctx, hostId, { status, message, body });
  // What the device has postponed comes again when it connects by itself, which begins with Idle.
  const isIdle = status === "Idle";
  const except = isIdle ? [] : await postponedOf(ctx.store, hostId);
  const next = await nextOperation(ctx, hostId, APPLE_LANE, { except });
  if (!next) return null;
  if (isIdle) await resumePostponed(ctx.store, hostId);
  const { operation, content } = next;
  const Command = readPlistDict(Buffer.from(content), COMMAND_MAX);
  return writePlist({ CommandUUID: operation.uuid, Command });
}

interface Answered {
  readonly status: string;
  readonly message: PlistDict;
  readonly body: Buffer;
}

async function keepAnswer(ctx: Context, hostId: number, { status, message, body }: Answered): Promise<void> {
  const uuid = stringIn(message, "CommandUUID") ?? "";
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const command = await commandOf(store, hostId, uuid);
    if (!command) {
      ctx.log.warn({ host_id: hostId, command_uuid: uuid, status }, "a device answered a command that it did not get");
      return;
    }
    // An answer may arrive twice: only the first one counts.
    if (command.status !== "Pending" && command.status !== "NotNow") return;
    await setAnswer(inside, command.id, { status, result: body.toString("base64") });
    const answer: AppleAnswer = { status, detail: detailOf(message) };
    if (status === "NotNow") await postponeOperation(inside, hostId, command.id);
    else await answerOperation(inside, hostId, uuid, answer, APPLE_LANE);
  }, operationLock(hostId));
}

function detailOf(message: PlistDict): string {
  const errors = dictsIn(message, "ErrorChain").map(
    (error) => stringIn(error, "USEnglishDescription") ?? stringIn(error, "LocalizedDescription") ?? "",
  );
  return errors
    .filter((text) => text !== "")
    .join("; ")
    .slice(0, 1_000);
}
