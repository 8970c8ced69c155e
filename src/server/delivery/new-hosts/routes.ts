import { agentFilesApi, newHostsApi } from "../../../api/delivery/new-hosts.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { agentFile } from "./service.ts";
import { createEnrollToken } from "./tokens.ts";

export const newHostRoutes: readonly Route[] = [
  route(newHostsApi.createToken, ({ body }, ctx) => createEnrollToken(ctx, body)),
];

export const agentFileRoutes: readonly Route[] = [
  route(agentFilesApi.agent, (_, ctx) => agentFile(ctx, "agent")),
  route(agentFilesApi.shell, (_, ctx) => agentFile(ctx, "shell")),
  route(agentFilesApi.powershell, (_, ctx) => agentFile(ctx, "powershell")),
];
