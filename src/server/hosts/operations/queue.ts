// The queue of a host: what is asked of it, in which order, and how an operation ends.
import { channels, hostsPayload } from "../../platform/core/channels.ts";
import { isoAt, minutes, seconds } from "../../platform/core/clock.ts";
import { type Context, service, within } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, gt, lte, oneOf, type Predicate } from "../../platform/store/query.ts";
import type { Table } from "../../platform/store/table.ts";
import { contentOf, keepContents, type OperationContent } from "./contents.ts";
import {
  type AgentForm,
  type Ending,
  formOf,
  HOST_LANE,
  type Inside,
  type Lane,
  type OpenOperation,
  type Operation,
  type OperationKind,
  operationKind,
} from "./kind.ts";
import type { OperationResult } from "./tables.ts";

/** Lock that serializes changes of one host's operations. A failed write ends the transaction (`failFast`). */
export const operationLock = (hostId: number) => ({ lock: `operations-${hostId}` as const, failFast: true });

/**
 * Locks the operations of several hosts in the caller's transaction, before it writes anything else of them: always in
 * the same order, so that no two transactions wait for each other.
 */
export async function lockOperations(store: ServerTx, hostIds: readonly number[]): Promise<void> {
  const ascending = [...new Set(hostIds)].sort((a, b) => a - b);
  const lock = ascending.map((id) => operationLock(id).lock);
  if (lock.length > 0) await store.tx(async () => {}, { lock });
}

export const isOpen: Predicate = oneOf("state", ["queued", "sent"]);

/** Beyond the time that the host has: its answer may be on its way, or the host may have restarted. */
const GRACE = minutes(60);

interface OperationRequest {
  readonly hostIds: readonly number[];
  readonly content: OperationContent;
  /** Seconds. */
  readonly timeout: number;
}

/** Adds an operation to the queue of each host, in the caller's transaction. Returns them in the order of the hosts. */
export const addOperations = (inside: Context, kind: OperationKind, request: OperationRequest): Promise<Operation[]> =>
  addDifferent(inside, kind, {
    each: request.hostIds.map((hostId) => ({ hostId, content: request.content })),
    timeout: request.timeout,
  });

interface RequestPerHost {
  readonly each: readonly { readonly hostId: number; readonly content: OperationContent }[];
  /** Seconds. */
  readonly timeout: number;
}

/** `addOperations` with a content for each host; a host may be named several times. */
export async function addDifferent(
  inside: Context,
  kind: OperationKind,
  { each, timeout }: RequestPerHost,
): Promise<Operation[]> {
  if (each.length === 0) return [];
  const { store, clock, random, user } = inside;
  const now = clock.iso();
  const contents = await keepContents(
    inside,
    each.map(({ content }) => content),
  );
  const added = await store.operations.insertMany(
    each.map(({ hostId: host_id, content }) => ({
      created_at: now,
      uuid: random.uuid(),
      host_id,
      kind: kind.name,
      lane: kind.lane,
      priority: kind.priority,
      user_id: user.kind === "user" ? user.id : null,
      content_id: contents.get(content)!,
      timeout,
      sent_at: null,
      due_at: null,
      ended_at: null,
      result: null,
    })),
  );
  await store.notify(channels.hosts, hostsPayload(each.map(({ hostId }) => hostId)));
  return added;
}

const shown = ["id", "created_at", "uuid", "host_id", "kind", "priority", "user_id", "state"] as const;

/**
 * The operations of these hosts in one lane that have not ended; those of one host in their order. The first of a host is
 * the one that it gets; a lock does not wait for a script that runs. Null: in all lanes.
 */
export async function openOperations(
  store: ServerTx,
  hostIds: readonly number[],
  lane: Lane | null = HOST_LANE,
): Promise<OpenOperation[]> {
  return (await store.operations.pick(shown, { where: areOpen(hostIds, lane) })).sort(byTurn);
}

/** `openOperations` for each of these hosts, in their order. */
export async function openOperationsOf(
  store: ServerTx,
  askers: readonly { readonly hostId: number; readonly lane: Lane }[],
): Promise<OpenOperation[][]> {
  const hostIds = [...new Set(askers.map(({ hostId }) => hostId))];
  const where = and(oneOf("host_id", hostIds), isOpen);
  const byHost = groupBy(await store.operations.pick([...shown, "lane"], { where }), ({ host_id }) => host_id);
  return askers.map(({ hostId, lane }) =>
    (byHost.get(hostId) ?? []).filter((operation) => operation.lane === lane).sort(byTurn),
  );
}

