// What the directory is to know of devices. A host names its own device, so a device that several hosts name complies only
// if all of them do.
import type { HostPolicy } from "../../../../api/hosts/host.ts";
import type { DeviceState } from "../../../hosts/directory/devices.ts";
import type { Services } from "../../../platform/core/context.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { type Access, accessOf } from "../policies.ts";
import type { directoryDevices } from "../tables.ts";

export type DeviceRow = RowOf<typeof directoryDevices>;

type Decision =
  /** Nothing has to be sent. `error`: why nothing can be. */
  | { readonly type: "settled"; readonly error: string }
  /** The row is not needed any more. */
  | { readonly type: "forget" }
  | { readonly type: "send"; readonly state: DeviceState; readonly blocking: readonly HostPolicy[] };

const SETTLED: Decision = { type: "settled", error: "" };
const FORGET: Decision = { type: "forget" };

type Reading = Pick<Services, "config"> & { readonly store: ServerTx };

/** The decision on each row, by its id. `tenant`: the connected directory. */
export async function decide(ctx: Reading, rows: readonly DeviceRow[], tenant: string): Promise<Map<number, Decision>> {
  const deviceIds = [...new Set(rows.map(({ device_id }) => device_id))];
  const all = await ctx.store.directoryDevices.list({ where: oneOf("device_id", deviceIds) });
  const hosts = await ctx.store.hosts.getMany(all.flatMap(({ host_id }) => host_id ?? []));
  const access = await accessOf(ctx, hosts);
  const named = groupBy(
    all.filter(({ host_id }) => host_id !== null && access.has(host_id)),
    ({ device_id }) => device_id,
  );
  return new Map(
    rows.map((row) => {
      const accesses = (named.get(row.device_id) ?? []).map(({ host_id }) => access.get(host_id!)!);
      return [row.id, decisionOn(row, accesses, tenant)];
    }),
  );
}

/** `hosts`: those that name the device. */
function decisionOn(row: DeviceRow, hosts: readonly Access[], tenant: string): Decision {
  const { device_id, tenant_id } = row;
  const before = row.reported_tenant === tenant ? row.reported : "";
  if (row.host_id === null) {
    if (hosts.length > 0 || before === "") return FORGET;
    return { type: "send", state: { device_id, isCompliant: false, isManaged: false }, blocking: [] };
  }
  if (tenant_id !== "" && tenant_id !== tenant)
    return { type: "settled", error: "the device belongs to another directory than the connected one" };
  const blocking = hosts.flatMap((host) => host.blocking);
  // A host that conditional access was never turned on for is not the server's to vouch for.
  if (before === "" && !hosts.some(({ isOn }) => isOn)) return SETTLED;
  if (blocking.length === 0 && hosts.some(({ isIncomplete }) => isIncomplete)) return SETTLED;
  const desired = blocking.length > 0 ? "noncompliant" : "compliant";
  if (desired === before) return SETTLED;
  return { type: "send", state: { device_id, isCompliant: desired === "compliant", isManaged: true }, blocking };
}
