import type { DirectoryConnection, HostAccess } from "../../../../api/automations/conditional-access.ts";
import { hostFor } from "../../../hosts/hosts/access.ts";
import type { Context } from "../../../platform/core/context.ts";
import { and, eq, isNull, not } from "../../../platform/store/query.ts";
import { accessOf } from "../policies.ts";
import type { DeviceRow } from "./decide.ts";
import { reportingRow } from "./pauses.ts";

export async function directoryConnection({ store, config }: Context): Promise<DirectoryConnection> {
  const { conditional_access: access } = await config.current();
  const tenant = access.directory_tenant_id.toLowerCase();
  const ofHosts = not(isNull("host_id"));
  const isReported = (state: "compliant" | "noncompliant") =>
    and(ofHosts, eq("reported", state), eq("reported_tenant", tenant));
  const [all, compliant, noncompliant, failing, reporting] = await Promise.all([
    store.directoryDevices.count(ofHosts),
    store.directoryDevices.count(isReported("compliant")),
    store.directoryDevices.count(isReported("noncompliant")),
    store.directoryDevices.count(and(ofHosts, not(eq("last_error", "")))),
    reportingRow(store),
  ]);
  return {
    directory_tenant_id: access.directory_tenant_id,
    connected: access.directory_connection_configured,
    devices: { compliant, noncompliant, unreported: all - compliant - noncompliant, failing },
    last_reported_at: reporting?.last_reported_at ?? null,
    paused_until: reporting?.paused_until ?? null,
    last_error: reporting?.last_error ?? "",
  };
}

export async function hostAccess(ctx: Context, id: number): Promise<{ conditional_access: HostAccess }> {
  const host = await hostFor(ctx, "hosts:read", id);
  const { isOn, blocking } = (await accessOf(ctx, [host])).get(host.id)!;
  const row = await ctx.store.directoryDevices.first({ where: eq("host_id", host.id) });
  const { conditional_access: access } = await ctx.config.current();
  const tenant = access.directory_connection_configured ? access.directory_tenant_id.toLowerCase() : null;
  return {
    conditional_access: {
      enabled: isOn,
      blocking_policies: blocking.map((policy) => ({ id: policy.id, name: policy.name })),
      directory: row && deviceOf(row, tenant),
    },
  };
}

/** `tenant`: the connected directory. */
function deviceOf(row: DeviceRow, tenant: string | null): NonNullable<HostAccess["directory"]> {
  const isKnown = row.reported !== "" && row.reported_tenant === tenant;
  return {
    device_id: row.device_id,
    tenant_id: row.tenant_id,
    user_principal_name: row.user_principal_name,
    status: isKnown && row.reported !== "" ? row.reported : "unreported",
    reported_at: isKnown ? row.reported_at : null,
    pending: tenant !== null && (row.due_at !== null || row.runner_until !== null),
    last_error: row.last_error,
  };
}
