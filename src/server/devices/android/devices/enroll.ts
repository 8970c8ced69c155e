// Android devices become hosts when the vendor reports them for the first time.

import type { EnrollmentKind, EnrollRequest } from "../../../hosts/enrollment/kind.ts";
import { createHostEnrollment } from "../../../hosts/enrollment/service.ts";
import { forgetActions } from "../../../hosts/host-actions/states.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import { addSeen, seenRow } from "../../../hosts/hosts/seen.ts";
import { isSerialNumber } from "../../../hosts/hosts/serial-number.ts";
import { setManaged } from "../../../hosts/mdm-status/managed.ts";
import { operationLock } from "../../../hosts/operations/queue.ts";
import { recordHostActivity } from "../../../platform/activities/by-host.ts";
import { type Context, type Services, within } from "../../../platform/core/context.ts";
import { serverUrl } from "../../../platform/core/http/links.ts";
import { startedPart } from "../../../platform/core/running.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, everything, isNull, lt, oneOf, or, same } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { dropCommands } from "../../commands/rows.ts";
import { forgetProfiles } from "../../profiles/host-rows.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import { ANDROID_LANE } from "../lane.ts";
import { wantPolicies } from "../policies/wanted.ts";
import { teamOfNote } from "./enrollment-token.ts";
import { type AndroidDevice, enrolledAt, factsOf, identityOf, isPersonal, reportedAt } from "./report.ts";
import type { androidDevices } from "./tables.ts";

export type AndroidDeviceRow = RowOf<typeof androidDevices>;

interface AndroidRequest extends EnrollRequest {
  readonly device: AndroidDevice;
}

/** A device reports its id itself: it may be that of a computer, or of a device with another serial number. */
function isAnotherDevice(device: AndroidDevice, host: HostRow): boolean {
  const { uuid, serial } = identityOf(device);
  // The id of a personal device takes the place of its serial number.
  const isSerial = (text: string) => text !== "" && text !== uuid;
  const isOtherSerial = isSerial(serial) && isSerial(host.hardware_serial) && serial !== host.hardware_serial;
  return host.platform !== "android" || isOtherSerial;
}

const androidKind = (): EnrollmentKind<AndroidRequest> => ({
  agent: "android_device",
  lane: ANDROID_LANE,
  reported: async (matched) =>
    matched.map(({ request: { device }, existing }) => {
      const { uuid, serial } = identityOf(device);
      const facts = factsOf(device);
      return {
        ...facts,
        uuid: existing?.uuid || uuid,
        hardware_serial: existing?.hardware_serial || serial,
        platform: "android",
        display_name: facts.display_name || existing?.display_name || serial || uuid,
      };
    }),
  // A device enrolls when its user sets it up: it does not repeat that by itself.
  lastEnrolled: async () => new Map(),
  taken: async (_tx, matched) =>
    new Set(matched.flatMap(({ request, existing }) => (isAnotherDevice(request.device, existing) ? [request] : []))),
  write: async (tx, enrolled, now) =>
    addSeen(
      tx,
      enrolled.map(({ row }) => seenRow({ id: row.id, ...reporting }, now)),
    ),
  forget: () => {},
});

/** Devices report once a day, and when something changes: seconds. */
export const reporting = { distributed_interval: 86_400, config_tls_refresh: 86_400 };

export const androidEnrollment = startedPart("enrollment of Android devices", async (services: Services) => {
  const enrollment = createHostEnrollment(services, androidKind());
  return { enroll: enrollment.enroll, stop: () => enrollment.idle() };
});

export const deviceNamed = ({ store }: Pick<Context, "store">, name: string): Promise<AndroidDeviceRow | null> =>
  store.androidDevices.first({ where: eq("name", name) });

/**
 * The host of the same device in an earlier enrollment. Personal devices have an id that stays; of others, the vendor knows
 * the earlier names and the serial number.
 */
