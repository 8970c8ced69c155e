import { User } from "../../../api/accounts/users.ts";
import { Policy } from "../../../api/checks/policies.ts";
import { Query } from "../../../api/checks/queries.ts";
import { reportsApi } from "../../../api/edge/reports.ts";
import { LabelItem } from "../../../api/hosts/labels.ts";
import { SoftwareTitle, SoftwareVersion } from "../../../api/software/software.ts";
import { HostVulnerability } from "../../../api/software/vulnerabilities.ts";
import { listUsers } from "../../accounts/users/service.ts";
import { listGlobal, listOfTeam } from "../../checks/policies/list.ts";
import { listQueries } from "../../checks/queries/service.ts";
import { listLabels } from "../../inventory/labels/service.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { listTitles } from "../../software/software/titles/lists.ts";
import { listVersions } from "../../software/software/version-lists.ts";
import { listVulnerabilities } from "../../software/vulnerabilities/lists.ts";
import { streamReport } from "./stream.ts";

export const reportRoutes: readonly Route[] = [
  route(reportsApi.softwareTitles, ({ query: { columns, format: _, ...query } }, ctx) =>
    streamReport(ctx, {
      name: "software-titles",
      row: SoftwareTitle,
      columns,
      read: async (window) => (await listTitles(ctx, { ...query, ...window })).software_titles,
    }),
  ),
  route(reportsApi.softwareVersions, ({ query: { columns, format: _, ...query } }, ctx) =>
    streamReport(ctx, {
      name: "software-versions",
      row: SoftwareVersion,
      columns,
      read: async (window) => (await listVersions(ctx, { ...query, ...window })).software,
    }),
  ),
  route(reportsApi.vulnerabilities, ({ query: { columns, format: _, ...query } }, ctx) =>
    streamReport(ctx, {
      name: "vulnerabilities",
      row: HostVulnerability,
      columns,
      read: async (window) => (await listVulnerabilities(ctx, { ...query, ...window })).vulnerabilities,
    }),
  ),
  route(reportsApi.policies, ({ query: { columns, format: _, ...query } }, ctx) =>
    streamReport(ctx, {
      name: "policies",
      row: Policy,
      columns,
      read: async (window) => (await listGlobal(ctx, { ...query, ...window })).policies ?? [],
    }),
  ),
  route(reportsApi.teamPolicies, ({ params, query: { columns, format: _, ...query } }, ctx) =>
    streamReport(ctx, {
      name: "policies",
      row: Policy,
      columns,
      read: async (window) => (await listOfTeam(ctx, params.id, { ...query, ...window })).policies,
    }),
  ),
  route(reportsApi.users, ({ query: { columns, format: _, ...query } }, ctx) =>
    streamReport(ctx, {
      name: "users",
      row: User,
      columns,
      read: async (window) => (await listUsers(ctx, { ...query, ...window })).users,
    }),
  ),
  route(reportsApi.labels, ({ query: { columns, format: _, ...query } }, ctx) =>
    streamReport(ctx, {
      name: "labels",
      row: LabelItem,
      columns,
      read: async (window) => (await listLabels(ctx, { ...query, ...window })).labels,
    }),
  ),
  route(reportsApi.queries, ({ query: { columns, format: _, ...query } }, ctx) =>
    streamReport(ctx, {
      name: "queries",
      row: Query,
      columns,
      read: async (window) => (await listQueries(ctx, { ...query, ...window })).queries,
    }),
  ),
];
