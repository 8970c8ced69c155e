// Commands for Apple devices, and what their answers mean.
import { readPlistDict } from "../../../../plist/read.ts";
import { BadPlist, dictsIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import type { Context } from "../../../core/context.ts";
import { nextOperation, postponeOperation } from "../../../operations/device-queue.ts";
import type { Lane, OperationKind } from "../../../operations/kind.ts";
import { answerOperation } from "../../../operations/queue.ts";
import { addCommand, commandOf, postponedOf, setAnswer } from "../../commands/rows.ts";
import { profileAnswered } from "../../profiles/host-rows.ts";
import type { AppleCommands, ProfileCommand } from "../profiles/commands.ts";
import { push } from "../push/push.ts";

export const APPLE_LANE: Lane = "apple";

/** What a device has answered to a command. */
export interface AppleAnswer {
  readonly status: string;
  /** Why it failed; empty if it did not. */
  readonly detail: string;
}

/** Every command of device management for Apple devices. */
export const appleCommand: OperationKind<AppleAnswer> = {
  name: "apple_command",
  lane: APPLE_LANE,
  priority: 10,
  // A device that asks again gets the same command again, with the same id.
  attempts: 1,
  title: "command",
  isCancellableOnceSent: false,
  expires: false,
  isDone: ({ status }) => status === "Acknowledged",
  async ended(inside, operation, { state, result }) {
    if (result === null) return;
    const event = state === "answered" ? ({ type: "acknowledged" } as const) : errorOf(result);
    await profileAnswered(inside, operation.host_id, operation.uuid, event);
  },
};

const errorOf = ({ status, detail }: AppleAnswer) =>
  ({ type: "error", detail: detail === "" ? `the device answered ${status}` : detail }) as const;

/** Queues commands of profiles, and asks the devices to connect. */
export const appleCommands: AppleCommands = {
  async queue(inside, commands) {
    const uuids: string[] = [];
    for (const command of commands) {
      const operation = await addCommand(inside, appleCommand, {
        hostId: command.host_id,
        requestType: command.request_type,
        name: "name" in command ? command.name : null,
        content: writePlist(dictOf(command)),
      });
      uuids.push(operation.uuid);
    }
    const hostIds = [...new Set(commands.map(({ host_id }) => host_id))];
    for (const hostId of hostIds) await push(inside, await inside.extensions.pushDevices.ofHost(inside.store, hostId));
    return uuids;
  },
};

function dictOf(command: ProfileCommand): PlistDict {
  switch (command.request_type) {
    case "InstallProfile":
      return { RequestType: "InstallProfile", Payload: Buffer.from(command.payload) };
    case "RemoveProfile":
      return { RequestType: "RemoveProfile", Identifier: command.identifier };
    case "DeclarativeManagement":
      return { RequestType: "DeclarativeManagement" };
  }
}

/** Profiles are sent inside of commands. */
const COMMAND_MAX = { bytes: 16 * 1024 * 1024 };

/** Stores what the device answered, and returns the next command for it; null: there is none. */
export async function exchange(ctx: Context, hostId: number, message: PlistDict, body: Buffer): Promise<string | null> {
  const status = stringIn(message, "Status");
  if (status === null) throw new BadPlist("the property list has no Status");
  if (status !== "Idle") await keepAnswer(ctx, hostId, { status, message, body });
  // What the device has postponed comes again when it connects by itself, which begins with Idle.
  const except = status === "Idle" ? [] : await postponedOf(ctx.store, hostId);
  const next = await nextOperation(ctx, hostId, APPLE_LANE, { except });
  if (!next) return null;
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
  const command = await commandOf(ctx.store, hostId, uuid);
  if (!command) {
    ctx.log.warn({ host_id: hostId, command_uuid: uuid, status }, "a device answered a command that it did not get");
    return;
  }
  // An answer may arrive twice: only the first one counts.
  if (command.status !== "Pending" && command.status !== "NotNow") return;
  if (status === "NotNow") await postponeOperation(ctx, hostId, command.id);
  else await answerOperation(ctx, hostId, uuid, { status, detail: detailOf(message) }, APPLE_LANE);
  await setAnswer(ctx, command.id, { status, result: body.toString("base64") });
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
