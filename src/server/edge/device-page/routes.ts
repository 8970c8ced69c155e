import { setupResultsApi } from "../../../api/delivery/setup-results.ts";
import { deviceEnrollApi } from "../../../api/devices/apple-enroll.ts";
import { deviceProfilesApi } from "../../../api/devices/profiles.ts";
import { desktopAppApi, deviceApi } from "../../../api/edge/device.ts";
import { deviceInstallsApi } from "../../../api/edge/device-installs.ts";
import type { AnyEndpoint, ParsedOf } from "../../../api/endpoint.ts";
import { hostDetailsApi } from "../../../api/inventory/host-details.ts";
import { bypassOnce } from "../../automations/conditional-access/bypass.ts";
import { requestInstall, requestUninstall } from "../../delivery/software-installs/service.ts";
import { ownInstallResult } from "../../delivery/software-installs/view.ts";
import { pingHost } from "../../devices/apple/push/ping.ts";
import { requireAppleMdm } from "../../devices/gate.ts";
import { resend } from "../../devices/profiles/resend.ts";
import { requestEscrow, requestRotation } from "../../hosts/disk-encryption/requests.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { desktopAdminOfHost } from "../../hosts/munki/service.ts";
import { linkToDevicePage } from "../../inventory/device-tokens/links.ts";
import { hostOfToken } from "../../inventory/device-tokens/tokens.ts";
import { certificatesOfHost } from "../../inventory/host-details/certificates.ts";
import { mappingOfHost } from "../../inventory/host-details/device-mapping.ts";
import { refetchHost } from "../../inventory/host-details/service.ts";
import type { Context } from "../../platform/core/context.ts";
import { type Handler, type Reply, type Route, route } from "../../platform/core/http/route.ts";
import { linkToPages } from "../../settings/app-config/device-pages-url.ts";
import { categoriesOfTeam } from "../../software/self-service/categories.ts";
import { iconFor } from "../../software/self-service/icons.ts";
import { startDeviceSignIn } from "../device-sign-in/sign-in.ts";
import { installAll, ownCommandResult, ownUninstallResult, softwareForOwner } from "./installs.ts";
import { countAction, countRefetch } from "./limits.ts";
import { requestMigration } from "./migration.ts";
import { hostOfOwner } from "./owner.ts";
import { setupForOwner } from "./setup.ts";
import {
  asOwner,
  countReport,
  desktopSummary,
  deviceView,
  logDesktopError,
  policiesForOwner,
  transparencyUrl,
} from "./view.ts";

type Handle<E extends AnyEndpoint> = (
  host: HostRow,
  ctx: Context,
  input: ParsedOf<E>,
  reply: Reply,
) => ReturnType<Handler<E>>;

const withHost = <E extends AnyEndpoint>(
  endpoint: E,
  hostOf: (ctx: Context, token: string) => Promise<HostRow>,
  handle: Handle<E>,
): Route =>
  route(
    endpoint,
    async (input, ctx, reply) => {
      const { token } = input.params as { token: string };
      const host = await hostOf(ctx, token);
      if (endpoint.method === "POST") await countAction(ctx, host);
      return handle(host, ctx, input, reply);
    },
    // Users of devices share addresses with whoever is there: the token is looked up in any case.
    { before: async (ctx, { params }) => void (await hostOfToken(ctx, (params as { token: string }).token)) },
  );

/** A route that requires a host's device token, and a sign-in if the organization has turned that on. */
const owned = <E extends AnyEndpoint>(endpoint: E, handle: Handle<E>) => withHost(endpoint, hostOfOwner, handle);

/** A route for desktop apps, and for the sign-in itself: it requires a host's device token only. */
const byToken = <E extends AnyEndpoint>(endpoint: E, handle: Handle<E>) => withHost(endpoint, hostOfToken, handle);

