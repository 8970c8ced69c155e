// Makes the packages of a team those of a batch.
import { fallbacksOf, fieldNames, pickSet } from "../../../api/plain-fields.ts";
import type { BatchPackage, PackageBatch } from "../../../api/software/package-batches.ts";
import { packageFields } from "../../../api/software/packages.ts";
import { resolveTargets } from "../../hosts/labels/targeting.ts";
import type { Context } from "../../platform/core/context.ts";
import { conflict, invalid } from "../../platform/core/errors.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { TeamScope } from "../../settings/teams/access.ts";
import { keepDefaults } from "../catalogue/add.ts";
import type { Installer } from "../installers/hosts.ts";
import { textsFor } from "../installers/packages.ts";
import { checkScriptVariables } from "../installers/scripts.ts";
import { createInstaller, deleteInstaller, type InstallerChoices, updateInstaller } from "../installers/service.ts";
import { policiesThatInstall } from "../installers/wire.ts";
import { iconOf } from "../self-service/icon-rows.ts";
import { titleIdFor } from "../software/titles/titles.ts";
import { labelOf, naming, type ResolvedPackage } from "./find.ts";

interface DesiredPackages {
  readonly items: readonly BatchPackage[];
  /** In the order of the items. */
  readonly packages: readonly ResolvedPackage[];
}

/** Runs in the caller's transaction (`changingPackages`). */
export async function replacePackages(
  inside: Context,
  team: TeamScope,
  { items, packages }: DesiredPackages,
): Promise<PackageBatch["packages"]> {
  const { store } = inside;
  const rows = await store.softwareInstallers.list({ where: inTeam(team.team_id ?? 0) });
  const before = new Map(rows.map((row) => [row.title_id, row]));
  const places = new Map<number, number>();
  for (const [at, item] of items.entries())
    await naming(item, at, async () => {
      const title = await titleIdFor(store, packages[at]!.read.title);
      const other = places.get(title);
      if (other !== undefined)
        throw invalid("base", `it is of the same title as package ${other + 1} (${labelOf(items[other]!)})`);
      places.set(title, at);
    });
  for (const row of rows) if (!places.has(row.title_id)) await remove(inside, team, row);
  const installers: Installer[] = [];
  for (const [title, at] of places)
    installers.push(
      await naming(items[at]!, at, () => write(inside, team, before.get(title) ?? null, items[at]!, packages[at]!)),
    );
  return onWire(inside, team, installers);
}

async function remove(inside: Context, team: TeamScope, row: Installer): Promise<void> {
  const [policy] = await policiesThatInstall(inside.store, row);
  if (policy) {
    const name = JSON.stringify(policy.name);
    throw conflict(`the package ${row.file_name} is not in the list, but the policy ${name} installs it`);
  }
  await deleteInstaller(inside, row, team);
}

/** What an item leaves out has its default. */
async function write(
  inside: Context,
  team: TeamScope,
  before: Installer | null,
  item: BatchPackage,
  { read, scripts, file, url, app_id, categories }: ResolvedPackage,
): Promise<Installer> {
  const texts = textsFor({ read, scripts }, item);
  await checkScriptVariables(inside.store, texts, team.team_id);
  if (item.install_during_setup && read.platform === "ios")
    throw invalid("install_during_setup", "iPhones and iPads install no packages during their setup");
  const choices: InstallerChoices = {
    ...texts,
    url,
    ...fallbacksOf(packageFields),
    ...pickSet(item, fieldNames(packageFields)),
    display_name: item.display_name?.trim() ?? "",
    categories: item.categories ?? categories,
    install_during_setup: item.install_during_setup ?? false,
    catalogue_app_id: app_id,
    pinned_version: item.slug === undefined ? "" : (item.version?.trim() ?? ""),
  };
  const labels = (await resolveTargets(inside, item, "software")) ?? [];
  const input = { file, read, choices, labels };
  const row = before
    ? await updateInstaller(inside, before, team, input)
    : await createInstaller(inside, { team, ...input });
  if (item.slug !== undefined)
    await keepDefaults(inside.store, row.id, { install_script: scripts.install, uninstall_script: scripts.uninstall });
  return row;
}

async function onWire({ store }: Context, team: TeamScope, rows: readonly Installer[]) {
  const apps = await store.catalogueApps.pick(["id", "slug"], {
    where: oneOf(
      "id",
      rows.flatMap((row) => row.catalogue_app_id ?? []),
    ),
  });
  const slugs = new Map(apps.map(({ id, slug }) => [id, slug]));
  const packages: NonNullable<PackageBatch["packages"]> = [];
  for (const row of rows) {
    const icon = await iconOf(store, team.team_id, row.title_id);
    const file = icon && (await store.files.get(icon.file_id));
    packages.push({
      team_id: team.team_id,
      title_id: row.title_id,
      url: row.url,
      hash_sha256: row.sha256,
      svc_maintained_app_id: row.catalogue_app_id,
      svc_maintained_app_slug: slugs.get(row.catalogue_app_id ?? 0) ?? "",
      icon_hash_sha256: file?.sha256 ?? "",
      icon_filename: icon?.file_name ?? "",
    });
  }
  return packages;
}
