// Writes what the portal reports of devices, and adds the hosts that will enroll.

import { type ExpectedHost, expectHosts } from "../../../hosts/enrollment/expected.ts";
import type { HardwareLookup } from "../../../hosts/enrollment/kind.ts";
import type { JoinedLabels } from "../../../hosts/labels/joined.ts";
import { expectEnrollment, expectNoEnrollment } from "../../../hosts/mdm-status/expected.ts";
import { isoAt } from "../../../platform/core/clock.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, gt, isNull, oneOf } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { PortalDevice } from "./client.ts";
import type { portalDevices } from "./tables.ts";
import type { AbmTokenRow } from "./tokens.ts";

export type DeviceRow = RowOf<typeof portalDevices>;
type Family = DeviceRow["family"];

const families: Readonly<Record<string, Family>> = {
  mac: "macos",
  iphone: "ios",
  ipod: "ios",
  ipad: "ipados",
};
/** Null: a device that this server does not manage, such as a television. */
const familyOf = ({ device_family }: PortalDevice): Family | null =>
  families[(device_family ?? "").toLowerCase()] ?? null;

const platforms = { macos: "darwin", ios: "ios", ipados: "ipados" } as const;

export const teamOf = (token: AbmTokenRow, family: Family): number | null =>
  ({ macos: token.macos_team_id, ios: token.ios_team_id, ipados: token.ipados_team_id })[family];

const timeOf = (text: string | null | undefined): string | null => {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : isoAt(time);
};

const EPOCH = isoAt(0);

/** The latest of several reports of a device. */
function latest(devices: readonly PortalDevice[]): PortalDevice[] {
  const bySerial = new Map<string, PortalDevice>();
  for (const device of devices) {
    const other = bySerial.get(device.serial_number);
    if (!other || (timeOf(device.op_date) ?? EPOCH) >= (timeOf(other.op_date) ?? EPOCH))
      bySerial.set(device.serial_number, device);
  }
  return [...bySerial.values()];
}

interface Page {
  readonly token: AbmTokenRow;
  readonly page: readonly PortalDevice[];
  /** The labels that new hosts join. */
  readonly labels: JoinedLabels;
}

/** Devices per transaction. */
const LOST_BATCH_SIZE = 500;

interface WrittenDevices {
  /** Hosts that were only expected, and whose device left the organization. */
  readonly gone: readonly number[];
}

/** A device that is assigned to this server, and what the server knew of it. */
interface PresentDevice {
  readonly device: PortalDevice;
  readonly family: Family;
  readonly existing: DeviceRow | undefined;
}

/** Writes one page in the caller's transaction, which needs `enrollLock`. */
export async function writeDevices(
  services: Pick<Services, "clock" | "license">,
  tx: ServerTx,
  { token, page, labels }: Page,
): Promise<WrittenDevices> {
  const devices = latest(page);
  const serials = devices.map(({ serial_number }) => serial_number);
  const rows = await tx.portalDevices.list({ where: oneOf("serial", serials) });
  const existingBySerial = new Map(rows.map((row) => [row.serial, row]));
  const news = devices
    .map((device) => ({ device, existing: existingBySerial.get(device.serial_number) }))
    .filter(
      ({ device, existing }) => !existing || (timeOf(device.op_date) ?? existing.changed_at) >= existing.changed_at,
    );
  const present = news.flatMap(({ device, existing }): PresentDevice[] => {
    const family = familyOf(device) ?? existing?.family ?? null;
    return isDeleted(device) || family === null ? [] : [{ device, family, existing }];
  });
  const now = services.clock.iso();
  const expected = present.map(({ device, family }) => expectedHost(token, device, family));
  const { idOf } = await expectHosts(services, tx, { expected, labels });
  await tx.portalDevices.upsert(
    present.map((entry) => ({
      ...reportedRow(token, entry, now),
      host_id: idOf.get(entry.device.serial_number) ?? null,
    })),
    { on: ["serial"], returning: [] },
  );
  await expectEnrollment(
    tx,
    present.flatMap(({ device }) => idOf.get(device.serial_number) ?? []),
  );
  const deleted = news.flatMap(({ device, existing }) =>
    isDeleted(device) && existing && existing.token_id === token.id ? [{ device, existing }] : [],
  );
  for (const { device, existing } of deleted)
    await tx.portalDevices.update({
      where: eq("id", existing.id),
      set: { deleted_at: now, changed_at: timeOf(device.op_date) ?? now, profile_uuid: "" },
    });
  return {
    gone: await leave(
      tx,
      deleted.map(({ existing }) => existing),
    ),
  };
}