/**
 * `openOperations` by host for the rows of another table: without knowing the rows, so that both can be read together.
 */
export async function openOperationsOfRows(
  store: Pick<ServerTx, "operations">,
  { table, where }: { readonly table: Table; readonly where: Predicate },
  lane: Lane,
): Promise<ReadonlyMap<number, readonly OpenOperation[]>> {
  const ofHosts = exists(table, "host_id", where, "host_id");
  const rows = await store.operations.pick(shown, { where: and(isOpen, eq("lane", lane), ofHosts) });
  return groupBy(rows.sort(byTurn), ({ host_id }) => host_id);
}

/** `openOperations` with all columns. */
export const openOperationRows = async (store: ServerTx, hostId: number, lane: Lane): Promise<Operation[]> =>
  (await store.operations.list({ where: areOpen([hostId], lane) })).sort(byTurn);

const areOpen = (hostIds: readonly number[], lane: Lane | null): Predicate =>
  and(oneOf("host_id", hostIds), isOpen, lane === null ? everything : eq("lane", lane));

const byTurn = (a: OpenOperation, b: OpenOperation): number =>
  a.priority - b.priority || Number(b.state === "sent") - Number(a.state === "sent") || a.id - b.id;

type Deps = Pick<Context, "store" | "clock" | "extensions" | "running">;

/**
 * The operation that the host asks for as a script, and its content: a text, or the id of a file (`downloadOf`). It
 * counts as sent from then on. 404 if it is not the host's turn for it: it has ended, or belongs to another host, or
 * another one comes first.
 */
export async function sendOperation(
  { store, clock, extensions, running }: Deps,
  hostId: number,
  uuid: string,
): Promise<{ operation: Operation } & Outgoing> {
  return store.tx(async (tx) => {
    const backing = { store: tx, clock, extensions, running };
    const operation = await operationInTurn(backing, hostId, uuid);
    if (!operation) throw notFound("script execution", uuid);
    return { operation, ...(await sendContent(backing, operation)) };
  }, operationLock(hostId));
}

/** The operation, if it is the next one that the host gets, in this form. Under the lock of the host's operations. */
export async function operationInTurn(
  backing: Pick<Context, "store" | "extensions">,
  hostId: number,
  uuid: string,
  form: AgentForm = "script",
): Promise<Operation | null> {
  const [first] = await openOperations(backing.store, [hostId]);
  return first?.uuid === uuid && formOf(backing, first) === form ? backing.store.operations.get(first.id) : null;
}

/** What a host gets. */
interface Outgoing {
  readonly content: string;
  /** The content as JSON in UTF-8, if all hosts get the same one. */
  readonly json: (() => Uint8Array<ArrayBuffer>) | null;
  readonly fileId: number | null;
}

/** The operation's content as the host gets it; it counts as sent. Under the lock of the operation's host. */
export async function sendContent(backing: Deps, operation: Operation): Promise<Outgoing> {
  const { content_id: id } = operation;
  const [row] = await Promise.all([id === null ? null : contentOf(backing, id), markSent(backing, operation)]);
  const { outgoing } = operationKind(backing, operation.kind);
  const stored = row?.content.text ?? "";
  const content = outgoing ? await outgoing(backing, operation, stored) : stored;
  // Variables and refusals make a text of the host's own.
  const json = row !== null && content === stored ? row.content.json : null;
  return { content, json, fileId: row?.fileId ?? null };
}

async function markSent(
  backing: Deps,
  operation: Pick<Operation, "id" | "kind" | "state" | "attempts" | "timeout">,
): Promise<void> {
  // The host may ask again before it answers: that is not another attempt.
  if (operation.state !== "queued") return;
  const set = { state: "sent", attempts: operation.attempts + 1, ...sentNow(backing, operation) } as const;
  await backing.store.operations.update({ where: eq("id", operation.id), set });
}

const sentNow = (
  backing: Pick<Context, "clock" | "extensions">,
  { kind, timeout }: Pick<Operation, "kind" | "timeout">,
) => ({
  sent_at: backing.clock.iso(),
  due_at: operationKind(backing, kind).expires ? isoAt(backing.clock.now() + seconds(timeout) + GRACE) : null,
});

