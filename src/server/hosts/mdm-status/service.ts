// Device management of hosts: enrollment, totals, and disk encryption keys.
import type { z } from "zod";
import type { Enrollment } from "../../../api/hosts/host-mdm.ts";
import type { hostDetailsApi, MdmSummary } from "../../../api/inventory/host-details.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { inTeam, visible } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, oneOf, type Predicate } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import { hostFor } from "../hosts/access.ts";
import { hosts } from "../hosts/tables.ts";

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

interface EnrollmentCounts {
  readonly of: (status: string) => number;
  readonly total: number;
  readonly solutions: MdmSummary["mobile_device_management_solution"];
}

/** Counts over the matching hosts, without Windows servers. */
export async function enrollmentCounts({ store }: Context, where: Predicate): Promise<EnrollmentCounts> {
  const counted = and(eq("is_server", false), where.op === "all" ? everything : exists(hosts, "id", where));
  const [statuses, solutions] = await Promise.all([
    store.hostMdm.groupCount("enrollment_status", counted),
    store.hostMdm.groupCount("solution_id", counted),
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
  const visibleHosts = visible(ctx, "mdm:read");
  return ctx.running.of(sharing).run(JSON.stringify(["mdm summary", visibleHosts, query]), async () => {
    const platform = query.platform === undefined ? everything : eq("platform", query.platform);
    const counts = await enrollmentCounts(ctx, and(visibleHosts, inTeam(query.team_id), platform));
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
