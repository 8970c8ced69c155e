// Check-in messages of Apple devices: they enroll, send their push tokens, and leave.
import { appleChannelApi } from "../../../../api/apple-channel.ts";
import type { Content } from "../../../../api/bodies.ts";
import { booleanIn, bytesIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import { recordActivity } from "../../../activities/record.ts";
import { createBatcher } from "../../../core/concurrency/batcher.ts";
import { type Context, within } from "../../../core/context.ts";
import { badRequest } from "../../../core/errors.ts";
import { part } from "../../../core/running.ts";
import type { ServerTx } from "../../../core/tables.ts";
import {
  bindingIdentity,
  boundIdentity,
  type Identity,
  isOfDevice,
  revokeIdentities,
} from "../../../device-ca/identities.ts";
import type { HostRow } from "../../../hosts/access.ts";
import { spellingsOf } from "../../../hosts/identifier.ts";
import { setManaged, setUnmanaged } from "../../../mdm-status/managed.ts";
import type { Inside, OpenOperation } from "../../../operations/kind.ts";
import { openOperationsOfRows, operationLock } from "../../../operations/queue.ts";
import { and, eq, not, nothing, oneOf, or, type Predicate, same } from "../../../store/query.ts";
import { deviceSeen } from "../../check-ins/seen.ts";
import { dropCommands } from "../../commands/rows.ts";
import { forgetProfiles } from "../../profiles/host-rows.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import { APPLE_LANE } from "../commands/kind.ts";
import { deviceUrl } from "../trust/service.ts";
import { type AppleDevice, appleEnrollment, deviceOf } from "./kind.ts";
import { appleUsers, checkSizes } from "./limits.ts";
import type { Enrollment } from "./listeners.ts";
import { appleEnrollments } from "./tables.ts";

/** The purpose of challenges with which Apple devices get their identities. */
export const APPLE_ENROLLMENT = "apple_enrollment";

/** The message is refused. The device gets no reason. */
export class NotAllowed extends Error {}

/** UDID, or the EnrollmentID of a personal device. Null: the message has neither. */
export const enrollmentIdOf = (message: PlistDict): string | null =>
  stringIn(message, "UDID") ?? stringIn(message, "EnrollmentID");

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
export type Polling = Pick<Enrollment, (typeof polled)[number]>;

/** What waited for the device when its message arrived. */
interface Waiting {
  readonly open: readonly OpenOperation[];
}

/** Devices ask for commands all the time, mostly for nothing: those that do so together share one read of both. */
const enrollmentsByName = part("enrollments of Apple devices", ({ store }) =>
  createBatcher<string, (Polling & Waiting) | null>(
    async (ids) => {
      const where = oneOf("enrollment_id", [...new Set(ids)]);
      const [found, open] = await store.readTogether((reads) =>
        Promise.all([
          reads.appleEnrollments.pick(polled, { where }),
          openOperationsOfRows(reads, { table: appleEnrollments, where }, APPLE_LANE),
        ]),
      );
      const byName = new Map(found.map((one) => [one.enrollment_id, { ...one, open: open.get(one.host_id) ?? [] }]));
      return ids.map((id) => byName.get(id) ?? null);
    },
    { size: 500, parallel: 2 },
  ),
);

/** The enrollment that the message is about, if it is bound to the identity that has signed it. */
export async function enrollmentOf(ctx: Context, message: PlistDict, identity: Identity): Promise<Enrollment> {
  const id = enrollmentIdOf(message);
  const where = eq("enrollment_id", id ?? "");
  return bound(ctx, id === null ? null : await ctx.store.appleEnrollments.first({ where }), identity);
}

/** The same of a message that asks for commands, or answers one. */
export async function pollingOf(ctx: Context, message: PlistDict, identity: Identity): Promise<Polling & Waiting> {
  const id = enrollmentIdOf(message);
  return bound(ctx, id === null ? null : await ctx.running.of(enrollmentsByName).add(id), identity);
}

async function bound<E extends Polling>(ctx: Context, found: E | null, identity: Identity): Promise<E> {
  if (!found) throw new NotAllowed("the enrollment is unknown");
  if (found.identity_id === identity.id) return found;
  if (!isRenewalFor(found, identity)) throw new NotAllowed("the identity belongs to another enrollment");
  return rebind(ctx, found, identity);
}

/** What challenges contain of the address to which the enrollment profile lets a device connect. */
export const CONNECTS_TO = "connects_to";

/** What challenges say of identities that renew the one of an enrollment. */
export const RENEWS = "renews_enrollment";

/** Identities are renewed one after the other, so that an older one never replaces a newer one. */
const isRenewalFor = ({ id, host_id, identity_id }: Polling, identity: Identity): boolean =>
  identity.purpose === APPLE_ENROLLMENT &&
  identity.facts[RENEWS] === id &&
  identity.host_id === host_id &&
  identity_id !== null &&
  identity.id > identity_id;

/** The device uses its new identity for the first time: from now on, the old one is not accepted. */
async function rebind<E extends Polling>(ctx: Context, found: E, identity: Identity): Promise<E> {
  const old = found.identity_id!;
  await ctx.store.tx(async (store) => {
    const where = and(eq("host_id", found.host_id), eq("identity_id", old));
    await store.appleEnrollments.update({ where, set: { identity_id: identity.id } });
    await revokeIdentities({ store, clock: ctx.clock }, [old]);
  });
  return { ...found, identity_id: identity.id };
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
      return plist(await checkOut(ctx, enrollment));
    case "SetBootstrapToken":
      return plist(await setBootstrapToken(ctx, message, enrollment));
    case "GetBootstrapToken":
      return plist(bootstrapTokenOf(enrollment));
    case "GetToken":
      throw badRequest("no token of this type is available", "TokenServiceType");
  }
  const { appleMessages } = ctx.extensions;
  const answer = Object.hasOwn(appleMessages, type) ? appleMessages[type] : undefined;
  if (!answer) throw badRequest("the MessageType is unknown", "MessageType");
  if (enrollment.state === "removed") throw new NotAllowed("the enrollment has ended");
  return answer(ctx, message, enrollment);
}

