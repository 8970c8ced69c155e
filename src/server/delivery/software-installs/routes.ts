import { softwareInstallsApi } from "../../../api/delivery/software-installs.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { installOnMany, uninstallFromMany } from "./bulk.ts";
import { requestInstall, requestUninstall } from "./service.ts";
import { installResultOf } from "./view.ts";

export const softwareInstallRoutes: readonly Route[] = [
  route(softwareInstallsApi.install, async ({ params }, ctx) => {
    await requestInstall(ctx, { hostId: params.id, titleId: params.software_title_id });
    return {};
  }),
  route(softwareInstallsApi.uninstall, async ({ params }, ctx) => {
    await requestUninstall(ctx, { hostId: params.id, titleId: params.software_title_id });
    return {};
  }),
  route(softwareInstallsApi.installOnHosts, ({ params, body }, ctx, reply) =>
    installOnMany(ctx, params.id, body, reply),
  ),
  route(softwareInstallsApi.uninstallFromHosts, ({ params, body }, ctx, reply) =>
    uninstallFromMany(ctx, params.id, body, reply),
  ),
  route(softwareInstallsApi.result, ({ params }, ctx) => installResultOf(ctx, params.install_uuid)),
];