async function earlierHost({ store }: Pick<Context, "store">, device: AndroidDevice): Promise<HostRow | null> {
  if (isPersonal(device)) return null;
  const { previousDeviceNames: names } = device;
  const [named] = await store.androidDevices.list({ where: oneOf("name", names), order: newest, limit: 1 });
  if (named) return store.hosts.get(named.host_id);
  const { serial } = identityOf(device);
  if (!isSerialNumber(serial)) return null;
  const where = and(eq("platform", "android"), same("hardware_serial", serial));
  return store.hosts.first({ where, order: newest });
}

const newest = [{ column: "id", direction: "desc" }] as const;

/** Whether the host's device has enrolled again since this enrollment, which the vendor may still list. */
async function isReplaced({ store }: Pick<Context, "store">, hostId: number, device: AndroidDevice): Promise<boolean> {
  const current = await store.androidDevices.first({ where: eq("host_id", hostId) });
  const since = enrolledAt(device);
  return current?.enrolled_at != null && since !== null && since < current.enrolled_at;
}

/** Null: the device has no token of this server, may not enroll, or has enrolled again since. */
export async function enrollDevice(ctx: Context, device: AndroidDevice): Promise<AndroidDeviceRow | null> {
  const teamId = await teamOfNote(ctx, device.enrollmentTokenData);
  if (teamId === undefined) {
    ctx.log.warn({ device: device.name }, "an Android device has enrolled without a token of this server");
    return null;
  }
  const { uuid } = identityOf(device);
  const earlier = await earlierHost(ctx, device);
  if (earlier !== null && (await isReplaced(ctx, earlier.id, device))) return null;
  const target = earlier === null ? {} : { hostId: earlier.id };
  const request = { identifier: earlier?.identifier ?? uuid, ...target, teamId, isProved: false, address: "", device };
  const outcome = await ctx.running.of(androidEnrollment).enroll(request);
  if ("refused" in outcome) {
    ctx.log.warn({ device: device.name, reason: outcome.reason }, "an Android device was refused");
    return null;
  }
  const { row: host } = outcome;
  const personal = isPersonal(device);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const enrolled = await deviceNamed(inside, device.name);
    if (enrolled?.host_id === host.id) return enrolled;
    await dropCommands(inside, [host.id], ANDROID_LANE);
    await forgetProfiles(inside, [host.id]);
    await forgetActions(inside, host.id);
    await store.androidDevices.delete(eq("host_id", host.id));
    const [row] = await store.androidDevices.upsert(
      [
        {
          created_at: ctx.clock.iso(),
          name: device.name,
          host_id: host.id,
          is_personal: personal,
          enrolled_at: enrolledAt(device),
          reported_at: null,
        },
      ],
      { on: ["name"] },
    );
    const kind = personal ? "personal" : "manual";
    await setManaged(inside, host.id, { kind, serverUrl: await serverUrl({ ...ctx, config: ctx.config.over(store) }) });
    await recordHostActivity(inside, host.id, "mdm_enrolled", {
      host_serial: host.hardware_serial,
      host_display_name: host.display_name,
      installed_from_dep: false,
      mdm_platform: "android",
      enrollment_id: personal ? host.uuid : null,
      platform: host.platform,
    });
    await wantPolicies(inside, [host.id], { isNew: true });
    await notifyProfiles(store, { hostIds: [host.id] });
    return row!;
  }, operationLock(host.id));
}

/** The row of a device that is not managed any more. False: it was deleted already. */
export const deleteDevice = async (tx: ServerTx, id: number): Promise<boolean> =>
  (await tx.androidDevices.delete(eq("id", id))) > 0;

export const deleteAllDevices = async (tx: ServerTx): Promise<void> =>
  void (await tx.androidDevices.delete(everything));

/** Whether nothing newer was read before. Enrollments have no time. */
export async function isNewest(
  { store }: Pick<Context, "store">,
  row: AndroidDeviceRow,
  device: AndroidDevice,
): Promise<boolean> {
  const reported_at = reportedAt(device);
  if (reported_at === null) return true;
  const isOlder = or(isNull("reported_at"), lt("reported_at", reported_at), eq("reported_at", reported_at));
  return (await store.androidDevices.update({ where: and(eq("id", row.id), isOlder), set: { reported_at } })) > 0;
}
