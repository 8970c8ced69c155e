// A management session (OMA DM 1.2; docs/protocols/windows.md): each message of the device gets the next one of the
// server.

import { alerts, statuses, UNENROLLED_BY_USER } from "../../../../syncml/codes.ts";
import { DIGEST } from "../../../../syncml/digest.ts";
import { readSyncHeader, readSyncml } from "../../../../syncml/read.ts";
import {
  BadSyncml,
  type SyncCommand,
  type SyncHeader,
  type SyncMessage,
  syncCommand,
} from "../../../../syncml/value.ts";
import { writeSyncml } from "../../../../syncml/write.ts";
import { type Identity, revokeIdentities, verifyIdentity } from "../../../certificates/device-ca/identities.ts";
import { nextOperations } from "../../../hosts/operations/device-queue.ts";
import type { Operation } from "../../../hosts/operations/kind.ts";
import { operationLock } from "../../../hosts/operations/queue.ts";
import { minutes } from "../../../platform/core/clock.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { proved } from "../../../platform/core/http/strangers.ts";
import { byId } from "../../../platform/core/maps.ts";
import { countCall } from "../../../platform/rate-limits/attempts.ts";
import { and, eq } from "../../../platform/store/query.ts";
import { NotMade } from "../../commands/made-late.ts";
import { deviceSeen } from "../../reports/seen.ts";
import { WINDOWS_LANE } from "../commands/kind.ts";
import { commandFor } from "../commands/wire.ts";
import { asSentNow, endUnmade, keepAnswers } from "./answers.ts";
import { endEnrollment, enrolledByName, type InSession } from "./devices.ts";
import { windowsDevices } from "./listeners.ts";
import { emptyNonce, isAuthenticated, newNonce, waitingNonce } from "./nonces.ts";

/** Bytes of commands in one message. */
const MESSAGE_ROOM = 200 * 1024;
/** Bytes of a message beside its commands. */
const FRAME_ROOM = 4 * 1024;

const WRONG = { scope: "credentials of Windows devices", most: 600, ofAll: 20_000, span: minutes(1) };

/** The server's message in reply. `certificate`: of the connection, in DER. Throws `BadSyncml`. */
export async function manage(ctx: Context, bytes: Uint8Array, certificate: Buffer | null): Promise<string> {
  const header = readSyncHeader(bytes);
  const caller = await authenticate(ctx, header, certificate);
  if ("status" in caller) return replyTo({ header, commands: [], isFinal: true }, caller);
  proved(ctx);
  const message = readSyncml(bytes);
  const { enrollment, nonce } = caller;
  ctx.running.of(deviceSeen).mark(enrollment.host_id, ctx.clock.now());
  // An answer may be a reason to ask for more.
  const hasAnswered = await keepAnswers(ctx, enrollment.host_id, message);
  const { host_id, open } = enrollment;
  const queue = hasAnswered ? { host_id: await hostAfterAnswers(ctx, enrollment) } : { host_id, open };
  const commands = (await leaves(ctx, { ...enrollment, host_id: queue.host_id }, message))
    ? []
    : await nextCommands(ctx, queue, message);
  return replyTo(message, { status: nonce === null ? statuses.ok : statuses.authenticated, nonce, commands });
}

/** Whether the message, or its beginning, names a device that is enrolled. That proves nothing yet. */
export async function isEnrolledDevice(ctx: Context, bytes: Uint8Array): Promise<boolean> {
  try {
    return (await ctx.running.of(enrolledByName).add(readSyncHeader(bytes).source)) !== null;
  } catch (error) {
    if (error instanceof BadSyncml) return false;
    throw error;
  }
}

async function hostAfterAnswers(ctx: Context, enrollment: InSession): Promise<number> {
  let { host_id } = enrollment;
  for (const { afterAnswers } of ctx.extensions.of(windowsDevices))
    if (afterAnswers) host_id = await afterAnswers(ctx, { ...enrollment, host_id });
  return host_id;
}

interface SessionDevice {
  readonly enrollment: InSession;
  /** For the digest of the next message; null: it has a certificate. */
  readonly nonce: string | null;
}

interface Unknown {
  readonly status: string;
  readonly nonce: string;
}

/** The name in the message proves nothing: a certificate or a digest has to. */
async function authenticate(
  ctx: Context,
  header: SyncHeader,
  certificate: Buffer | null,
): Promise<SessionDevice | Unknown> {
  const enrollment = await ctx.running.of(enrolledByName).add(header.source);
  if (enrollment && certificate && (await isOfDevice(ctx, enrollment, certificate))) return { enrollment, nonce: null };
  if (enrollment && (await isAuthenticated(ctx, enrollment, header)))
    return { enrollment, nonce: await newNonce(ctx, enrollment.id) };
  if (header.credentials !== null || !enrollment) {
    await countCall(ctx, WRONG, ctx.address);
    ctx.log.warn({ address: ctx.address, device_id: header.source }, "a message of a Windows device was refused");
  }
  const status = header.credentials === null ? statuses.credentialsNeeded : statuses.wrongCredentials;
  return { status, nonce: enrollment ? await waitingNonce(ctx, enrollment.id) : emptyNonce(ctx) };
}

