// Enrolls devices, and renews their certificates (docs/protocols/windows.md, Enrollment).
import { withoutInvisible } from "../../../../agent-wire/invisible.ts";
import { AGENT_DISCOVERY, windowsChannelApi, windowsEnrollApi } from "../../../../api/devices/windows.ts";
import type { Envelope } from "../../../../soap/envelope.ts";
import { requestTypes } from "../../../../soap/names.ts";
import { writeProvisioning } from "../../../../soap/provisioning.ts";
import { readTokenRequest, type TokenRequest } from "../../../../soap/token.ts";
import { deviceCa } from "../../../certificates/device-ca/ca.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import { haveAgents } from "../../../hosts/managed-agents/rows.ts";
import { operationLock } from "../../../hosts/operations/queue.ts";
import { clip } from "../../../platform/agent-protocol/rows.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { limit } from "../../../platform/core/limits.ts";
import { and, eq } from "../../../platform/store/query.ts";
import { addEnrollment, DeviceTaken, isEnrolled, windowsUrl } from "../channel/devices.ts";
import { emptyNonce, newNonce } from "../channel/nonces.ts";
import { rebind } from "../channel/session.ts";
import { useToken } from "../sign-in/used.ts";
import { callerOf, type EnrollCaller } from "./callers.ts";
import { type IssuedCertificate, issue, renewalIn, requestIn } from "./certificate.ts";
import { type WindowsDevice, windowsEnrollment } from "./kind.ts";
import { application, certificateStore, polling } from "./provisioning.ts";
import { recordEnrolled } from "./record.ts";
import { EnrollRefusal } from "./refusal.ts";

/** The provisioning document. */
export async function enroll(ctx: Context, { token, content }: Envelope): Promise<string> {
  const tokenRequest = readTokenRequest(content);
  if (tokenRequest.requestType === requestTypes.renew) return renew(ctx, tokenRequest);
  if (tokenRequest.requestType !== requestTypes.issue)
    throw new EnrollRefusal("MessageFormat", "the type of the request is neither Issue nor Renew");
  const caller = await callerOf(ctx, token);
  const request = requestIn(tokenRequest.request);
  const device = deviceOf(tokenRequest);
  if (caller.token !== null && !(await useToken(ctx, caller.token, device.deviceId)))
    throw new EnrollRefusal("InvalidSecurity", "another device has enrolled with this token: sign in again");
  const host = await hostOf(ctx, caller, device);
  const ca = await deviceCa(ctx);
  const account = ctx.random.uuid();
  const secret = ctx.random.token(32);
  const { identity, nonce } = await taken(() =>
    ctx.store.tx(async (store) => {
      const inside = within(ctx, store);
      const identity = await issue(inside, ca, { request, hostId: host.id, teamId: host.team_id });
      const enrollment = await addEnrollment(inside, {
        device_id: device.deviceId,
        hardware_id: device.hardwareId,
        host_id: host.id,
        kind: caller.kind,
        is_alone: caller.hostId === null && (await store.hosts.count(and(eq("id", host.id), haveAgents))) === 0,
        identity_id: identity.id,
        account,
        secret,
      });
      const path = caller.hostId === null ? windowsEnrollApi.discover.path : AGENT_DISCOVERY;
      await recordEnrolled(inside, host, { enrollment, path, email: caller.email });
      return { identity, nonce: await newNonce(inside, enrollment.id) };
    }, operationLock(host.id)),
  );
  const { org_info } = await ctx.config.current();
  const { isOfMachine } = device;
  return writeProvisioning([
    certificateStore({ ca: ca.certificate.der, certificate: identity.certificate, isOfMachine }),
    application({
      url: await urlOf(ctx, windowsChannelApi.manage.path),
      organization: org_info.org_name || "svc",
      name: account,
      secret,
      nonce,
      serverSecret: ctx.random.token(32),
      serverNonce: emptyNonce(ctx),
      commonName: identity.commonName,
      isOfMachine,
    }),
    polling(),
  ]);
}

async function taken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DeviceTaken ? deviceTaken() : error;
  }
}

const deviceTaken = () => new EnrollRefusal("Authorization", "a device with this DeviceID is enrolled as another host");

async function urlOf(ctx: Context, path: string): Promise<string> {
  const url = await windowsUrl(ctx, path);
  if (url === null) throw new EnrollRefusal("EnrollmentServer", "the server's address is not set");
  return url;
}

