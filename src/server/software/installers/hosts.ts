// The packages that a host may install.

import type { HostRow } from "../../hosts/hosts/access.ts";
import { inScope, labelsOfHost, labelsOfHosts } from "../../hosts/labels/scope.ts";
import { isBroken, scopeOf } from "../../hosts/labels/targeting.ts";
import { groupBy } from "../../platform/core/maps.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, oneOf, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { installerLabels, softwareInstallers } from "./tables.ts";

export type Installer = RowOf<typeof softwareInstallers>;
type InstallerLabel = RowOf<typeof installerLabels>;
type Target = Pick<HostRow, "id" | "team_id" | "platform" | "platform_like" | "label_updated_at">;

export async function labelsOfInstallers(
  store: Pick<ServerTx, "installerLabels">,
  ids: readonly number[],
): Promise<ReadonlyMap<number, InstallerLabel[]>> {
  if (ids.length === 0) return new Map();
  const rows = await store.installerLabels.list({ where: oneOf("installer_id", ids) });
  return groupBy(rows, ({ installer_id }) => installer_id);
}

/** Distributions name those that they descend from. */
const families = {
  deb: ["debian", "ubuntu"],
  rpm: ["rhel", "fedora", "centos", "suse", "sles", "amzn"],
} as const;

/** Whether packages of this kind can be installed on hosts of this platform. */
function fits({ kind, platform }: Pick<Installer, "kind" | "platform">, host: Target): boolean {
  if (platform === "ios") return host.platform === "ios" || host.platform === "ipados";
  const family = platformFamily(host.platform, host.platform_like);
  // Shell and Python scripts run wherever there is a shell.
  if (kind === "sh" || kind === "py") return family === "linux" || family === "darwin";
  if (family !== platform) return false;
  if (kind !== "deb" && kind !== "rpm") return true;
  const names = `${host.platform} ${host.platform_like}`.toLowerCase();
  const isOf = (family: "deb" | "rpm") => families[family].some((name) => names.includes(name));
  return isOf(kind) || !isOf(kind === "deb" ? "rpm" : "deb");
}

function inTargets(memberOf: ReadonlySet<number>, host: Target, labels: readonly InstallerLabel[]): boolean {
  if (isBroken(labels)) return false;
  const scope = scopeOf(labels);
  // A host that has not reported its labels yet may have one that excludes it.
  if (scope.exclude_any.length > 0 && host.label_updated_at === null) return false;
  return inScope(memberOf, scope);
}

/** Why the package and its scripts are not for the host, as a part of a sentence. Null: they are. */
export function misfitOf(host: Target, installer: Installer): string | null {
  if (installer.team_id !== host.team_id) return "the package belongs to another team than the host";
  return fits(installer, host)
    ? null
    : `the package is for ${installer.platform} (${installer.kind}), not for this host`;
}

/** Why hosts cannot install the package, as a part of a sentence, by their ids. Those that can are not in the map. */
export async function misfits(
  store: ServerTx,
  hosts: readonly Target[],
  installer: Installer,
): Promise<Map<number, string>> {
  const labels = (await labelsOfInstallers(store, [installer.id])).get(installer.id) ?? [];
  const hostIds = hosts.map(({ id }) => id);
  const labelIds = labels.flatMap(({ label_id }) => label_id ?? []);
  const members = await labelsOfHosts(store, hostIds, labelIds);
  return new Map(
    hosts.flatMap((host): [number, string][] => {
      const misfit = misfitOf(host, installer);
      if (misfit !== null) return [[host.id, misfit]];
      if (inTargets(members.get(host.id) ?? new Set(), host, labels)) return [];
      return [[host.id, "the host is not among those that the labels of the package select"]];
    }),
  );
}

/** The package of a title that a host's team offers, whether or not this host can install it. */
export const installerOfTitle = (
  store: Pick<ServerTx, "softwareInstallers">,
  teamId: number | null,
  titleId: number,
): Promise<Installer | null> =>
  store.softwareInstallers.first({ where: and(inTeam(teamId ?? 0), eq("title_id", titleId)) });

/** All packages that the host can install, for example those with self-service. */
export async function installersForHost(
  store: ServerTx,
  host: Target,
  where: Predicate = everything,
): Promise<Installer[]> {
  const rows = await store.softwareInstallers.list({ where: and(inTeam(host.team_id ?? 0), where) });
  const fitting = rows.filter((installer) => fits(installer, host));
  const [labels, memberOf] = [
    await labelsOfInstallers(
      store,
      fitting.map(({ id }) => id),
    ),
    await labelsOfHost(store, host.id),
  ];
  return fitting.filter(({ id }) => inTargets(memberOf, host, labels.get(id) ?? []));
}
