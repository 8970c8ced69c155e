// Hands commands to Apple devices, and stores what they answer.

import { BadPlist, bytesIn, dictsIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import type { Identity } from "../../../certificates/device-ca/identities.ts";
import {
  type Choose,
  type Next,
  nextOperation,
  postponeOperation,
  takeOperation,
} from "../../../hosts/operations/device-queue.ts";
import type { OpenOperation, Operation } from "../../../hosts/operations/kind.ts";
import { openOperationRows, openOperations, operationLock, storeAnswer } from "../../../hosts/operations/queue.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { and, eq } from "../../../platform/store/query.ts";
import { NotMade } from "../../commands/made-late.ts";
import { commandOf, markTooLarge, resumePostponed, setAnswer, tooLargeOf } from "../../commands/rows.ts";
import type { AppleAnswer, LateContent } from "../commands/kind.ts";
import { applePayload, storedCommand } from "../commands/payload.ts";
import { APPLE_LANE } from "../lane.ts";
import { isReachable } from "../push/devices.ts";
import { isSigned, signedProfile } from "../trust/signers.ts";
import type { AnsweringDevice, AppleAnswered } from "./listeners.ts";
import { appleDevices } from "./listeners.ts";

interface ReceivedMessage {
  readonly message: PlistDict;
  /** The bytes of the message. */
  readonly body: Buffer;
  /** What waited for the device then; null: it may have changed. */
  readonly open: readonly OpenOperation[] | null;
}

/** Stores what the device answered, and returns the next command for it; null: there is none. */
export async function exchange(
  ctx: Context,
  device: AnsweringDevice,
  { message, body, open }: ReceivedMessage,
): Promise<string | null> {
  const status = stringIn(message, "Status");
  if (status === null) throw new BadPlist("the property list has no Status");
  // What the device has postponed comes again when it connects by itself, which begins with Idle.
  const { host_id: hostId } = device;
  const queue = new Queue(hostId, { isOffered: status === "Idle" });
  const isOutdated = status === "Idle" && (await endTooLarge(ctx, device, open));
  const answered = status === "Idle" ? null : await keepAnswer(ctx, device, { status, message, body }, queue);
  if (answered) await readAnswer(ctx, answered);
  let openOperations = status === "Idle" && open !== null && !isOutdated ? open : undefined;
  for (let taken = answered?.next ?? null; ; taken = null) {
    // An answer may have been a reason to ask for more.
    const next = taken ?? (await nextOperation(ctx, hostId, APPLE_LANE, queue.choose, openOperations));
    openOperations = undefined;
    if (!next) return null;
    const { operation, content } = next;
    const uuid = queue.uuidOf(operation);
    const make = lateMaker(ctx, operation.kind);
    try {
      return applePayload(
        uuid,
        signedCommand(ctx, make ? await make(ctx, operation, content) : storedCommand(content)),
      );
    } catch (error) {
      if (!(error instanceof NotMade)) throw error;
      await endUnmade(ctx, device, { operation, CommandUUID: uuid, reason: error.message });
    }
  }
}

/** Profiles are signed if a certificate for that is set, unless they are signed already. */
function signedCommand(ctx: Context, command: PlistDict): PlistDict {
  const payload = stringIn(command, "RequestType") === "InstallProfile" ? bytesIn(command, "Payload") : null;
  return payload === null || isSigned(payload) ? command : { ...command, Payload: signedProfile(ctx, payload) };
}

/** Chooses the next command of one device. */
class Queue {
  readonly #hostId: number;
  readonly #isOffered: boolean;
  #uuids: ReadonlyMap<number, string> = new Map();

  /** `isOffered`: also what the device has postponed. */
  constructor(hostId: number, { isOffered }: { isOffered: boolean }) {
    this.#hostId = hostId;
    this.#isOffered = isOffered;
  }

  readonly choose: Choose = async (store, operations) => {
    const columns = ["id", "command_uuid", "status"] as const;
    const where = and(eq("host_id", this.#hostId), eq("command_status", "pending"));
    const [open, commands] = await Promise.all([operations, store.mdmCommands.pick(columns, { where })]);
    const postponed = new Set(commands.flatMap(({ id, status }) => (status === "NotNow" ? [id] : [])));
    if (this.#isOffered && postponed.size > 0) await resumePostponed(store, this.#hostId);
    this.#uuids = new Map(commands.map(({ id, command_uuid }) => [id, command_uuid]));
    return open.find(({ id }) => this.#uuids.has(id) && (this.#isOffered || !postponed.has(id)));
  };

  uuidOf({ id }: Pick<Operation, "id">): string {
    return this.#uuids.get(id)!;
  }
}

interface Unmade {
  readonly operation: Pick<Operation, "id">;
  readonly CommandUUID: string;
  readonly reason: string;
}

/** The device never gets it: shown like a command that it has refused. */
async function endUnmade(ctx: Context, device: AnsweringDevice, { operation: { id }, CommandUUID, reason }: Unmade) {
  const answer = { Status: "Error", CommandUUID, ErrorChain: [{ LocalizedDescription: reason }] };
  const idle = { status: answer.Status, message: answer, body: Buffer.from(writePlist(answer)) };
  await keepAnswer(ctx, device, idle, null);
  // Whatever the answer was kept for: the same operation is not taken again.
  const operation = await ctx.store.operations.get(id);
  if (operation?.state === "sent") throw new Error(`the operation ${id} has not ended`);
}

/** Somebody with the identity of the device has sent more than a message may contain, which nobody has read. */
export async function noteTooLarge({ store }: Context, { id }: Pick<Identity, "id">): Promise<void> {
  const device = await store.appleEnrollments.first({ where: and(eq("identity_id", id), isReachable) });
  const open = device ? await openOperations(store, [device.host_id], APPLE_LANE) : [];
  await markTooLarge(
    store,
    open.flatMap(({ id: command, state }) => (state === "sent" ? [command] : [])),
  );
}

/** The device would answer the same again: it gets its other commands. Returns whether one was ended. */
async function endTooLarge(ctx: Context, device: AnsweringDevice, open: ReceivedMessage["open"]): Promise<boolean> {
  if (open?.every(({ state }) => state !== "sent")) return false;
  const refused = await tooLargeOf(ctx.store, device.host_id);
  const reason = "The device's answer is larger than 10 MiB, and was refused. Ask for less in one command.";
  for (const { id, command_uuid: CommandUUID } of refused)
    await endUnmade(ctx, device, { operation: { id }, CommandUUID, reason });
  return refused.length > 0;
}

interface AnsweredCommand {
  readonly status: string;
  readonly message: PlistDict;
  readonly body: Buffer;
}

interface StoredAnswer extends AppleAnswered {
  readonly kind: string;
  /** What the device gets next, which was taken in the same transaction; null: nothing waited. */
  readonly next: Next | null;
}

/** Null if nothing is to be read of it. Without a queue, nothing is taken. */
async function keepAnswer(
  ctx: Context,
  device: AnsweringDevice,
  { status, message, body }: AnsweredCommand,
  queue: Queue | null,
): Promise<StoredAnswer | null> {
  const { host_id: hostId } = device;
  const uuid = stringIn(message, "CommandUUID") ?? "";
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const [command, open] = await Promise.all([
      commandOf(store, hostId, uuid),
      openOperationRows(store, hostId, APPLE_LANE),
    ]);
    if (!command) {
      ctx.log.warn({ host_id: hostId, command_uuid: uuid, status }, "a device answered a command that it did not get");
      return null;
    }
    // An answer may arrive twice: only the first one counts.
    if (command.command_status !== "pending") return null;
    const command_status = status === "NotNow" ? "pending" : status === "Acknowledged" ? "ran" : "failed";
    const set = setAnswer(inside, command.id, { status, command_status, result: body.toString("base64") });
    const answer: AppleAnswer = { status, detail: detailOf(message) };
    if (status === "NotNow") {
      await Promise.all([set, postponeOperation(inside, hostId, command.id)]);
      return null;
    }
    // The operation may have ended, and the device has done it nevertheless.
    const operation = open.find(({ id }) => id === command.id) ?? (await store.operations.get(command.id))!;
    await Promise.all([set, storeAnswer(inside, operation, answer)]);
    const { kind } = operation;
    for (const { answered } of inside.extensions.of(appleDevices)) await answered?.(inside, device, kind);
    const isDone = command_status === "ran";
    const next = queue && (await takeOperation(inside, hostId, APPLE_LANE, queue.choose));
    return { kind, hostId, requestType: command.request_type, isDone, message, next };
  }, operationLock(hostId));
}

async function readAnswer(ctx: Context, kept: StoredAnswer): Promise<void> {
  for (const { readers } of ctx.extensions.of(appleDevices)) await readers?.[kept.kind]?.(ctx, kept);
}

/** What makes the commands of a kind when the device asks for them. Undefined: they are sent as they are stored. */
function lateMaker({ extensions }: Context, kind: string): LateContent | undefined {
  for (const { builtLate } of extensions.of(appleDevices)) if (builtLate?.[kind]) return builtLate[kind];
  return undefined;
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
