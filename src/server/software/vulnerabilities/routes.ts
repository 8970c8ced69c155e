import { vulnerabilitiesApi } from "../../../api/software/vulnerabilities.ts";
import { route } from "../../platform/core/http/route.ts";
import { getVulnerability, listVulnerabilities } from "./lists.ts";
import { vulnerabilityStatus } from "./status.ts";

export const vulnerabilityRoutes = [
  route(vulnerabilitiesApi.list, ({ query }, ctx) => listVulnerabilities(ctx, query)),
  route(vulnerabilitiesApi.status, (_, ctx) => vulnerabilityStatus(ctx)),
  route(vulnerabilitiesApi.get, ({ params, query }, ctx, reply) =>
    getVulnerability(ctx, { cve: params.cve.toUpperCase(), teamId: query.team_id, reply }),
  ),
];