export const deviceRoutes: readonly Route[] = [
  route(hostDetailsApi.deviceUrl, ({ params }, ctx) => linkToDevicePage(ctx, params.id)),
  owned(deviceApi.get, (host, ctx) => deviceView(ctx, host)),
  byToken(deviceApi.desktop, (host, ctx) => desktopSummary(ctx, host)),
  owned(deviceApi.policies, async (host, ctx) => ({ policies: await policiesForOwner(ctx, host) })),
  owned(deviceApi.software, (host, ctx, { params, query }) => softwareForOwner(ctx, host, params.token, query)),
  owned(deviceApi.softwareCategories, (host, ctx, { query }) => categoriesOfTeam(ctx, host.team_id, query)),
  owned(deviceApi.softwareIcon, (host, ctx, { params }, reply) =>
    iconFor(ctx, host.team_id, params.software_title_id, reply),
  ),
  owned(deviceInstallsApi.install, async (host, ctx, { params }) => {
    await requestInstall(asOwner(ctx), { hostId: host.id, titleId: params.software_title_id, selfService: true });
    return {};
  }),
  owned(deviceInstallsApi.installAll, (host, ctx, { query }) => installAll(ctx, host, query)),
  owned(deviceInstallsApi.uninstall, async (host, ctx, { params }) => {
    await requestUninstall(asOwner(ctx), { hostId: host.id, titleId: params.software_title_id, selfService: true });
    return {};
  }),
  owned(deviceInstallsApi.installResult, (host, ctx, { params }) =>
    ownInstallResult(ctx, host.id, params.install_uuid),
  ),
  owned(deviceInstallsApi.uninstallResult, (host, ctx, { params }) =>
    ownUninstallResult(ctx, host, params.execution_id),
  ),
  owned(deviceInstallsApi.commandResult, (host, ctx, { params }) => ownCommandResult(ctx, host, params.command_uuid)),
  owned(deviceApi.deviceMapping, (host, ctx) => mappingOfHost(asOwner(ctx), host.id)),
  owned(deviceApi.desktopAdmin, (host, ctx) => desktopAdminOfHost(asOwner(ctx), host.id)),
  owned(deviceApi.certificates, (host, ctx, { query }) => certificatesOfHost(asOwner(ctx), host.id, query)),
  owned(deviceApi.refetch, async (host, ctx) => {
    await countRefetch(ctx, host);
    await refetchHost(asOwner(ctx), host.id);
    return {};
  }),
  owned(deviceProfilesApi.resendProfile, (host, ctx, { params }) => resend(asOwner(ctx), host, params.profile_uuid)),
  owned(deviceEnrollApi.manualProfile, async (_host, ctx, { params }) => {
    await requireAppleMdm(ctx);
    return { enroll_url: await linkToPages(ctx, `/device/${encodeURIComponent(params.token)}/enroll`) };
  }),
  owned(deviceApi.triggerEscrow, async (host, ctx) => {
    await requestEscrow(ctx, host);
    return {};
  }),
  owned(deviceApi.rotateEncryptionKey, async (host, ctx) => {
    await requestRotation(ctx, host);
    return {};
  }),
  byToken(deviceApi.migrateMdm, async (host, ctx) => {
    await requestMigration(ctx, host);
    return {};
  }),
  owned(deviceApi.bypassConditionalAccess, async (host, ctx) => {
    await bypassOnce(ctx, host);
    return {};
  }),
  owned(setupResultsApi.ofDevice, async (host, ctx, { params }) => ({
    setup_experience_results: await setupForOwner(ctx, host, params.token),
  })),
  byToken(deviceApi.signIn, async (host, ctx, { params, body }, reply) => {
    const { url, cookie } = await startDeviceSignIn(ctx, host, { token: params.token, hostUuid: body?.host_uuid });
    reply.headers["set-cookie"] = cookie;
    return { url };
  }),
  owned(deviceApi.apnsPing, async (host, ctx) => {
    await pingHost(asOwner(ctx), host.id);
    return {};
  }),
];

export const desktopAppRoutes: readonly Route[] = [
  byToken(desktopAppApi.ping, async () => ({})),
  byToken(desktopAppApi.transparency, async (_host, ctx, _input, reply) => {
    reply.headers.location = await transparencyUrl(ctx);
    return {};
  }),
  byToken(desktopAppApi.errors, async (host, ctx, { body }) => {
    await countReport(ctx, host);
    logDesktopError(ctx, host, body);
    return {};
  }),
];
