// The view of a host for its user (device page and desktop app).

import type { z } from "zod";
import type { DeviceHost, DevicePolicy, desktopAppApi, deviceApi } from "../../../api/edge/device.ts";
import type { HostPolicy } from "../../../api/hosts/host.ts";
import { policiesOfHosts } from "../../checks/policies/results.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { getHost } from "../../inventory/host-details/service.ts";
import { hours } from "../../platform/core/clock.ts";
import { type Context, isPremium, service } from "../../platform/core/context.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import { countAttempt } from "../../platform/rate-limits/shared.ts";
import { and, eq, isNull } from "../../platform/store/query.ts";
import { hostOffers } from "../../software/software/host-offers.ts";
import { migrationOf } from "./migration.ts";

/** A valid device token grants access to this host, whatever the roles of users. */
export const asOwner = (ctx: Context): Context => ({ ...ctx, user: service });

/** Whether the host can install something that is offered to its user. */
const hasSelfService = async ({ store, extensions }: Context, host: HostRow): Promise<boolean> =>
  (await Promise.all(extensions.of(hostOffers).map((offersOf) => offersOf(store, host))))
    .flat()
    .some(({ isAvailable, isSelfService }) => isAvailable && isSelfService);

export async function deviceView(ctx: Context, row: HostRow): Promise<z.output<typeof deviceApi.get.response>> {
  const assigned = and(eq("host_id", row.id), isNull("deleted_at"));
  const [whole, config, portalDevices, self_service] = await Promise.all([
    getHost(asOwner(ctx), row.id, true),
    ctx.config.current(),
    ctx.store.portalDevices.count(assigned),
    hasSelfService(ctx, row),
  ]);
  // Labels, packs and additional query results are internal to the organization.
  const { additional: _a, labels: _l, packs: _p, pack_stats: _s, policies, software: _w, ...host } = whole;
  const around = {
    self_service,
    org_logo_url: config.org_info.org_logo_url,
    license: { tier: ctx.license.tier, expiration: ctx.license.expiration },
    global_config: { mdm: { enabled_and_configured: config.mdm.enabled_and_configured } },
  };
  const deviceHost: DeviceHost = {
    ...host,
    ...around,
    dep_assigned_to_svc: portalDevices > 0,
    ...(isPremium(ctx) ? { policies: (policies ?? []).map(forOwner) } : {}),
  };
  return { ...around, host: deviceHost };
}

export async function policiesForOwner(ctx: Context, row: HostRow): Promise<DevicePolicy[]> {
  return ((await policiesOfHosts(ctx, [row])).get(row.id) ?? []).map(forOwner);
}

const forOwner = (policy: HostPolicy): DevicePolicy => ({
  id: policy.id,
  name: policy.name,
  description: policy.description,
  resolution: policy.resolution,
  platform: policy.platform,
  critical: policy.critical,
  conditional_access_enabled: policy.conditional_access_enabled,
  response: policy.response,
});

/** Contains nothing that identifies the host, since desktop apps store and log it. */
export async function desktopSummary(ctx: Context, row: HostRow): Promise<z.output<typeof deviceApi.desktop.response>> {
  const [policies, config, self_service, notifications] = await Promise.all([
    policiesOfHosts(ctx, [row]),
    ctx.config.current(),
    hasSelfService(ctx, row),
    migrationOf(ctx, row),
  ]);
  const { enable, mode } = config.mdm.macos_migration;
  return {
    failing_policies_count: (policies.get(row.id) ?? []).filter(({ response }) => response === "fail").length,
    self_service,
    notifications,
    config: { org_info: config.org_info, mdm: { macos_migration: { mode: enable ? mode : "" } } },
  };
}

/** The organization's configured page, or else this server's. */
export async function transparencyUrl(ctx: Context): Promise<string> {
  const { org_info, svc_desktop } = await ctx.config.current();
  return (isPremium(ctx) && svc_desktop.transparency_url) || org_info.contact_url || linkTo(ctx, "/transparency");
}

type Report = z.output<typeof desktopAppApi.errors.body>;

const REPORTS_AN_HOUR = 60;
const REPORTS_OF_ALL = 6_000;

/** A desktop app that fails again and again must not fill the log: 429 above the limit. */
export const countReport = (ctx: Context, row: HostRow): Promise<void> =>
  countAttempt(ctx, [
    { scope: "desktop errors", key: `host ${row.id}`, most: REPORTS_AN_HOUR, span: hours(1) },
    { scope: "desktop errors", key: "everybody", most: REPORTS_OF_ALL, span: hours(1) },
  ]);

/** Maximum length of logged text from a report. */
const LOGGED_MAX = 2_000;

export function logDesktopError({ log }: Context, row: HostRow, report: Report): void {
  log.warn(
    {
      host_id: row.id,
      source: report.error_source,
      version: report.error_source_version,
      at: report.error_timestamp,
      vital: report.vital,
      message: report.error_message.slice(0, LOGGED_MAX),
      more: JSON.stringify(report.error_additional_info ?? {}).slice(0, LOGGED_MAX),
    },
    "a desktop app reported an error",
  );
}
