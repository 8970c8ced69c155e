// Check-in messages of Apple devices: they enroll, send their push tokens, and leave.

import type { Content } from "../../../../api/bodies.ts";
import { appleChannelApi } from "../../../../api/devices/apple-channel.ts";
import { booleanIn, bytesIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import { type Identity, revokeIdentities } from "../../../certificates/device-ca/identities.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import { setManaged } from "../../../hosts/mdm-status/managed.ts";
import type { OpenOperation } from "../../../hosts/operations/kind.ts";
import { openOperationsOfRows, operationLock } from "../../../hosts/operations/queue.ts";
import { recordHostActivity } from "../../../platform/activities/by-host.ts";
import { Batcher } from "../../../platform/core/concurrency/batcher.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { badRequest } from "../../../platform/core/errors.ts";
import { part } from "../../../platform/core/running.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, not, oneOf } from "../../../platform/store/query.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import { deviceSeen } from "../../reports/seen.ts";
import { APPLE_LANE } from "../lane.ts";
import { deviceUrl } from "../trust/service.ts";
import { authenticate } from "./authenticate.ts";
import { endEnrollment, isDevice } from "./devices.ts";
import { appleUsers, checkSizes } from "./limits.ts";
import type { Enrollment } from "./listeners.ts";
import { appleDevices } from "./listeners.ts";
import { appleEnrollments } from "./tables.ts";
import { APPLE_ENROLLMENT, enrollmentIdOf, NotAllowed, RENEWS, USER_SEPARATOR, userIdOf } from "./wire.ts";

const polled = [
  "id",
  "enrollment_id",
  "host_id",
  "state",
  "identity_id",
  "awaiting_configuration",
  "returns_after",
] as const;
/** What is needed of an enrollment whose device asks for commands. */
type Polling = Pick<Enrollment, (typeof polled)[number]>;

/** What waited for the device when its message arrived. */
interface Waiting {
  readonly open: readonly OpenOperation[];
}

/** Devices ask for commands all the time, mostly for nothing: those that do so together share one read of both. */
const enrollmentsByName = part(
  "enrollments of Apple devices",
  ({ store }) =>
    new Batcher<string, (Polling & Waiting) | null>(
      async (ids) => {
        const where = and(oneOf("enrollment_id", [...new Set(ids)]), isDevice);
        const [enrollments, open] = await store.readTogether((reads) =>
          Promise.all([
            reads.appleEnrollments.pick(polled, { where }),
            openOperationsOfRows(reads, { table: appleEnrollments, where }, APPLE_LANE),
          ]),
        );
        const byName = new Map(
          enrollments.map((enrollment) => [
            enrollment.enrollment_id,
            { ...enrollment, open: open.get(enrollment.host_id) ?? [] },
          ]),
        );
        return ids.map((id) => byName.get(id) ?? null);
      },
      { size: 500, parallel: 2 },
    ),
);

/** The enrollment that the message is about, if it is bound to the identity that has signed it. */
export async function enrollmentOf(ctx: Context, message: PlistDict, identity: Identity): Promise<Enrollment> {
  const id = enrollmentIdOf(message);
  const where = and(eq("enrollment_id", id ?? ""), isDevice);
  return bound(ctx, id === null ? null : await ctx.store.appleEnrollments.first({ where }), identity);
}

/** `enrollmentOf` for a message that asks for commands, or answers one. */
export async function pollingOf(ctx: Context, message: PlistDict, identity: Identity): Promise<Polling & Waiting> {
  const id = enrollmentIdOf(message);
  return bound(ctx, id === null ? null : await ctx.running.of(enrollmentsByName).add(id), identity);
}

async function bound<E extends Polling>(ctx: Context, enrollment: E | null, identity: Identity): Promise<E> {
  if (!enrollment) throw new NotAllowed("the enrollment is unknown");
  if (enrollment.identity_id === identity.id) return enrollment;
  if (!(await isRenewalFor(ctx, enrollment, identity)))
    throw new NotAllowed("the identity belongs to another enrollment");
  return rebind(ctx, enrollment, identity);
}

/**
 * By a profile for this enrollment, or by the device itself with the bound identity (SCEP). Identities are renewed one
 * after the other, so that an older one never replaces a newer one.
 */
async function isRenewalFor(
  { store }: Context,
  { id, host_id, identity_id }: Polling,
  identity: Identity,
): Promise<boolean> {
  if (identity.purpose !== APPLE_ENROLLMENT || identity.host_id !== host_id) return false;
  if (identity_id === null || identity.id < identity_id) return false;
  if (identity.renews === null) return identity.facts[RENEWS] === id;
  return (await store.deviceIdentities.get(identity_id))?.serial === identity.renews;
}

/** The device uses its new identity for the first time: from now on, the old one is not accepted. */
async function rebind<E extends Polling>(ctx: Context, enrollment: E, identity: Identity): Promise<E> {
  const old = enrollment.identity_id!;
  await ctx.store.tx(async (store) => {
    const where = and(eq("host_id", enrollment.host_id), eq("identity_id", old));
    await store.appleEnrollments.update({ where, set: { identity_id: identity.id } });
    await revokeIdentities({ store, clock: ctx.clock }, [old]);
  });
  return { ...enrollment, identity_id: identity.id };
}

/** Answers a check-in message; most answers are empty. */
export async function checkIn(ctx: Context, message: PlistDict, identity: Identity): Promise<Content> {
  checkSizes(message);
  const type = stringIn(message, "MessageType") ?? "";
  if (type === "Authenticate") return plist(await authenticate(ctx, message, identity));
  const enrollment = await enrollmentOf(ctx, message, identity);
  ctx.running.of(deviceSeen).mark(enrollment.host_id, ctx.clock.now());
  switch (type) {
    case "TokenUpdate":
      return plist(await updateToken(ctx, message, { device: enrollment, identity }));
    case "CheckOut":
      return plist(await checkOut(ctx, message, enrollment));
    case "SetBootstrapToken":
      return plist(await setBootstrapToken(ctx, message, enrollment));
    case "GetBootstrapToken":
      return plist(bootstrapTokenOf(enrollment));
    case "GetToken":
      throw badRequest("no token of this type is available", "TokenServiceType");
  }
  const answer = ctx.extensions.of(appleDevices).find(({ messages }) => messages && Object.hasOwn(messages, type));
  if (!answer) throw badRequest("the MessageType is unknown", "MessageType");
  if (enrollment.state === "removed") throw new NotAllowed("the enrollment has ended");
  return answer.messages![type]!(ctx, message, enrollment);
}

/** An answer of the channel: a property list, or nothing. */
export const plist = (content: string): Content => ({ content });

async function updateToken(
  ctx: Context,
  message: PlistDict,
  { device, identity }: { readonly device: Enrollment; readonly identity: Identity },
): Promise<string> {
  const now = ctx.clock.iso();
  const token = bytesIn(message, "Token");
  const magic = stringIn(message, "PushMagic");
  if (token === null || magic === null) throw badRequest("the message needs a Token and a PushMagic", "Token");
  if (device.state === "removed") throw new NotAllowed("the enrollment has ended");
  const tokens = {
    topic: stringIn(message, "Topic") ?? device.topic,
    token: token.toString("hex"),
    token_at: now,
    push_magic: magic,
    state: "enabled" as const,
  };
  const userId = userIdOf(message);
  const serverUrl = (await deviceUrl(ctx, appleChannelApi.put.path)) ?? "";
  await ctx.store.tx(async (store) => {
    if (userId !== null) {
      const { host_id, identity_id, kind } = device;
      const enrollment_id = channelOf(device, userId);
      await checkUsers(store, host_id, enrollment_id);
      const row = { created_at: now, enrollment_id, host_id, identity_id, kind, is_user: true, enrolled_at: now };
      const rest = { unlock_token: null, bootstrap_token: null, returns_after: null };
      await store.appleEnrollments.upsert([{ ...row, ...rest, ...tokens }], { on: ["enrollment_id"] });
      return;
    }
    const unlock = bytesIn(message, "UnlockToken");
    const set = {
      ...tokens,
      ...(unlock === null ? {} : { unlock_token: unlock.toString("base64") }),
      awaiting_configuration: booleanIn(message, "AwaitingConfiguration") ?? false,
    };
    // The update decides: of two messages that arrive together, one enrolls the device.
    const first = { ...set, enrolled_at: now };
    const isFirst = and(eq("id", device.id), eq("enrolled_at", null));
    const [updated, host] = await Promise.all([
      store.appleEnrollments.update({ where: isFirst, set: first }),
      store.hosts.get(device.host_id),
    ]);
    const enrollment = { host, identity, serverUrl };
    if (updated > 0) await enrolled(within(ctx, store), { ...device, ...first }, enrollment);
    else await store.appleEnrollments.update({ where: eq("id", device.id), set });
  }, operationLock(device.host_id));
  return "";
}

interface CheckInContext {
  readonly host: HostRow | null;
  readonly identity: Identity;
  readonly serverUrl: string;
}

async function enrolled(
  inside: Context,
  device: Enrollment,
  { host, identity, serverUrl }: CheckInContext,
): Promise<void> {
  const { host_id, kind, enrollment_id } = device;
  if (!host) return;
  await Promise.all([
    setManaged(inside, host_id, { kind, serverUrl }),
    recordHostActivity(inside, host_id, "mdm_enrolled", {
      host_serial: host.hardware_serial,
      host_display_name: host.display_name,
      installed_from_dep: kind === "automatic",
      mdm_platform: "vendora",
      enrollment_id: kind === "personal" ? enrollment_id : null,
      platform: host.platform,
    }),
    notifyProfiles(inside.store, { hostIds: [host_id] }),
  ]);
  for (const { enrolled } of inside.extensions.of(appleDevices)) await enrolled?.(inside, device, { host, identity });
}

const channelOf = ({ enrollment_id }: Enrollment, userId: string): string =>
  `${enrollment_id}${USER_SEPARATOR}${userId}`;

/** A user who leaves ends only their own channel. */
async function checkOut(ctx: Context, message: PlistDict, device: Enrollment): Promise<string> {
  const userId = userIdOf(message);
  await ctx.store.tx(async (store) => {
    if (userId === null) return endEnrollment(within(ctx, store), device);
    await store.appleEnrollments.delete(and(eq("enrollment_id", channelOf(device, userId)), eq("is_user", true)));
  }, operationLock(device.host_id));
  return "";
}

/** Throws 400 for another user of a host that has as many as it may have. */
async function checkUsers(store: ServerTx, hostId: number, enrollmentId: string): Promise<void> {
  const others = and(eq("host_id", hostId), eq("is_user", true), not(eq("enrollment_id", enrollmentId)));
  if ((await store.appleEnrollments.count(others)) >= appleUsers.max)
    throw badRequest(`the device has ${appleUsers.max} users already`, "UserID");
}

async function setBootstrapToken(ctx: Context, message: PlistDict, { id }: Enrollment): Promise<string> {
  const token = bytesIn(message, "BootstrapToken");
  const bootstrap_token = token === null || token.length === 0 ? null : token.toString("base64");
  await ctx.store.appleEnrollments.update({ where: eq("id", id), set: { bootstrap_token } });
  return "";
}

const bootstrapTokenOf = ({ bootstrap_token: token }: Enrollment): string =>
  writePlist(token === null ? {} : { BootstrapToken: Buffer.from(token, "base64") });
