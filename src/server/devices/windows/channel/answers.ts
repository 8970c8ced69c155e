// Stores what devices answer to commands.
import { isDone, statuses, statusReason } from "../../../../syncml/codes.ts";
import { readSyncml } from "../../../../syncml/read.ts";
import { everyCommand, type SyncCommand, type SyncMessage, syncCommand } from "../../../../syncml/value.ts";
import { writeSyncml } from "../../../../syncml/write.ts";
import { postponeOperation } from "../../../hosts/operations/device-queue.ts";
import type { Operation } from "../../../hosts/operations/kind.ts";
import { operationLock, storeAnswer } from "../../../hosts/operations/queue.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { badRequest } from "../../../platform/core/errors.ts";
import { limit } from "../../../platform/core/limits.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { commandOf, setAnswer } from "../../commands/rows.ts";
import type { mdmCommands } from "../../commands/tables.ts";
import type { WindowsAnswer } from "../commands/kind.ts";
import { commandFor, uuidOf } from "../commands/wire.ts";
import { windowsDevices } from "./listeners.ts";

type CommandRow = RowOf<typeof mdmCommands>;

/** Stores the answers in the message, each with its own command of this host. Returns whether there were any. */
export async function keepAnswers(ctx: Context, hostId: number, message: SyncMessage): Promise<boolean> {
  const byCommand = new Map<string, SyncCommand[]>();
  for (const reply of message.commands) {
    // Statuses of the header and of our statuses have numbers.
    const isReply = (reply.verb === "Status" && reply.cmd !== "SyncHdr") || reply.verb === "Results";
    if (!isReply || !reply.cmdRef?.includes("-")) continue;
    const uuid = uuidOf(reply.cmdRef);
    byCommand.set(uuid, [...(byCommand.get(uuid) ?? []), reply]);
  }
  for (const [uuid, replies] of byCommand) await keepAnswer(ctx, hostId, { uuid, replies, message });
  return byCommand.size > 0;
}

interface AnsweredCommand {
  readonly uuid: string;
  readonly replies: readonly SyncCommand[];
  readonly message: SyncMessage;
}

async function keepAnswer(ctx: Context, hostId: number, { uuid, replies, message }: AnsweredCommand): Promise<void> {
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const command = await commandOf(store, hostId, uuid);
    if (!command)
      return ctx.log.warn({ host_id: hostId, command_uuid: uuid }, "a device answered a command that it did not get");
    // An answer may arrive twice: only the first one counts.
    if (command.command_status !== "pending") return;
    const operation = (await store.operations.get(command.id))!;
    if (operation.attempts === 0 && operation.state === "queued") return;
    const all = [...earlierReplies(command), ...replies];
    const result = resultOf(message, all);
    const content = (await store.operationContents.get(operation.content_id!))!.content;
    const sent = commandFor(uuid, content);
    const status = ownStatus(sent, all, message.isFinal);
    if (status === null)
      return setAnswer(inside, command.id, { status: command.status, command_status: "pending", result });
    if (command.status !== statuses.exists && existing(sent, all).size > 0) {
      await setAnswer(inside, command.id, { status: statuses.exists, command_status: "pending", result });
      return postponeOperation(inside, hostId, command.id);
    }
    const answer = answerIn(sent, all, status);
    const command_status = answer.isDone ? "ran" : "failed";
    await Promise.all([
      setAnswer(inside, command.id, { status: answer.status, command_status, result }),
      storeAnswer(inside, operation, answer),
    ]);
    for (const { answered } of inside.extensions.of(windowsDevices)) await answered?.(inside, hostId);
  }, operationLock(hostId));
}

/** A command that could not be made, and that the device never gets: shown like one that it has refused. */
export async function endUnmade(ctx: Context, { id, host_id }: Pick<Operation, "id" | "host_id">, detail: string) {
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const [command, operation] = [await store.mdmCommands.get(id), await store.operations.get(id)];
    if (!operation || command?.command_status !== "pending") return;
    const status = statuses.commandFailed;
    const [cmdRef, header] = [
      `${command.command_uuid}.1`,
      { sessionId: "0", msgId: "0", target: "svc", source: "svc" },
    ];
    const replies = [syncCommand("Status", "1", { msgRef: "0", cmdRef, cmd: "Add", data: status })];
    const message = { header: { ...header, credentials: null, maxMsgSize: null }, commands: replies, isFinal: true };
    const result = resultOf(message, replies);
    await setAnswer(inside, id, { status, command_status: "failed", result });
    await storeAnswer(inside, operation, { status, isDone: false, detail } satisfies WindowsAnswer);
    for (const { answered } of inside.extensions.of(windowsDevices)) await answered?.(inside, host_id);
  }, operationLock(host_id));
}