const isDeleted = ({ op_type }: PortalDevice): boolean => (op_type ?? "").toLowerCase() === "deleted";

const expectedHost = (token: AbmTokenRow, device: PortalDevice, family: Family): ExpectedHost => ({
  serial: device.serial_number,
  platform: platforms[family],
  model: device.model ?? "",
  teamId: teamOf(token, family),
});

/** What the portal reports, and what only this server knows. */
function reportedRow(token: AbmTokenRow, { device, family, existing }: PresentDevice, now: string) {
  const assignedAt = timeOf(device.device_assigned_date);
  return {
    serial: device.serial_number,
    token_id: token.id,
    family,
    model: device.model ?? existing?.model ?? "",
    added_at: existing && existing.deleted_at === null ? existing.added_at : (assignedAt ?? now),
    seen_at: now,
    changed_at: timeOf(device.op_date) ?? existing?.changed_at ?? assignedAt ?? EPOCH,
    deleted_at: null,
    profile_uuid: device.profile_uuid ?? (existing?.token_id === token.id ? existing.profile_uuid : ""),
    response: existing?.response ?? "",
    response_at: existing?.response_at ?? null,
    retry_at: existing?.retry_at ?? null,
    migration_deadline: timeOf(device.mdm_migration_deadline),
  };
}

/**
 * Hosts of devices that the portal still lists may have been deleted: their devices may enroll at any time, so they are
 * expected again. Of devices after this id; returns the last one that was looked at, or null after all of them.
 */
export async function expectDeletedHosts(
  services: Pick<Services, "clock" | "license">,
  tx: ServerTx,
  { token, labels, after }: Omit<Page, "page"> & { readonly after: number },
): Promise<number | null> {
  const isLost = and(eq("token_id", token.id), isNull("deleted_at"), isNull("host_id"), gt("id", after));
  const lost = await tx.portalDevices.list({ where: isLost, limit: LOST_BATCH_SIZE });
  if (lost.length === 0) return null;
  const expected = lost.map(
    ({ serial, family, model }): ExpectedHost => ({
      serial,
      platform: platforms[family],
      model,
      teamId: teamOf(token, family),
    }),
  );
  const { idOf } = await expectHosts(services, tx, { expected, labels });
  const matched = lost.flatMap(({ id, serial }) => (idOf.has(serial) ? [{ id, host_id: idOf.get(serial)! }] : []));
  if (matched.length > 0) await tx.portalDevices.updateEach(matched);
  await expectEnrollment(tx, [...idOf.values()]);
  return lost.at(-1)!.id;
}

/** Marks devices as gone that the full list did not name. */
export async function removeUnseen(tx: ServerTx, rows: readonly DeviceRow[], now: string): Promise<WrittenDevices> {
  await tx.portalDevices.update({
    where: oneOf(
      "id",
      rows.map(({ id }) => id),
    ),
    set: { deleted_at: now, profile_uuid: "" },
  });
  return { gone: await leave(tx, rows) };
}

const leave = (tx: ServerTx, rows: readonly DeviceRow[]): Promise<number[]> =>
  expectNoEnrollment(
    tx,
    rows.flatMap(({ host_id }) => host_id ?? []),
  );

/** The hosts of devices that the portal assigns. */
export const assignedHosts: HardwareLookup = async (store, hardware) => {
  const serials = hardware.flatMap(({ serial }) => (serial === "" ? [] : [serial, serial.toUpperCase()]));
  const where = and(oneOf("serial", serials), isNull("deleted_at"));
  const rows = await store.portalDevices.pick(["serial", "host_id"], { where });
  const bySerial = new Map(rows.map(({ serial, host_id }) => [serial.toUpperCase(), host_id]));
  return hardware.map(({ serial }) => bySerial.get(serial.toUpperCase()) ?? null);
};
