import { agentTablesApi } from "../../../api/checks/agent-tables.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { listAgentTables } from "./service.ts";

export const agentTableRoutes: readonly Route[] = [
  route(agentTablesApi.list, async ({ query }, _ctx, reply) => {
    // The tables change only with the server's version.
    reply.headers["cache-control"] = "private, max-age=3600";
    return listAgentTables(query);
  }),
];
