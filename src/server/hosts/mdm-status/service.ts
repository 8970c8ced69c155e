// Device management of hosts: enrollment, totals, and disk encryption keys.
import type { z } from "zod";
import type { Enrollment } from "../../../api/hosts/host-mdm.ts";
import type { hostDetailsApi, MdmSummary } from "../../../api/inventory/host-details.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { mdmOff, notFound, notThere } from "../../platform/core/errors.ts";
import { inTeam, visible } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, oneOf, type Predicate } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import { isKeyReadable } from "../disk-encryption/tables.ts";
import { hostFor } from "../hosts/access.ts";
import { hosts } from "../hosts/tables.ts";
import { operationLock } from "../operations/queue.ts";
import { setLeaving, setUnmanaged } from "./managed.ts";

/**
 * Only what this server knows itself is shown of an enrollment of a Windows server (that it manages the host), and not
 * what its agent reports.
 */
export const shownEnrollment = <T extends { readonly is_server: boolean; readonly connected_to_svc: boolean }>(
  row: T | null | undefined,
): T | undefined => (row == null || (row.is_server && !row.connected_to_svc) ? undefined : row);

/** Null: not enrolled. */
export async function enrollmentOf(
  store: ServerTx,
  host: { id: number; platform: string },
): Promise<Enrollment | null> {
  if (host.platform !== "darwin" && host.platform !== "windows") return null;
  const row = shownEnrollment(await store.hostMdm.get(host.id));
  if (!row?.enrollment_status.startsWith("On ")) return null;
  const solution = row.solution_id === null ? null : await store.mdmSolutions.get(row.solution_id);
  return {
    enrollment_status: row.enrollment_status,
    server_url: solution?.server_url ?? "",
    name: solution?.name ?? "",
    id: solution?.id ?? null,
  };
}

export async function mdmOfHost(ctx: Context, id: number): Promise<Enrollment | null> {
  return enrollmentOf(ctx.store, await hostFor(ctx, "mdm:read", id));
}

export interface EnrollmentCounts {
  readonly of: (status: string) => number;
  readonly total: number;
  readonly solutions: MdmSummary["mobile_device_management_solution"];
}

/** Counts over the matching hosts, without Windows servers. */
export async function enrollmentCounts({ store }: Context, where: Predicate): Promise<EnrollmentCounts> {
  const own = and(eq("is_server", false), where.op === "all" ? everything : exists(hosts, "id", where));
  const [statuses, solutions] = await Promise.all([
    store.hostMdm.groupCount("enrollment_status", own),
    store.hostMdm.groupCount("solution_id", own),
  ]);
  const counts = new Map(statuses.map(({ value, count }) => [value, count]));
  const ids = solutions.flatMap(({ value }) => (typeof value === "number" ? [value] : []));
  const rows = new Map((await store.mdmSolutions.list({ where: oneOf("id", ids) })).map((row) => [row.id, row]));
  return {
    of: (status) => counts.get(status) ?? 0,
    total: statuses.reduce((sum, { count }) => sum + count, 0),
    solutions: solutions
      .flatMap(({ value, count }) => {
        const row = typeof value === "number" ? rows.get(value) : undefined;
        return row ? [{ id: row.id, name: row.name, server_url: row.server_url, hosts_count: count }] : [];
      })
      .sort((a, b) => b.hosts_count - a.hosts_count || compareText(a.name, b.name) || a.id - b.id),
  };
}

type SummaryQuery = z.output<typeof hostDetailsApi.mdmSummary.query>;

export function mdmSummary(ctx: Context, query: SummaryQuery): Promise<MdmSummary> {
  const own = visible(ctx, "mdm:read");
  return ctx.running.of(sharing).run(JSON.stringify(["mdm summary", own, query]), async () => {
    const platform = query.platform === undefined ? everything : eq("platform", query.platform);
    const counts = await enrollmentCounts(ctx, and(own, inTeam(query.team_id), platform));
    return {
      counts_updated_at: ctx.clock.iso(),
      mobile_device_management_enrollment_status: {
        enrolled_manual_hosts_count: counts.of("On (manual)"),
        enrolled_automated_hosts_count: counts.of("On (automatic)"),
        enrolled_personal_hosts_count: counts.of("On (personal)"),
        unenrolled_hosts_count: counts.of("Off"),
        hosts_count: counts.total,
      },
      mobile_device_management_solution: counts.solutions,
    };
  });
}

declare module "../../platform/core/extensions.ts" {
  interface Extensions {
    /** Each asks a device of the host to leave device management, and returns whether there is one. */
    readonly askToLeave: readonly ((inside: Context, hostId: number) => Promise<boolean>)[];
  }
}

/**
 * Ends this server's management of the host; if it has a device, when that answers. Refused if another product or none
 * manages the host.
 */
export async function unenrollHost(ctx: Context, id: number): Promise<Record<string, never>> {
  const host = await hostFor(ctx, "mdm:unenroll", id);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    for (const ask of ctx.extensions.askToLeave) if (await ask(inside, host.id)) return setLeaving(inside, host.id);
    if (!(await setUnmanaged(inside, host.id, null))) throw mdmOff();
  }, operationLock(host.id));
  return {};
}

/** Returns a key that was verified, or that hosts keep while nothing is demanded of them. Records who requested it. */
export async function encryptionKeyOf(ctx: Context, id: number) {
  const host = await hostFor(ctx, "hosts:read_disk_key", id);
  return ctx.store.tx(async (store) => {
    const row = await store.hostDiskEncryption.get(host.id);
    const key = row?.key ?? (row?.sealed_key ? await ctx.extensions.openDiskKey(ctx, row.sealed_key) : null);
    if (row === null || key === null || row.key_updated_at === null) throw notFound("disk encryption key of host", id);
    if (!isKeyReadable(row))
      throw notThere(
        `the disk encryption key of host ${id} can be read once its disk encryption is verified; it is ${row.status} now`,
      );
    await recordActivity(
      within(ctx, store),
      "read_host_disk_encryption_key",
      { host_id: host.id, host_display_name: host.display_name },
      { hostId: host.id },
    );
    return { host_id: host.id, encryption_key: { key, updated_at: row.key_updated_at } };
  });
}
