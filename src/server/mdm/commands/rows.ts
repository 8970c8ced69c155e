// Commands of hosts: how they are added, and what devices answered. Each change is in the caller's transaction.
import type { Context } from "../../core/context.ts";
import type { ServerTx } from "../../core/tables.ts";
import type { Operation, OperationKind } from "../../operations/kind.ts";
import { addOperations, dropOperations } from "../../operations/queue.ts";
import { and, eq, oneOf } from "../../store/query.ts";

export interface NewCommand {
  readonly hostId: number;
  readonly requestType: string;
  readonly name: string | null;
  /** What the platform's channel sends. */
  readonly content: string;
}

/** Not used for commands, which wait for as long as the device is away. */
const NO_TIMEOUT = 0;

/** Adds a command to the host's queue. Returns its operation, whose uuid is the command's. */
export async function addCommand(inside: Context, kind: OperationKind, command: NewCommand): Promise<Operation> {
  const { hostId, requestType, name, content } = command;
  const [operation] = await addOperations(inside, kind, { hostIds: [hostId], content, timeout: NO_TIMEOUT });
  const { id, uuid, host_id, created_at } = operation!;
  await inside.store.mdmCommands.insert({
    id,
    command_uuid: uuid,
    host_id,
    request_type: requestType,
    name,
    result: null,
    updated_at: created_at,
  });
  return operation!;
}

export const commandOf = (store: ServerTx, hostId: number, commandUuid: string) =>
  store.mdmCommands.first({ where: and(eq("host_id", hostId), eq("command_uuid", commandUuid)) });

export async function setAnswer(
  { store, clock }: Pick<Context, "store" | "clock">,
  id: number,
  answer: { readonly status: string; readonly result: string },
): Promise<void> {
  await store.mdmCommands.update({ where: eq("id", id), set: { ...answer, updated_at: clock.iso() } });
}

/** The commands of these that the device has postponed. */
export async function postponedOf(store: ServerTx, hostId: number): Promise<number[]> {
  const where = and(eq("host_id", hostId), eq("status", "NotNow"));
  return (await store.mdmCommands.pick(["id"], { where })).map(({ id }) => id);
}

/** For devices that enroll again, or leave: they will not answer what waits. */
export async function dropCommands(
  { store, clock }: Pick<Context, "store" | "clock">,
  hostIds: readonly number[],
  kinds: readonly string[],
): Promise<void> {
  await dropOperations({ store, clock }, hostIds, kinds);
  await store.mdmCommands.delete(and(oneOf("host_id", hostIds), oneOf("status", ["Pending", "NotNow"])));
}
