// Packages of maintained apps follow the catalogue, or stay at the version that users have pinned.

import { hours } from "../../platform/core/clock.ts";
import { type Context, type Services, serviceContext } from "../../platform/core/context.ts";
import { ApiError, invalid } from "../../platform/core/errors.ts";
import type { Job } from "../../platform/core/job.ts";
import { isNull, not } from "../../platform/store/query.ts";
import type { TeamScope } from "../../settings/teams/access.ts";
import type { Installer } from "../installers/hosts.ts";
import { changingPackages } from "../installers/packages.ts";
import { updateInstaller } from "../installers/service.ts";
import { downloadVersion, keepDefaults, newScripts, readOf } from "./add.ts";
import { type CatalogueVersion, type Manifest, scriptsOf } from "./format.ts";
import type { AppRow } from "./tables.ts";

export const catalogueUpdates: Job = {
  name: "catalogue_updates",
  every: hours(1),
  after: ["catalogue"],
  async run(services, signal) {
    const { store, log } = services;
    for await (const rows of store.softwareInstallers.pages({ where: not(isNull("catalogue_app_id")) }, 50))
      for (const installer of rows) {
        if (signal.aborted) return;
        try {
          await follow(services, installer);
        } catch (error) {
          // A failure concerns this package only: the next period tries again.
          if (!(error instanceof ApiError)) throw error;
          const problem = error.errors[0]?.reason ?? error.message;
          log.warn({ installer: installer.id, problem }, "a maintained app was not updated");
        }
      }
  },
};

async function follow(services: Services, installer: Installer): Promise<void> {
  const app = await services.store.catalogueApps.get(installer.catalogue_app_id!);
  const version = app?.is_listed ? versionFor(app.manifest, installer.pinned_version) : null;
  if (!app || !version || version.sha256 === installer.sha256) return;
  const ctx = serviceContext(services);
  await switchVersion(ctx, installer, { app, version, pin: installer.pinned_version });
}

/**
 * The newest version that the pin allows: a version, or `^147` for all that begin with 147. Null: the catalogue has none.
 */
export function versionFor({ versions }: Manifest, pin: string): CatalogueVersion | null {
  if (pin === "") return versions[0]!;
  const listed = pin.startsWith("^")
    ? versions.find(({ version }) => version === pin.slice(1) || version.startsWith(`${pin.slice(1)}.`))
    : versions.find(({ version }) => version === pin);
  return listed ?? null;
}

interface DesiredUpdate {
  readonly app: AppRow;
  readonly version: CatalogueVersion;
  readonly pin: string;
}

/** Downloads the version, unless the package is that version. Another change of the package meanwhile wins. */
async function switchVersion(
  ctx: Context,
  before: Installer,
  { app, version, pin }: DesiredUpdate,
): Promise<Installer> {
  const read = readOf(app, version);
  const file = await downloadVersion(ctx, version);
  return changingPackages(ctx, async (inside) => {
    const { store } = inside;
    const installer = await store.softwareInstallers.get(before.id);
    if (!installer || installer.sha256 !== before.sha256 || installer.pinned_version !== before.pinned_version)
      return installer ?? before;
    const scripts = scriptsOf(app.manifest, version);
    const changed = await updateInstaller(inside, installer, await teamOf(inside, installer), {
      file,
      read,
      choices: { ...(await newScripts(store, installer, scripts)), url: version.installer_url, pinned_version: pin },
      labels: null,
    });
    await keepDefaults(store, installer.id, scripts);
    return changed;
  });
}

async function teamOf({ store }: Context, { team_id }: Installer): Promise<TeamScope> {
  const team = team_id === null ? null : await store.teams.get(team_id);
  return { team_id, team_name: team?.name ?? null };
}

/** Pins the package to a version of the catalogue, and installs that one; an empty text follows the newest again. */
export async function pinVersion(ctx: Context, installer: Installer, input: string): Promise<Installer> {
  const pin = input.trim();
  const id = installer.catalogue_app_id;
  const app = id === null ? null : await ctx.store.catalogueApps.get(id);
  if (!app) throw invalid("version", "only packages of maintained apps can be pinned to a version");
  const version = versionFor(app.manifest, pin);
  if (!version) {
    const versions = app.manifest.versions.map((candidate) => candidate.version).join(", ");
    throw invalid("version", `the catalogue has no such version of ${app.name}, but these: ${versions}`);
  }
  return switchVersion(ctx, installer, { app, version, pin });
}