/** What identities of Windows devices are for. */
export const WINDOWS_ENROLLMENT = "windows_enrollment";
/** What identities say that renew the one of an enrollment. */
export const RENEWS = "renews_enrollment";

async function isOfDevice(ctx: Context, enrollment: InSession, certificate: Buffer): Promise<boolean> {
  const identity = await verifyIdentity(ctx, certificate);
  if (!identity || identity.purpose !== WINDOWS_ENROLLMENT) return false;
  return identity.id === enrollment.identity_id || (await rebind(ctx, enrollment, identity));
}

/** The device uses a renewed identity for the first time: from now on, the old one is not accepted. */
export async function rebind(
  ctx: Context,
  enrollment: Pick<InSession, "id" | "host_id" | "identity_id">,
  identity: Identity,
): Promise<boolean> {
  const old = enrollment.identity_id;
  const isRenewed = identity.facts[RENEWS] === enrollment.id && identity.host_id === enrollment.host_id;
  if (!isRenewed || old === null || identity.id < old) return false;
  return ctx.store.tx(async (store) => {
    const where = and(eq("id", enrollment.id), eq("identity_id", old));
    if ((await store.windowsEnrollments.update({ where, set: { identity_id: identity.id } })) === 0) return false;
    await revokeIdentities({ store, clock: ctx.clock }, [old]);
    return true;
  });
}

/** Whether the user has removed the enrollment. */
async function leaves(ctx: Context, enrollment: InSession, { commands }: SyncMessage): Promise<boolean> {
  const isGone = commands.some(
    ({ verb, data, items }) =>
      verb === "Alert" && data === alerts.generic && items.some(({ type }) => type === UNENROLLED_BY_USER),
  );
  if (isGone)
    await ctx.store.tx((store) => endEnrollment(within(ctx, store), enrollment), operationLock(enrollment.host_id));
  return isGone;
}

const starts: ReadonlySet<string> = new Set([alerts.serverStart, alerts.clientStart]);

type Queue = Pick<InSession, "host_id"> & Partial<Pick<InSession, "open">>;

async function nextCommands(ctx: Context, { host_id, ...read }: Queue, message: SyncMessage): Promise<SyncCommand[]> {
  const codes = message.commands.flatMap(({ verb, data }) => (verb === "Alert" ? [data ?? ""] : []));
  if (!message.isFinal || codes.includes(alerts.abort)) return [];
  const { maxMsgSize } = message.header;
  const room = Math.min(MESSAGE_ROOM, (maxMsgSize ?? MESSAGE_ROOM) - FRAME_ROOM);
  const again = codes.some((code) => starts.has(code));
  const commands: SyncCommand[] = [];
  const next = await nextOperations(ctx, host_id, WINDOWS_LANE, { again, room, ...read });
  const rows = next.length === 0 ? [] : await ctx.store.mdmCommands.getMany(next.map(({ operation }) => operation.id));
  const rowsById = byId(rows);
  for (const { operation, content } of next) {
    const row = rowsById.get(operation.id);
    // The device has just enrolled again: what waited was dropped.
    const lateContent = row ? await makeLate(ctx, operation, content) : null;
    if (lateContent !== null) commands.push(asSentNow(commandFor(row!.command_uuid, lateContent), row!));
  }
  return commands;
}

/** Null: it cannot be made, and has ended. */
async function makeLate(ctx: Context, operation: Operation, content: string): Promise<string | null> {
  const make = ctx.extensions.of(windowsDevices).find(({ builtLate }) => builtLate?.[operation.kind])?.builtLate?.[
    operation.kind
  ];
  try {
    return make ? await make(ctx, operation, content) : content;
  } catch (error) {
    if (!(error instanceof NotMade)) throw error;
    await endUnmade(ctx, operation, error.message);
    return null;
  }
}

interface Reply {
  /** Status of the device's header. */
  readonly status: string;
  readonly nonce: string | null;
  /** Absent: nothing of the message was processed. */
  readonly commands?: readonly SyncCommand[];
}

const withoutStatus: ReadonlySet<string> = new Set(["Status", "Results", "Alert"]);

function replyTo({ header, commands: received, isFinal }: SyncMessage, { status, nonce, commands }: Reply): string {
  const { msgId: msgRef } = header;
  const answered = commands === undefined ? [] : received.filter(({ verb }) => !withoutStatus.has(verb));
  const challenge = nonce === null ? null : { format: "b64", type: DIGEST, nextNonce: nonce };
  const replies = [
    syncCommand("Status", "1", { msgRef, cmdRef: "0", cmd: "SyncHdr", data: status, challenge }),
    ...answered.map(({ cmdId: cmdRef, verb: cmd }, i) =>
      syncCommand("Status", String(i + 2), { msgRef, cmdRef, cmd, data: statuses.ok }),
    ),
  ];
  // The device has more to send before it is the server's turn.
  const next =
    isFinal || commands === undefined
      ? []
      : [syncCommand("Alert", String(replies.length + 1), { data: alerts.nextMessage })];
  const { sessionId, msgId, source: target, target: source } = header;
  return writeSyncml({
    header: { sessionId, msgId, target, source, credentials: null, maxMsgSize: null },
    commands: [...replies, ...next, ...(commands ?? [])],
    isFinal: true,
  });
}
