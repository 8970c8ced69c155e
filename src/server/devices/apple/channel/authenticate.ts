// Authenticate: a device is about to enroll. Its identity is bound to it, its host and this enrollment.

import { withoutInvisible } from "../../../../agent-wire/invisible.ts";
import { type PlistDict, stringIn } from "../../../../plist/value.ts";
import {
  bindingIdentity,
  boundIdentity,
  type Identity,
  isOfDevice,
  revokeIdentities,
} from "../../../certificates/device-ca/identities.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import { spellingsOf } from "../../../hosts/hosts/identifier.ts";
import { operationLock } from "../../../hosts/operations/queue.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { badRequest } from "../../../platform/core/errors.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, not, nothing, oneOf, or, type Predicate, same } from "../../../platform/store/query.ts";
import { endManagement } from "../../leaving/leave.ts";
import { forgetProfiles } from "../../profiles/host-rows.ts";
import { endEnrollment, enrollmentNamed, isDevice, resetDevice } from "./devices.ts";
import { type AppleDevice, appleEnrollment, deviceOf, isAlike } from "./kind.ts";
import type { Enrollment } from "./listeners.ts";
import { APPLE_ENROLLMENT, CONNECTS_TO, enrollmentIdOf, NotAllowed, USER_SEPARATOR } from "./wire.ts";

/** What the message proves and claims. */
interface Authenticating {
  readonly enrollmentId: string;
  readonly device: AppleDevice;
  readonly kind: Enrollment["kind"];
  readonly identity: Identity;
}

/** Begins an enrollment. Whatever an earlier one of the device has left is dropped. */
export async function authenticate(ctx: Context, message: PlistDict, identity: Identity): Promise<string> {
  const request = readAuthenticate(message, identity);
  const { enrollmentId, device } = request;
  const [existing, bound] = await Promise.all([
    enrollmentNamed(ctx.store, enrollmentId),
    identity.host_id === null ? null : ctx.store.hosts.get(identity.host_id),
  ]);
  await checkIdentity(ctx.store, request, existing);
  // A host that the identity is for may have been transferred since.
  const { team_id: teamId } = bound ?? identity;
  const hostId = bound?.id ?? existing?.host_id;
  const outcome = await ctx.running.of(appleEnrollment).enroll({
    identifier: (await knownByHardware(ctx, device, teamId)) ?? enrollmentId,
    ...(hostId === undefined ? {} : { hostId }),
    ...(device.udid === "" ? {} : { uuid: device.udid, hardware: { uuid: device.udid, serial: device.serial } }),
    teamId,
    isProved: false,
    address: ctx.address,
    device,
    enrollmentId,
    isForHost: bound !== null,
  });
  if ("refused" in outcome) throw new NotAllowed(outcome.reason);
  const { row: host, isNew } = outcome;
  if (existing && existing.host_id !== host.id) await endElsewhere(ctx, existing, request);
  await bindingIdentity(ctx, identity, () =>
    ctx.store.tx((store) => bind(within(ctx, store), message, { ...request, host, isNew }), operationLock(host.id)),
  );
  if (existing) await logReplaced(ctx, existing, { ...request, host });
  return "";
}

/** A wiped device enrolls again with a new identity. Somebody else with a secret of its team could do the same. */
async function logReplaced(
  ctx: Context,
  existing: Enrollment,
  { identity, host, ...request }: Authenticating & { readonly host: HostRow },
): Promise<void> {
  if (existing.identity_id === null || existing.identity_id === identity.id) return;
  const earlier = await ctx.store.deviceIdentities.get(existing.identity_id);
  const isExpected = identity.host_id !== null || isProved({ identity, ...request });
  ctx.log[isExpected ? "info" : "warn"](
    {
      host_id: host.id,
      earlier_host_id: existing.host_id,
      enrollment_id: existing.enrollment_id,
      earlier_state: existing.state,
      identity_serial: identity.serial,
      earlier_identity_serial: earlier?.serial ?? null,
      address: ctx.address,
    },
    "an Apple device has enrolled again with another identity; the earlier identity is not accepted any more",
  );
}

function readAuthenticate(message: PlistDict, identity: Identity): Authenticating {
  const enrollmentId = enrollmentIdOf(message);
  if (enrollmentId === null || enrollmentId === "")
    throw badRequest("the message needs a UDID or an EnrollmentID", "UDID");
  // An id with spaces or invisible characters would look like the id of another device.
  if (withoutInvisible(enrollmentId).trim() !== enrollmentId)
    throw badRequest("must not contain invisible characters, or begin or end with spaces", "UDID");
  if (enrollmentId.includes(USER_SEPARATOR)) throw new NotAllowed("the id is that of a user's channel");
  if (identity.purpose !== APPLE_ENROLLMENT) throw new NotAllowed("the identity is not for Apple devices");
  const isPersonal = stringIn(message, "UDID") === null;
  if (isPersonal !== (identity.facts.kind === "personal"))
    throw new NotAllowed(
      isPersonal ? "the identity is not for a personal device" : "the identity is for a personal device",
    );
  const device = deviceOf(message);
  if (!isOfDevice(identity, { hardware_serial: device.serial, hardware_uuid: device.udid }))
    throw new NotAllowed("the identity belongs to another device");
  const kind = isPersonal ? "personal" : identity.facts.kind === "automatic" ? "automatic" : "manual";
  return { enrollmentId, device, kind, identity };
}

