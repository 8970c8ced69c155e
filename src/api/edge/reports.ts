// Lists as CSV: all rows that match the filters of the list.
import { z } from "zod";
import { usersApi } from "../accounts/users.ts";
import { StreamedBody } from "../bodies.ts";
import { policiesApi } from "../checks/policies.ts";
import { queriesApi } from "../checks/queries.ts";
import { type AnyEndpoint, endpoint } from "../endpoint.ts";
import { labelsApi } from "../hosts/labels.ts";
import { softwareApi } from "../software/software.ts";
import { vulnerabilitiesApi } from "../software/vulnerabilities.ts";

const csv = {
  format: z.literal("csv").default("csv"),
  columns: z.string().max(4096).optional().meta({ description: "fields, separated by commas; default: all" }),
};
const paged = { page: true, per_page: true } as const;
const pagedAfter = { ...paged, after: true } as const;

const teamReport = policiesApi.listTeam.query.pick({
  order_key: true,
  order_direction: true,
  query: true,
  merge_inherited: true,
});

const report = <const P extends string, Q extends z.ZodObject, V extends z.ZodType>(
  path: P,
  summary: string,
  { access, params }: Pick<AnyEndpoint, "access"> & { readonly params: V },
  query: Q,
) => endpoint({ method: "GET", path, summary, access, params, query, produces: "text/csv", response: StreamedBody });

export const reportsApi = {
  softwareTitles: report(
    "/software/titles/report",
    "Export software titles as CSV; takes every filter of the list.",
    softwareApi.titles,
    softwareApi.titles.query.omit(pagedAfter).extend(csv),
  ),
  softwareVersions: report(
    "/software/versions/report",
    "Export software versions as CSV; takes every filter of the list.",
    softwareApi.versions,
    softwareApi.versions.query.omit(pagedAfter).extend(csv),
  ),
  vulnerabilities: report(
    "/vulnerabilities/report",
    "Export vulnerabilities as CSV; takes every filter of the list.",
    vulnerabilitiesApi.list,
    vulnerabilitiesApi.list.query.omit(pagedAfter).extend(csv),
  ),
  policies: report(
    "/global/policies/report",
    "Export global policies as CSV; takes every filter of the list.",
    policiesApi.listGlobal,
    policiesApi.listGlobal.query.omit(paged).extend(csv),
  ),
  teamPolicies: report(
    "/teams/:id/policies/report",
    "Export a team's policies as CSV; takes every filter of the list.",
    policiesApi.listTeam,
    teamReport.extend(csv),
  ),
  users: report(
    "/users/report",
    "Export users as CSV; takes every filter of the list.",
    usersApi.list,
    usersApi.list.query.omit(paged).extend(csv),
  ),
  labels: report(
    "/labels/report",
    "Export labels as CSV.",
    labelsApi.list,
    labelsApi.list.query.pick({ order_key: true, order_direction: true, include_host_counts: true }).extend(csv),
  ),
  queries: report(
    "/queries/report",
    "Export queries as CSV; takes every filter of the list.",
    queriesApi.list,
    queriesApi.list.query.omit(pagedAfter).extend(csv),
  ),
};