/** An answer of the channel: a property list, or nothing. */
export const plist = (content: string): Content => ({ content });

/** The device is about to enroll. Whatever an earlier enrollment of it has left is dropped. */
async function authenticate(ctx: Context, message: PlistDict, identity: Identity): Promise<string> {
  const enrollmentId = enrollmentIdOf(message);
  if (enrollmentId === null || enrollmentId === "")
    throw badRequest("the message needs a UDID or an EnrollmentID", "UDID");
  if (identity.purpose !== APPLE_ENROLLMENT) throw new NotAllowed("the identity is not for Apple devices");
  const device = deviceOf(message);
  if (identity.facts.kind === "personal" && device.udid !== "")
    throw new NotAllowed("the identity is for a personal device");
  if (!isOfDevice(identity, { hardware_serial: device.serial, hardware_uuid: device.udid }))
    throw new NotAllowed("the identity belongs to another device");
  // A host that the identity is for may have been transferred since.
  const bound = identity.host_id === null ? null : await ctx.store.hosts.get(identity.host_id);
  const { team_id: teamId } = bound ?? identity;
  const outcome = await ctx.running.of(appleEnrollment).enroll({
    identifier: (await knownByHardware(ctx, device, teamId)) ?? enrollmentId,
    ...(bound ? { hostId: bound.id } : {}),
    ...(device.udid === "" ? {} : { uuid: device.udid, hardware: { uuid: device.udid, serial: device.serial } }),
    teamId,
    isProved: false,
    address: ctx.address,
    device,
  });
  if ("refused" in outcome) throw new NotAllowed(outcome.reason);
  const { row: host, isNew } = outcome;
  const uses = { host_id: host.id, hardware_serial: device.serial, hardware_uuid: device.udid };
  const bind = async (store: ServerTx): Promise<Identity> => {
    const row = {
      created_at: ctx.clock.iso(),
      enrollment_id: enrollmentId,
      host_id: host.id,
      state: "authenticated" as const,
      kind: kindOfEnrollment(message, identity),
      identity_id: identity.id,
      topic: stringIn(message, "Topic") ?? "",
      server_url: String(identity.facts[CONNECTS_TO] ?? ""),
      token: null,
      token_at: null,
      push_magic: null,
      unlock_token: null,
      bootstrap_token: null,
      awaiting_configuration: false,
      enrolled_at: null,
      returns_after: null,
    };
    const [own] = await Promise.all([
      boundIdentity({ store }, identity, uses),
      store.appleEnrollments.upsert([row], { on: ["enrollment_id"], returning: [] }),
    ]);
    // What was written is rolled back.
    if (!own) throw new NotAllowed("the identity belongs to another device");
    // Nothing was ever asked of a host that is new.
    if (isNew) return own;
    await store.appleEnrollments.delete(and(eq("host_id", host.id), eq("is_user", true)));
    await forgetProfiles({ store, clock: ctx.clock }, [host.id]);
    await resetDevice(within(ctx, store), { host_id: host.id, state: "authenticated" });
    return own;
  };
  await bindingIdentity(ctx, identity, () => ctx.store.tx(bind, operationLock(host.id)));
  return "";
}

