// Hosts that are known before they have contacted the server, such as devices that the organization has bought.
import { channels, hostsPayload } from "../../platform/core/channels.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf, or, same } from "../../platform/store/query.ts";
import { insertHosts } from "../hosts/enrolled.ts";
import { identifierSpellings, storedIdentifier } from "../hosts/identifier.ts";
import { type JoinedLabels, joinLabels } from "../labels/joined.ts";

export interface ExpectedHost {
  readonly serial: string;
  readonly platform: "darwin" | "ios" | "ipados";
  readonly model: string;
  /** The team of a new host. A known host keeps its team. */
  readonly teamId: number | null;
}

interface ExpectedHosts {
  /** The id of each host, by serial number. Those beyond the device limit of the license are missing. */
  readonly idOf: ReadonlyMap<string, number>;
  readonly added: readonly number[];
}

/** The lock of the transactions that add hosts while the license limits their number. */
export const enrollLock = { lock: "enroll" } as const;

/**
 * The hosts with these serial numbers. Unknown ones are added, in the caller's transaction, which needs `enrollLock`.
 * They become members of `labels` (the part `joinedLabels`).
 */
export async function expectHosts(
  services: Pick<Services, "clock" | "license">,
  tx: ServerTx,
  { expected, labels }: { expected: readonly ExpectedHost[]; labels: JoinedLabels },
): Promise<ExpectedHosts> {
  const serials = expected.map(({ serial }) => serial);
  const existing = await tx.hosts.pick(["id", "identifier", "hardware_serial"], {
    where: or(same("hardware_serial", ...serials), oneOf("identifier", serials.flatMap(identifierSpellings))),
  });
  const idOf = new Map<string, number>();
  const bySerial = new Map<string, number>();
  // The first host of a serial number counts.
  for (const { id, identifier, hardware_serial } of existing.sort((a, b) => b.id - a.id)) {
    bySerial.set(storedIdentifier(identifier), id);
    if (hardware_serial !== "") bySerial.set(storedIdentifier(hardware_serial), id);
  }
  const { device_count: limit } = services.license;
  let room = limit === undefined ? Number.POSITIVE_INFINITY : limit - (await tx.hosts.count());
  const missing: ExpectedHost[] = [];
  for (const host of expected) {
    const id = bySerial.get(storedIdentifier(host.serial));
    if (id !== undefined) idOf.set(host.serial, id);
    else if (room-- > 0) missing.push(host);
  }
  const now = services.clock.iso();
  const rows = await insertHosts(
    tx,
    missing.map(({ serial, platform, model, teamId }) => ({
      created_at: now,
      updated_at: now,
      last_enrolled_at: now,
      identifier: storedIdentifier(serial),
      hardware_serial: serial,
      hardware_vendor: "Apple Inc.",
      hardware_model: model,
      display_name: model === "" ? serial : `${model} (${serial})`,
      platform,
      team_id: teamId,
      refetch_requested: false,
    })),
  );
  rows.forEach((row, i) => {
    idOf.set(missing[i]!.serial, row.id);
  });
  if (rows.length === 0) return { idOf, added: [] };
  const added = rows.map(({ id }) => id);
  await joinLabels(tx, labels, { hosts: rows, isAnyNew: true });
  await tx.notify(channels.hosts, hostsPayload(added));
  return { idOf, added };
}
