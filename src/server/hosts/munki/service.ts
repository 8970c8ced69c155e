// Munki on Macs, together with their device management.
import type { DesktopAdmin, HostDesktopAdmin } from "../../../api/inventory/host-details.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { inTeam, visible } from "../../platform/core/security/access.ts";
import { and, eq, exists, oneOf } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import { hostFor } from "../hosts/access.ts";
import { hosts } from "../hosts/tables.ts";
import { enrollmentCounts, enrollmentOf } from "../mdm-status/service.ts";

/** Null if the host is not a Mac. Parts that a Mac does not have are null. */
export async function desktopAdminOfHost(ctx: Context, id: number): Promise<{ desktopadmin: HostDesktopAdmin | null }> {
  const host = await hostFor(ctx, "mdm:read", id);
  if (host.platform !== "darwin") return { desktopadmin: null };
  const [munki, enrollment] = await Promise.all([ctx.store.hostMunki.get(host.id), enrollmentOf(ctx.store, host)]);
  const issues = munki ? await ctx.store.munkiIssues.getMany(munki.issue_ids) : [];
  return {
    desktopadmin: {
      munki: munki ? { version: munki.version } : null,
      munki_issues: munki
        ? issues
            .map(({ id: issueId, name, type }) => ({
              id: issueId,
              name,
              type,
              created_at: munki.since[String(issueId)] ?? munki.updated_at,
            }))
            .sort((a, b) => a.id - b.id)
        : null,
      mobile_device_management: enrollment,
    },
  };
}

export function desktopAdminOfAll(
  ctx: Context,
  query: { team_id?: number | undefined },
): Promise<{ desktopadmin: DesktopAdmin }> {
  const visibleHosts = visible(ctx, "mdm:read");
  return ctx.running.of(sharing).run(JSON.stringify(["desktopadmin", visibleHosts, query]), async () => {
    const macs = and(visibleHosts, inTeam(query.team_id), eq("platform", "darwin"));
    const theirs = exists(hosts, "id", macs);
    const [versions, issues, mdm] = await Promise.all([
      ctx.store.hostMunki.groupCount("version", theirs),
      ctx.store.hostMunki.groupCount("issue_ids", theirs),
      enrollmentCounts(ctx, macs),
    ]);
    const hostsOfIssue = new Map(issues.map(({ value, count }) => [value, count]));
    const ids = [...hostsOfIssue.keys()].flatMap((value) => (typeof value === "number" ? [value] : []));
    const rows = await ctx.store.munkiIssues.list({ where: oneOf("id", ids) });
    return {
      desktopadmin: {
        counts_updated_at: ctx.clock.iso(),
        munki_versions: versions.map(({ value, count }) => ({ version: String(value), hosts_count: count })),
        munki_issues: rows
          .map(({ id, name, type }) => ({ id, name, type, hosts_count: hostsOfIssue.get(id) ?? 0 }))
          .sort((a, b) => b.hosts_count - a.hosts_count || compareText(a.name, b.name) || a.id - b.id),
        mobile_device_management_enrollment_status: {
          enrolled_manual_hosts_count: mdm.of("On (manual)"),
          enrolled_automated_hosts_count: mdm.of("On (automatic)"),
          unenrolled_hosts_count: mdm.of("Off"),
        },
        mobile_device_management_solution: mdm.solutions,
      },
    };
  });
}