/** Stores the host's answer to an operation of this lane, which it got in this form. */
export async function answerOperation(
  backing: Deps,
  hostId: number,
  uuid: string,
  result: OperationResult,
  lane: Lane = HOST_LANE,
  form: AgentForm = "script",
): Promise<void> {
  await backing.store.tx(async (tx) => {
    const operation = await tx.operations.first({
      where: and(eq("uuid", uuid), eq("host_id", hostId), eq("lane", lane)),
    });
    if (!operation || formOf(backing, operation) !== form)
      throw notFound(form === "script" ? "script execution" : "software install", uuid);
    await storeAnswer({ ...backing, store: tx }, operation, result);
  }, operationLock(hostId));
}

/**
 * Stores the answer in the caller's transaction, under its host's lock. Repeated answers, and those to cancelled
 * operations, change nothing.
 */
export async function storeAnswer(backing: Deps, operation: Operation, answer: OperationResult): Promise<void> {
  // After it has expired, a late answer still shows the state of the host.
  if (!["queued", "sent", "expired"].includes(operation.state)) return;
  const kind = operationKind(backing, operation.kind);
  const result = kind.stored ? await kind.stored(backing, operation, answer) : answer;
  const state = kind.isDone(result) ? "answered" : "failed";
  await endOperation({ ...backing, user: service }, operation, { state, result });
}

/** Ends the operation in the caller's transaction, under its host's lock. */
export async function endOperation(inside: Inside, operation: Operation, ending: Ending): Promise<void> {
  const { store, clock } = inside;
  await store.operations.update({
    where: eq("id", operation.id),
    set: { state: ending.state, result: ending.result, ended_at: clock.iso(), due_at: null },
  });
  await operationKind(inside, operation.kind).ended(inside, operation, ending);
  await store.notify(channels.hosts, hostsPayload([operation.host_id]));
}

/** Selects operations of a host; without members, all. */
interface Which {
  readonly uuids?: readonly string[];
  readonly lane?: Lane;
}

/** Cancels operations of the hosts without calling their kinds: the caller resets the hosts. */
export async function dropOperations(
  { store, clock }: Pick<Context, "store" | "clock">,
  hostIds: readonly number[],
  { uuids, lane }: Which = {},
): Promise<void> {
  const named = uuids === undefined ? isOpen : and(isOpen, oneOf("uuid", uuids));
  const which = lane === undefined ? named : and(named, eq("lane", lane));
  await store.operations.update({
    where: and(oneOf("host_id", hostIds), which),
    set: { state: "cancelled", ended_at: clock.iso(), due_at: null },
  });
}

/** Sends operations without an answer again, or ends them. Returns how many there were. */
export async function settleOverdue(ctx: Context, signal: AbortSignal): Promise<number> {
  await restartFuture(ctx);
  const overdue = and(eq("state", "sent"), lte("due_at", ctx.clock.iso()));
  let settled = 0;
  for (const { id, host_id } of await ctx.store.operations.pick(["id", "host_id"], { where: overdue, limit: 10_000 })) {
    if (signal.aborted) break;
    await ctx.store.tx(async (store) => {
      const operation = await store.operations.first({ where: and(eq("id", id), overdue) });
      if (!operation) return;
      settled++;
      if (operation.attempts >= operationKind(ctx, operation.kind).attempts)
        return endOperation(within(ctx, store), operation, { state: "expired", result: null });
      await store.operations.update({ where: eq("id", id), set: { state: "queued", due_at: null } });
      await store.notify(channels.hosts, hostsPayload([host_id]));
    }, operationLock(host_id));
  }
  return settled;
}

/** Operations that were sent while the clock was ahead count as sent now; otherwise they would be overdue much later. */
async function restartFuture(backing: Deps): Promise<void> {
  const { store, clock } = backing;
  const future = and(eq("state", "sent"), gt("sent_at", isoAt(clock.now() + GRACE)));
  for (const operation of await store.operations.pick(["id", "kind", "timeout"], { where: future, limit: 10_000 }))
    await store.operations.update({ where: and(eq("id", operation.id), future), set: sentNow(backing, operation) });
}
