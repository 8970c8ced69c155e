import { directoryApi } from "../../../api/hosts/directory.ts";
import { route } from "../../platform/core/http/route.ts";
import { getCredentials, setCredentials } from "./credentials.ts";

export const directoryRoutes = [
  route(directoryApi.credentials, (_input, ctx) => getCredentials(ctx)),
  route(directoryApi.setCredentials, ({ body }, ctx) => setCredentials(ctx, body.directory_graph_credentials)),
];
