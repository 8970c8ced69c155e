// Self-service: what the user of a host installs and uninstalls there.
import type { z } from "zod";
import { deviceApi } from "../../../api/edge/device.ts";
import type { deviceInstallsApi } from "../../../api/edge/device-installs.ts";
import { fullPath } from "../../../api/paths.ts";
import type { HostSoftwareItem } from "../../../api/software/software.ts";
import { resultOf } from "../../delivery/scripts/run.ts";
import { requestInstall } from "../../delivery/software-installs/service.ts";
import { resultsOf } from "../../devices/commands/list.ts";
import { requireAppleMdm } from "../../devices/gate.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, nobody } from "../../platform/core/context.ts";
import { ApiError, notFound } from "../../platform/core/errors.ts";
import { and, eq } from "../../platform/store/query.ts";
import { type HostSoftwareQuery, titlesOfHost } from "../../software/software/service.ts";
import { withImportTime } from "../../software/software/vulnerabilities/imported.ts";
import { asOwner } from "./view.ts";

/** Icons have an address that the host's token opens. */
export async function softwareForOwner(ctx: Context, host: HostRow, token: string, query: HostSoftwareQuery) {
  const { software, ...page } = await withImportTime(ctx, titlesOfHost(ctx, host, query));
  return { ...page, software: software.map((item) => ({ ...item, icon_url: ownIcon(item, token) })) };
}

export const ownIcon = ({ id, icon_url }: Pick<HostSoftwareItem, "id" | "icon_url">, token: string): string | null =>
  icon_url?.startsWith("/")
    ? fullPath(deviceApi.softwareIcon, "latest")
        .replace(":token", encodeURIComponent(token))
        .replace(":software_title_id", String(id))
    : icon_url;

const offered: HostSoftwareQuery = { available_for_install: false, self_service: true, vulnerable: false };

type Chosen = z.output<typeof deviceInstallsApi.installAll.query>;

/** Titles that the host has, or is about to get, are left out. */
export async function installAll(ctx: Context, host: HostRow, { category_id, query }: Chosen) {
  const category = category_id === undefined ? null : await ctx.store.selfServiceCategories.get(category_id);
  if (category_id !== undefined && category?.team_id !== host.team_id)
    throw notFound("self-service category", category_id, "category_id");
  const { software } = await titlesOfHost(ctx, host, { ...offered, ...(query === undefined ? {} : { query }) });
  const missing = software.filter((item) => isMissing(item) && (category === null || isIn(item, category.name)));
  let requestable = 0;
  for (const { id } of missing) if (await canAsk(ctx, host.id, id)) requestable++;
  if (requestable === 0) return {};
  const details = {
    host_id: host.id,
    host_display_name: host.display_name,
    self_service_category_id: category?.id ?? null,
    self_service_category_name: category?.name ?? null,
    software_titles_count: requestable,
  };
  const recorder = { ...ctx, user: nobody };
  await recordActivity(recorder, "installed_all_self_service_software", details, { hostId: host.id });
  return {};
}

const isMissing = ({ status, installed_versions }: HostSoftwareItem): boolean =>
  installed_versions.length === 0 && (status === null || status === "failed_install");

const isIn = ({ software_package, app_store_app }: HostSoftwareItem, category: string): boolean =>
  (software_package?.categories ?? app_store_app?.categories ?? []).includes(category);

/** False: it cannot be installed now, for example because it was asked for at the same time. */
async function canAsk(ctx: Context, hostId: number, titleId: number): Promise<boolean> {
  try {
    await requestInstall(asOwner(ctx), { hostId, titleId, selfService: true });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return false;
    throw error;
  }
}

export async function ownUninstallResult(ctx: Context, host: HostRow, uuid: string) {
  const where = and(eq("uuid", uuid), eq("host_id", host.id), eq("is_uninstall", true));
  if ((await ctx.store.softwareInstallRuns.first({ where })) === null) throw notFound("software uninstall", uuid);
  return resultOf(asOwner(ctx), uuid);
}

/** Only of store apps: other commands of a device, such as those with passwords, are none of its user's business. */
export async function ownCommandResult(ctx: Context, host: HostRow, command_uuid: string) {
  await requireAppleMdm(ctx);
  const ownCommand = and(eq("command_uuid", command_uuid), eq("host_id", host.id));
  if ((await ctx.store.storeAppInstalls.first({ where: ownCommand })) === null) throw notFound("command", command_uuid);
  // The license comes first.
  if ((await ctx.store.mdmCommands.first({ where: eq("command_uuid", command_uuid) })) === null) return {};
  return resultsOf(asOwner(ctx), { command_uuid, host_identifier: host.uuid });
}