/** What was asked of the device is dropped: it will not answer. */
async function resetDevice(inside: Inside, device: Pick<Enrollment, "host_id" | "state">): Promise<void> {
  await dropCommands(inside, [device.host_id], APPLE_LANE);
  for (const { reset } of inside.extensions.appleDevices) await reset?.(inside, device);
}

function kindOfEnrollment(message: PlistDict, { facts }: Identity): Enrollment["kind"] {
  if (stringIn(message, "UDID") === null) return "personal";
  return facts.kind === "automatic" ? "automatic" : "manual";
}

/**
 * The identifier of the host that an agent has enrolled with another one: the team's only host with this serial number,
 * or the only host of all teams with this UUID. The rule for secrets of other teams decides about those.
 */
async function knownByHardware(
  ctx: Context,
  { serial, udid }: Pick<AppleDevice, "serial" | "udid">,
  teamId: number | null,
) {
  const isSame = ({ uuid, hardware_serial }: Pick<HostRow, "uuid" | "hardware_serial">) =>
    isAlike(uuid, udid) && isAlike(hardware_serial, serial);
  const bySerial = serial === "" ? nothing : and(same("hardware_serial", serial), eq("team_id", teamId));
  const byUdid = udid === "" ? nothing : same("uuid", ...spellingsOf(udid));
  // Most devices are new, and neither finds a host.
  if ((await ctx.store.hosts.pick(["id"], { where: or(bySerial, byUdid), limit: 1 })).length === 0) return null;
  const sole = async (where: Predicate) => {
    const found = await ctx.store.hosts.pick(["identifier", "uuid", "hardware_serial"], { where, limit: 2 });
    return found.length === 1 && isSame(found[0]!) ? found[0]!.identifier : null;
  };
  return (await sole(bySerial)) ?? sole(byUdid);
}

const isAlike = (known: string, given: string): boolean =>
  known === "" || given === "" || known.toLowerCase() === given.toLowerCase();

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
      const enrollment_id = `${device.enrollment_id}:${userId}`;
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
    const given = { host, identity, serverUrl };
    if (updated > 0) await enrolled(within(ctx, store), { ...device, ...first }, given);
    else await store.appleEnrollments.update({ where: eq("id", device.id), set });
  }, operationLock(device.host_id));
  return "";
}

/** On a Shared iPad all users have an id of F's: their short name distinguishes them. */
function userIdOf(message: PlistDict): string | null {
  const id = stringIn(message, "UserID") ?? stringIn(message, "EnrollmentUserID");
  return id !== null && /^[F-]+$/.test(id) ? (stringIn(message, "UserShortName") ?? id) : id;
}

interface Given {
  readonly host: HostRow | null;
  readonly identity: Identity;
  readonly serverUrl: string;
}

async function enrolled(inside: Context, device: Enrollment, { host, identity, serverUrl }: Given): Promise<void> {
  const { host_id, kind, enrollment_id } = device;
  if (!host) return;
  await Promise.all([
    setManaged(inside, host_id, { kind, serverUrl }),
    recordActivity(
      inside,
      "mdm_enrolled",
      {
        host_serial: host.hardware_serial,
        host_display_name: host.display_name,
        installed_from_dep: kind === "automatic",
        mdm_platform: "vendora",
        enrollment_id: kind === "personal" ? enrollment_id : null,
        platform: host.platform,
      },
      { hostId: host_id },
    ),
    notifyProfiles(inside.store, { hostIds: [host_id] }),
  ]);
  for (const { enrolled } of inside.extensions.appleDevices) await enrolled?.(inside, device, { host, identity });
}

async function checkOut(ctx: Context, device: Enrollment): Promise<string> {
  await ctx.store.tx((store) => endEnrollment(within(ctx, store), device), operationLock(device.host_id));
  return "";
}

/** The device has left device management, or was removed from it. Under the lock of its host's operations. */
export async function endEnrollment(inside: Inside, { id, host_id }: Pick<Enrollment, "id" | "host_id">) {
  const { store } = inside;
  const isLeft = and(eq("id", id), not(eq("state", "removed")));
  const tokens = { token: null, push_magic: null, unlock_token: null, bootstrap_token: null };
  const set = { state: "removed", returns_after: null, ...tokens } as const;
  if ((await store.appleEnrollments.update({ where: isLeft, set })) === 0) return;
  await store.appleEnrollments.delete(and(eq("host_id", host_id), eq("is_user", true)));
  await resetDevice(inside, { host_id, state: "removed" });
  const ended = await store.appleEnrollments.get(id);
  await setUnmanaged(inside, host_id, ended?.kind === "personal" ? ended.enrollment_id : null);
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