/** Replies to a command that is answered in parts. What a command was answered that was sent again counts no more. */
function earlierReplies({ status, result }: CommandRow): readonly SyncCommand[] {
  if (result === null || status === statuses.exists) return [];
  return readSyncml(Buffer.from(result, "base64")).commands;
}

/** If a command was sent twice, its last status counts. */
const statusOf = (replies: readonly SyncCommand[], id: string): string | null =>
  replies.findLast(({ verb, cmdRef }) => verb === "Status" && cmdRef === id)?.data ?? null;

/** Null: the answer is not complete. Some devices answer only the commands inside of a container. */
function ownStatus(sent: SyncCommand, replies: readonly SyncCommand[], isFinal: boolean): string | null {
  const ownResult = statusOf(replies, sent.cmdId);
  if (ownResult !== null) return isFinal || !waitsForResults(sent, ownResult, replies) ? ownResult : null;
  if (sent.commands.length === 0 || !isFinal) return null;
  const inner = sent.commands.map(({ cmdId }) => statusOf(replies, cmdId));
  if (inner.includes(null)) return null;
  return inner.every((status) => isDone(status!)) ? statuses.ok : statuses.atomicFailed;
}

const waitsForResults = ({ verb }: SyncCommand, status: string, replies: readonly SyncCommand[]): boolean =>
  verb === "Get" && isDone(status) && !replies.some((reply) => reply.verb === "Results");

/** A message with nothing but these replies. */
function resultOf({ header }: SyncMessage, commands: readonly SyncCommand[]): string {
  const text = (kept: readonly SyncCommand[]) =>
    writeSyncml({ header: { ...header, credentials: null }, commands: kept, isFinal: true });
  const whole = text(commands);
  // The statuses decide what the command has done.
  const short = whole.length > windowsAnswer.max ? text(commands.filter(({ verb }) => verb === "Status")) : whole;
  if (short.length > windowsAnswer.max) throw badRequest("the answer to a command is too large");
  return Buffer.from(short).toString("base64");
}

export const windowsAnswer = limit({
  what: "answer of a Windows device to a command, in all of its messages",
  max: 4 * 1024 * 1024,
  unit: "characters",
  beyond: "Its results are not stored, only its statuses; more of those are refused with 400.",
});

/** The ids of what the device could not add because it exists. */
function existing(sent: SyncCommand, replies: readonly SyncCommand[]): ReadonlySet<string> {
  const adds = new Set([...everyCommand([sent])].flatMap(({ verb, cmdId }) => (verb === "Add" ? [cmdId] : [])));
  return new Set(
    replies.flatMap(({ verb, cmdRef, data }) =>
      verb === "Status" && data === statuses.exists && cmdRef !== null && adds.has(cmdRef) ? [cmdRef] : [],
    ),
  );
}

/** The command as the device gets it next: what exists already is replaced. */
export function asSentNow(sent: SyncCommand, { status, result }: CommandRow): SyncCommand {
  if (status !== statuses.exists || result === null) return sent;
  const existingIds = existing(sent, readSyncml(Buffer.from(result, "base64")).commands);
  const replaced = (command: SyncCommand): SyncCommand => ({
    ...command,
    verb: existingIds.has(command.cmdId) ? "Replace" : command.verb,
    commands: command.commands.map(replaced),
  });
  return replaced(sent);
}

export const windowsDetail = limit({
  what: "reason why a Windows device could not carry out a command",
  max: 1_000,
  unit: "characters",
  beyond: "The rest is cut off.",
});

function answerIn(sent: SyncCommand, replies: readonly SyncCommand[], status: string): WindowsAnswer {
  const failed = [...everyCommand([sent])].flatMap((command) => {
    const status = statusOf(replies, command.cmdId);
    return status !== null && command.commands.length === 0 && !isDone(status)
      ? [{ node: command.items[0]?.target ?? "", status }]
      : [];
  });
  // What was only rolled back does not explain the failure.
  const causes = failed.filter((failure) => !["215", "216"].includes(failure.status));
  const shown = causes.length > 0 ? causes : failed;
  const texts = shown.map((failure) => `${failure.node}: ${described(failure.status)}`);
  if (isDone(status) && failed.length === 0) return { status, isDone: true, detail: "" };
  const detail = texts.length > 0 ? texts.join("; ") : described(status);
  return {
    status: isDone(status) ? shown[0]!.status : status,
    isDone: false,
    detail: detail.slice(0, windowsDetail.max),
  };
}

function described(status: string): string {
  const reason = statusReason(status);
  return reason === "" ? `status ${status}` : `status ${status} (${reason})`;
}
