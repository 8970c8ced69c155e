// The part of a host's own page in which its user installs software that the host's team offers.
import { deviceApi } from "../../../../api/edge/device.ts";
import { deviceInstallsApi } from "../../../../api/edge/device-installs.ts";
import type { HostSoftwareItem } from "../../../../api/software/software.ts";
import { isPremium } from "../../../platform/core/context.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import { call } from "../call.ts";
import { type Html, html } from "../html.ts";
import type { Answer, Visit } from "../page.ts";
import { icon, nameOf } from "./host-parts.ts";

const states: Readonly<Record<NonNullable<HostSoftwareItem["status"]>, string>> = {
  installed: "installed",
  pending_install: "will be installed",
  failed_install: "could not be installed",
  pending_uninstall: "will be removed",
  failed_uninstall: "could not be removed",
};

/** Null: nothing is offered. */
export async function selfServiceCard({ ctx, csrf }: Visit, token: string): Promise<Html | null> {
  if (!isPremium(ctx)) return null;
  const query = { self_service: true };
  const { software } = await call(ctx, deviceApi.software, { params: { token }, query });
  if (software.length === 0) return null;
  const { self_service_categories } = await call(ctx, deviceApi.softwareCategories, { params: { token } });
  const all = software.flatMap((item) => categoriesOf(item).map((name) => ({ name, item })));
  const byCategory = groupBy(all, ({ name }) => name);
  const path = `/device/${encodeURIComponent(token)}/software`;
  const names = [...self_service_categories.map(({ name }) => name), OTHER];
  return html`<section class="card" aria-labelledby="self-service"><h2 id="self-service">Self-service</h2>
<p>Your organization offers this software. Your device installs it as soon as it is online.</p>
${names
  .filter((name) => byCategory.has(name))
  .map((name) => {
    const rows = byCategory.get(name)!;
    return html`<h3>${name}</h3><table class="loose"><caption class="hidden">${name}</caption><thead><tr><th scope="col">Name</th><th scope="col">State</th><th scope="col">Action</th></tr></thead><tbody>
${rows.map(({ item }) => html`<tr><th scope="row">${icon(item)}${nameOf(item)}</th><td>${stateOf(item)}</td><td>${button(path, item, csrf)}</td></tr>`)}</tbody></table>`;
  })}</section>`;
}

const OTHER = "Other software";

function categoriesOf({ software_package, app_store_app }: HostSoftwareItem): readonly string[] {
  const names = software_package?.categories ?? app_store_app?.categories ?? [];
  return names.length === 0 ? [OTHER] : names;
}

const stateOf = ({ status, installed_versions }: HostSoftwareItem): string =>
  status !== null ? states[status] : installed_versions.length > 0 ? "installed" : "";

function button(path: string, item: HostSoftwareItem, csrf: Visit["csrf"]): Html | null {
  const { status, installed_versions, software_package } = item;
  if (status === "pending_install" || status === "pending_uninstall") return null;
  const isInstalled = status === "installed" || status === "failed_uninstall" || installed_versions.length > 0;
  if (isInstalled && !software_package?.has_uninstall_script) return null;
  const [action, text] = isInstalled ? ["uninstall", "Remove"] : ["install", "Install"];
  return html`<form method="post" action="${path}/${action}/${item.id}">${csrf()}<button class="plain little" aria-label="${text} ${nameOf(item)}">${text}</button></form>`;
}

const asking =
  (endpoint: typeof deviceInstallsApi.install | typeof deviceInstallsApi.uninstall, status: string) =>
  async ({ ctx, params }: Visit): Promise<Answer> => {
    const token = params.token ?? "";
    await call(ctx, endpoint, { params: { token, software_title_id: params.id ?? "" } });
    return { to: `/device/${encodeURIComponent(token)}?status=${status}` };
  };

export const installOnDevice = asking(deviceInstallsApi.install, "installing");
export const uninstallFromDevice = asking(deviceInstallsApi.uninstall, "removing");
