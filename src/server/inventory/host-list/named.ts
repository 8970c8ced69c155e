// The software, operating system, MDM solution and issue that a host list's filters refer to, returned beside the
// list.
import type { HostListQuery } from "../../../api/inventory/host-filters.ts";
import type { Context } from "../../platform/core/context.ts";
import { visible } from "../../platform/core/security/access.ts";
import { and, type Predicate } from "../../platform/store/query.ts";
import { withSoftware, withTitle } from "../../software/software/host-conditions.ts";
import { inSolution, withMunkiIssue } from "./selector/mdm.ts";

type NamedFilters = Pick<
  HostListQuery,
  "software_version_id" | "software_id" | "software_title_id" | "mdm_id" | "munki_issue_id"
>;

/** Each is returned only if the caller can see a host that has it. */
export async function namedByFilter(ctx: Context, query: NamedFilters) {
  const { store } = ctx;
  const shown = async <T extends { id: number }>(row: T | null, having: (id: number) => Predicate) =>
    row && (await anyHost(ctx, having(row.id))) ? row : null;
  const [version, title, solution, issue] = await Promise.all([
    row(query.software_version_id ?? query.software_id, (id) => store.software.get(id)),
    row(query.software_title_id, (id) => store.softwareTitles.get(id)),
    row(query.mdm_id, (id) => store.mdmSolutions.get(id)),
    row(query.munki_issue_id, (id) => store.munkiIssues.get(id)),
  ]);
  const software = await shown(version, withSoftware);
  const softwareTitle = await shown(title, withTitle);
  const mdm = await shown(solution, inSolution);
  const munki = await shown(issue, withMunkiIssue);
  return {
    ...(software && {
      software: { id: software.id, name: software.name, version: software.version, source: software.source },
    }),
    ...(softwareTitle && {
      software_title: { id: softwareTitle.id, name: softwareTitle.name, source: softwareTitle.source },
    }),
    ...(mdm && { mobile_device_management_solution: { id: mdm.id, name: mdm.name, server_url: mdm.server_url } }),
    ...(munki && { munki_issue: { id: munki.id, name: munki.name, type: munki.type } }),
  };
}

const row = async <T>(id: number | undefined, get: (id: number) => Promise<T | null>): Promise<T | null> =>
  id === undefined ? null : get(id);

async function anyHost(ctx: Context, having: Predicate): Promise<boolean> {
  const visibleHosts = visible(ctx, "hosts:list");
  return visibleHosts.op === "all" || (await ctx.store.hosts.first({ where: and(visibleHosts, having) })) !== null;
}
