// Commands of hosts: how they are added, and what devices answered. Each change is in the caller's transaction.
import type { CommandStatus } from "../../../api/devices/commands.ts";
import type { Lane, OperationKind } from "../../hosts/operations/kind.ts";
import { addDifferent, dropOperations } from "../../hosts/operations/queue.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, isNull, not, oneOf } from "../../platform/store/query.ts";
import { platformOfLane } from "./platform.ts";

interface NewCommand {
  readonly hostId: number;
  readonly requestType: string;
  readonly name: string | null;
  /** What the platform's channel sends. */
  readonly content: string;
  /** The content with passwords, which `content` does not have. */
  readonly sealed?: string | null;
}

/** Status of commands that Apple and Android devices have not answered, and of those that they have postponed. */
export const PENDING = "Pending";

/** Not used for commands, which wait for as long as the device is away. */
const NO_TIMEOUT = 0;

/**
 * Adds commands to the queues of their hosts, in the caller's transaction. Returns the uuid of each: `uuid`, if that is
 * given, or one of its own.
 */
export async function addCommands(
  inside: Context,
  kind: OperationKind,
  commands: readonly NewCommand[],
  uuid?: string,
): Promise<string[]> {
  const status = platformOfLane(inside, kind.lane).waiting;
  const operations = await addDifferent(inside, kind, { each: commands, timeout: NO_TIMEOUT });
  await inside.store.mdmCommands.insertMany(
    operations.map(({ id, uuid: operationUuid, host_id, created_at }, i) => ({
      id,
      command_uuid: uuid ?? operationUuid,
      host_id,
      request_type: commands[i]!.requestType,
      name: commands[i]!.name,
      sealed_content: commands[i]!.sealed ?? null,
      status,
      result: null,
      updated_at: created_at,
    })),
  );
  return operations.map(({ uuid: operationUuid }) => uuid ?? operationUuid);
}

export const commandOf = (store: ServerTx, hostId: number, commandUuid: string) =>
  store.mdmCommands.first({ where: and(eq("host_id", hostId), eq("command_uuid", commandUuid)) });

export async function setAnswer(
  { store, clock }: Pick<Context, "store" | "clock">,
  id: number,
  answer: { readonly status: string; readonly command_status: CommandStatus; readonly result: string },
): Promise<void> {
  await store.mdmCommands.update({ where: eq("id", id), set: { ...answer, updated_at: clock.iso() } });
}

/** The device has answered: it needs the passwords no more. */
export async function dropSealed({ store }: Pick<Context, "store">, id: number): Promise<void> {
  await store.mdmCommands.update({
    where: and(eq("id", id), not(isNull("sealed_content"))),
    set: { sealed_content: null },
  });
}

/** For one that was cancelled: the host never gets it. */
export async function removeCommand({ store }: Pick<Context, "store">, id: number): Promise<void> {
  await store.mdmCommands.delete(eq("id", id));
}

/** Status of a command whose answer was refused because of its size. */
const TOO_LARGE = "TooLarge";

/** The answers to these commands, if they have not ended, were too large. */
export async function markTooLarge(store: ServerTx, ids: readonly number[]): Promise<void> {
  const where = and(oneOf("id", ids), eq("command_status", "pending"));
  if (ids.length > 0) await store.mdmCommands.update({ where, set: { status: TOO_LARGE } });
}

export const tooLargeOf = (store: ServerTx, hostId: number) =>
  store.mdmCommands.pick(["id", "command_uuid"], {
    where: and(eq("host_id", hostId), eq("command_status", "pending"), eq("status", TOO_LARGE)),
  });

/** The device connects again: what it has postponed is offered to it as if it had not been sent. */
export async function resumePostponed(store: ServerTx, hostId: number): Promise<void> {
  const where = and(eq("host_id", hostId), eq("status", "NotNow"));
  await store.mdmCommands.update({ where, set: { status: PENDING } });
}

/** For devices that enroll again, or leave: they will not answer what waits. */
export async function dropCommands(
  { store, clock }: Pick<Context, "store" | "clock">,
  hostIds: readonly number[],
  lane: Lane,
): Promise<void> {
  await dropOperations({ store, clock }, hostIds, { lane });
  await store.mdmCommands.delete(and(oneOf("host_id", hostIds), eq("command_status", "pending")));
}
