// Automatic enrollment: a device that the business portal assigns to this server asks for its profile at its first start.

import { isOlder } from "../../../../text/versions.ts";
import type { Facts } from "../../../certificates/device-ca/tables.ts";
import { hours, minutes } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { type ApiError, forbidden, limitExceeded } from "../../../platform/core/errors.ts";
import { proved } from "../../../platform/core/http/strangers.ts";
import { sameText } from "../../../platform/core/random.ts";
import { part } from "../../../platform/core/running.ts";
import { countCall } from "../../../platform/rate-limits/attempts.ts";
import { FailureLimit } from "../../../platform/rate-limits/failures.ts";
import { and, eq, isNull } from "../../../platform/store/query.ts";
import { LATEST, latestFor, versionList } from "../../../settings/apple-versions/offered.ts";
import { mdmOfTeam } from "../../../settings/teams/mdm.ts";
import { requireAppleMdm } from "../../gate.ts";
import { enrollToken } from "../portal/assign.ts";
import { type DeviceRow, teamOf } from "../portal/devices.ts";
import { endUsersSignIn } from "../portal/end-users.ts";
import { BadMachineInfo, type MachineInfo, readMachineInfo } from "./machine-info.ts";
import { enrollmentProfile } from "./profile.ts";

/** A new device may first be updated, or wait for its user. */
const LIFETIME = hours(24);

const failures = part(
  "failures of automatic enrollment",
  (services) => new FailureLimit(services, { scope: "automatic enrollment", most: 100 }),
);
const CALLS = { scope: "automatic enrollment", most: 600, ofAll: 6_000, span: minutes(1) };

export interface AutomaticRequest {
  readonly token: string;
  /** Signed machine info in DER; null: none was sent. */
  readonly machineInfo: Buffer | null;
}

/** The device has to be updated first, to at least this version. */
export interface UpdateFirst {
  readonly osVersion: string;
}

export async function automaticProfile(ctx: Context, request: AutomaticRequest): Promise<Buffer | UpdateFirst> {
  await requireAppleMdm(ctx);
  const { device, info, teamId, osVersion } = await assignedDevice(ctx, request);
  if (osVersion !== null) return { osVersion };
  if (await endUsersSignIn(ctx, teamId)) throw refused(ctx, "its user has to sign in first");
  return profileFor(ctx, { device, info });
}

interface AutomaticEnrollment {
  readonly device: DeviceRow;
  readonly info: Pick<MachineInfo, "serial" | "udid">;
  readonly facts?: Facts;
}

export async function profileFor(ctx: Context, { device, info, facts = {} }: AutomaticEnrollment): Promise<Buffer> {
  await countCall(ctx, CALLS, ctx.address);
  const host = await hostOf(ctx, device);
  return enrollmentProfile(ctx, {
    team_id: await teamIdOf(ctx, device),
    ...(host ? { host_id: host.id } : {}),
    hardware_serial: info.serial,
    hardware_uuid: info.udid,
    facts: { ...facts, kind: "automatic" },
    lifetime: LIFETIME,
  });
}

/** 403 for everybody but devices that the portal assigns to this server. */
export async function assignedDevice(ctx: Context, { token, machineInfo }: AutomaticRequest) {
  try {
    if (!sameText(token, await enrollToken(ctx))) throw new BadMachineInfo("the token is wrong");
    if (machineInfo === null) throw new BadMachineInfo("it has sent no machine info");
    const info = readMachineInfo(ctx, machineInfo);
    const device = await ctx.store.portalDevices.first({ where: and(eq("serial", info.serial), isNull("deleted_at")) });
    if (!device) throw new BadMachineInfo("the portal does not assign it to this server");
    proved(ctx);
    const teamId = await teamIdOf(ctx, device);
    return { device, info, teamId, osVersion: await requiredVersion(ctx, teamId, { device, info }) };
  } catch (error) {
    throw error instanceof BadMachineInfo ? refused(ctx, error.message) : error;
  }
}

/** The reason is only logged. */
function refused(ctx: Context, reason: string): ApiError {
  ctx.log.warn({ address: ctx.address, reason }, "refused a device that asked for its enrollment");
  const wait = ctx.running.of(failures).fail(ctx);
  return wait > 0 ? limitExceeded(wait) : forbidden();
}

const hostOf = async ({ store }: Context, { host_id }: DeviceRow) =>
  host_id === null ? null : store.hosts.get(host_id);

async function teamIdOf(ctx: Context, device: DeviceRow): Promise<number | null> {
  const host = await hostOf(ctx, device);
  return host ? host.team_id : defaultTeam(ctx, device);
}

async function defaultTeam({ store }: Context, device: DeviceRow): Promise<number | null> {
  const token = await store.abmTokens.get(device.token_id);
  return token ? teamOf(token, device.family) : null;
}

const settingOf = { macos: "macos_updates", ios: "ios_updates", ipados: "ipados_updates" } as const;
const platformOf = { macos: "darwin", ios: "ios", ipados: "ipados" } as const;

/** The version to which the device has to be updated first; null: none, or it cannot do so. */
async function requiredVersion(
  ctx: Context,
  teamId: number | null,
  { device, info }: { device: DeviceRow; info: MachineInfo },
): Promise<string | null> {
  if (!info.canUpdate || info.osVersion === "") return null;
  const mdm = await mdmOfTeam(ctx, teamId);
  if (device.family === "macos" && !mdm.macos_updates.update_new_hosts) return null;
  const { minimum_version } = mdm[settingOf[device.family]];
  const least = minimum_version === LATEST ? await newestVersion(ctx, device, info) : minimum_version;
  return least !== "" && isOlder(info.osVersion, least) ? least : null;
}

/** Empty: it is not known. */
async function newestVersion({ store, clock }: Context, { family }: DeviceRow, info: MachineInfo): Promise<string> {
  const list = await versionList(store);
  const device = { platform: platformOf[family], device: info.updateDevice || info.product };
  return (list && latestFor(list, device, clock.iso().slice(0, 10)))?.version ?? "";
}