/** Part of an identifier of the host. */
const ID_MAX = 200;
const TEXT_MAX = 255;
export const windowsDeviceLimits = [
  limit({
    what: "`DeviceID` and `HWDevID` of a Windows device",
    max: ID_MAX,
    unit: "characters",
    beyond: "The enrollment is refused with a fault.",
  }),
  limit({
    what: "`DeviceName` and `OSVersion` of a Windows device",
    max: TEXT_MAX,
    unit: "characters",
    beyond: "The rest is cut off.",
  }),
];

function deviceOf({ context }: TokenRequest): WindowsDevice {
  const text = (name: string) => (context.get(name) ?? "").trim();
  const deviceId = text("DeviceID");
  if (deviceId === "" || deviceId.length > ID_MAX)
    throw new EnrollRefusal("MessageFormat", `the request needs a DeviceID of at most ${ID_MAX} characters`);
  if (text("HWDevID").length > ID_MAX)
    throw new EnrollRefusal("MessageFormat", `the HWDevID must have at most ${ID_MAX} characters`);
  for (const name of ["DeviceID", "HWDevID"])
    if (withoutInvisible(text(name)) !== text(name))
      throw new EnrollRefusal("MessageFormat", `the ${name} must not contain invisible characters`);
  return {
    deviceId,
    hardwareId: text("HWDevID") || deviceId,
    name: clip(text("DeviceName")),
    osVersion: clip(text("OSVersion")),
    isOfMachine: text("EnrollmentType") === "Device",
  };
}

/** The host that the device is: that of the agent, that of its earlier enrollment, or a new one. */
async function hostOf(ctx: Context, { hostId, teamId, email }: EnrollCaller, device: WindowsDevice): Promise<HostRow> {
  const { hardwareId } = device;
  const enrolled = await ctx.store.windowsEnrollments.first({
    where: and(eq("device_id", device.deviceId), isEnrolled),
  });
  const isOther = hostId === null ? enrolled?.hardware_id !== hardwareId : enrolled?.host_id !== hostId;
  if (enrolled && isOther) throw deviceTaken();
  const before = hostId === null ? await hostOfHardware(ctx, hardwareId) : null;
  const outcome = await ctx.running.of(windowsEnrollment).enroll({
    // Nobody has checked what the device says: with an identifier of another kind it cannot become somebody's computer.
    identifier: before?.identifier ?? `windows-device-${hardwareId}`,
    ...(hostId === null ? {} : { hostId }),
    teamId,
    isProved: false,
    address: ctx.address,
    device,
    email,
  });
  if (!("refused" in outcome)) return outcome.row;
  if (outcome.refused !== "machine") throw new EnrollRefusal("Authorization", outcome.reason);
  const reason =
    "the computer is enrolled by another user: unenroll its host, or set the new user on it, and try again";
  throw new EnrollRefusal("Authorization", reason);
}

async function hostOfHardware({ store }: Context, hardwareId: string): Promise<HostRow | null> {
  const matches = await store.windowsEnrollments.list({ where: eq("hardware_id", hardwareId), limit: 2 });
  // Copies of a machine have the same.
  return matches.length === 1 ? store.hosts.get(matches[0]!.host_id) : null;
}

/** Only the certificates: everything else stays as it is. */
async function renew(ctx: Context, tokenRequest: TokenRequest): Promise<string> {
  const { request, identity } = await renewalIn(ctx, tokenRequest.request);
  const enrollment = await ctx.store.windowsEnrollments.first({
    where: and(eq("host_id", identity.host_id), isEnrolled),
  });
  if (!enrollment || !(enrollment.identity_id === identity.id || (await rebind(ctx, enrollment, identity))))
    throw new EnrollRefusal("Authorization", "the certificate is not that of an enrolled device");
  const deviceId = tokenRequest.context.get("DeviceID");
  if (deviceId !== undefined && deviceId !== enrollment.device_id)
    throw new EnrollRefusal("Authorization", "the certificate is that of another device");
  const ca = await deviceCa(ctx);
  const renewed: IssuedCertificate = await ctx.store.tx((store) =>
    issue(within(ctx, store), ca, {
      request,
      hostId: enrollment.host_id,
      teamId: identity.team_id,
      renews: { enrollmentId: enrollment.id, serial: identity.serial },
    }),
  );
  const isOfMachine = tokenRequest.context.get("EnrollmentType") === "Device";
  return writeProvisioning([
    certificateStore({ ca: ca.certificate.der, certificate: renewed.certificate, isOfMachine }),
  ]);
}
