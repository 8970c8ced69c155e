import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { route } from "../../../platform/core/http/route.ts";
import { pingHost } from "./ping.ts";

export const pushRoutes = [
  route(hostsApi.apnsPing, async ({ params }, ctx) => {
    await pingHost(ctx, params.id);
    return {};
  }),
];