/** The device has shown its UDID and serial number with a signature of its vendor before it got its identity. */
const isProved = ({ identity, device }: Authenticating): boolean =>
  identity.facts.kind === "automatic" &&
  identity.hardware_uuid !== null &&
  identity.hardware_uuid.toLowerCase() === device.udid.toLowerCase();

/** An identity serves one enrollment, and an enrollment stays that of its host. */
async function checkIdentity(store: ServerTx, request: Authenticating, existing: Enrollment | null): Promise<void> {
  const { identity, kind } = request;
  const enrollment = await store.appleEnrollments.first({ where: and(eq("identity_id", identity.id), isDevice) });
  if (enrollment && enrollment.id !== existing?.id) throw new NotAllowed("the identity belongs to another enrollment");
  if (!existing) return;
  if ((existing.kind === "personal") !== (kind === "personal"))
    throw new NotAllowed("the enrollment is of another kind");
  // Nothing but its identity proves which personal device it is.
  const isOther = identity.host_id === null ? kind === "personal" : identity.host_id !== existing.host_id;
  if (isOther && !isProved(request)) throw new NotAllowed("the enrollment belongs to another host");
}

/** Somebody has enrolled with the UDID of a device that now proves to have it. */
async function endElsewhere(ctx: Context, existing: Enrollment, request: Authenticating): Promise<void> {
  if (!isProved(request)) throw new NotAllowed("the enrollment belongs to another host");
  await ctx.store.tx(async (store) => {
    await endEnrollment(within(ctx, store), existing);
    await dropEnrollments(within(ctx, store), eq("id", existing.id), request.identity);
  }, operationLock(existing.host_id));
}

interface Binding extends Authenticating {
  readonly host: HostRow;
  readonly isNew: boolean;
}

/** Throws `NotAllowed` if the identity or the enrollment was bound to another device meanwhile. */
async function bind(
  inside: Context,
  message: PlistDict,
  { enrollmentId, device, kind, identity, host, isNew }: Binding,
) {
  const { store, clock } = inside;
  const uses = { host_id: host.id, hardware_serial: device.serial, hardware_uuid: device.udid };
  const [ownIdentity, existing] = await Promise.all([
    boundIdentity({ store }, identity, uses),
    enrollmentNamed(store, enrollmentId),
  ]);
  // What was written is rolled back.
  if (!ownIdentity || (existing && existing.host_id !== host.id))
    throw new NotAllowed("the identity belongs to another device");
  const isEarlier = and(eq("host_id", host.id), or(eq("is_user", true), not(eq("enrollment_id", enrollmentId))));
  if (!isNew) await dropEnrollments(inside, isEarlier, identity);
  if (existing?.identity_id != null && existing.identity_id !== identity.id) {
    await revokeIdentities(inside, [existing.identity_id]);
    // The device with the earlier identity can neither connect nor leave. Whoever has the new one may stop here.
    if (existing.state === "enabled")
      await endManagement(inside, host.id, existing.kind === "personal" ? enrollmentId : null);
  }
  const row = {
    created_at: clock.iso(),
    enrollment_id: enrollmentId,
    host_id: host.id,
    state: "authenticated" as const,
    kind,
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
  await store.appleEnrollments.upsert([row], { on: ["enrollment_id"], returning: [] });
  // Nothing was ever asked of a host that is new.
  if (isNew) return ownIdentity;
  await forgetProfiles(inside, [host.id]);
  await resetDevice(inside, { host_id: host.id, state: "authenticated" });
  return ownIdentity;
}

/** A host has one device: the identities of those that it has had before are not accepted any more. */
async function dropEnrollments(inside: Context, where: Predicate, { id: current }: Identity): Promise<void> {
  const rows = await inside.store.appleEnrollments.pick(["id", "identity_id"], { where });
  if (rows.length === 0) return;
  const ended = rows.flatMap(({ identity_id }) => (identity_id === null || identity_id === current ? [] : identity_id));
  if (ended.length > 0) await revokeIdentities(inside, ended);
  await inside.store.appleEnrollments.delete(
    oneOf(
      "id",
      rows.map(({ id }) => id),
    ),
  );
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
  // Personal devices have no hardware that they could prove.
  if (udid === "") return null;
  const isSame = ({ uuid, hardware_serial }: Pick<HostRow, "uuid" | "hardware_serial">) =>
    isAlike(uuid, udid) && isAlike(hardware_serial, serial);
  const bySerial = serial === "" ? nothing : and(same("hardware_serial", serial), eq("team_id", teamId));
  const byUdid = same("uuid", ...spellingsOf(udid));
  // Most devices are new, and neither finds a host.
  if ((await ctx.store.hosts.pick(["id"], { where: or(bySerial, byUdid), limit: 1 })).length === 0) return null;
  const sole = async (where: Predicate) => {
    const hosts = await ctx.store.hosts.pick(["identifier", "uuid", "hardware_serial"], { where, limit: 2 });
    return hosts.length === 1 && isSame(hosts[0]!) ? hosts[0]!.identifier : null;
  };
  return (await sole(bySerial)) ?? sole(byUdid);
}
