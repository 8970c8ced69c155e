// The software that policies install: packages and store apps of their teams, which files name.
import { parts } from "../../../../platform/core/concurrency/parts.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import { inTeam } from "../../../../platform/core/security/access.ts";
import { and, eq, oneOf } from "../../../../platform/store/query.ts";
import type { Work } from "../../work.ts";
import { packageNames, placeOf } from "../package/rows.ts";
import type { InstalledSoftware } from "./value.ts";

/** What patch policies install is not named. By team and title (`placeOf`). Of store apps, only those of Macs: only Macs answer policies. */
export async function softwareOf(
  { store }: Context,
  titles: readonly number[],
): Promise<ReadonlyMap<string, InstalledSoftware>> {
  const softwareByPlace = new Map<string, InstalledSoftware>();
  for await (const part of parts([...new Set(titles)])) {
    const apps = await store.storeApps.pick(["team_id", "title_id", "adam_id"], {
      where: and(oneOf("title_id", part), eq("platform", "darwin")),
    });
    for (const app of apps) softwareByPlace.set(placeOf(app), { app_store_id: app.adam_id });
  }
  if (titles.length > 0)
    for (const [place, name] of await packageNames(store))
      if (!softwareByPlace.has(place)) softwareByPlace.set(place, { package: name });
  return softwareByPlace;
}

/** The titles of the packages and apps that this apply leaves, by team and name. Each team is read once. */
export class OfferedSoftware {
  readonly #work: Work;
  readonly #packages = new Map<number, ReadonlyMap<string, number>>();

  constructor(work: Work) {
    this.#work = work;
  }

  async titleOf(teamId: number | null, software: InstalledSoftware | null): Promise<number | null> {
    if (software === null) return null;
    const { ctx } = this.#work;
    const isPackage = "package" in software;
    const title = isPackage
      ? (await this.#namesOf(teamId)).get(software.package)
      : await this.#appOf(teamId, software.app_store_id);
    if (title !== undefined) return title;
    // Only the real apply downloads the file.
    if (ctx.dryRun !== null) return null;
    const what = isPackage ? `package ${JSON.stringify(software.package)}` : `app ${software.app_store_id} for Macs`;
    throw invalid("install_software", `the team does not offer the ${what}`);
  }

  async #namesOf(teamId: number | null): Promise<ReadonlyMap<string, number>> {
    const cached = this.#packages.get(teamId ?? 0);
    if (cached) return cached;
    const names = await packageNames(this.#work.ctx.store, inTeam(teamId ?? 0));
    const titles = new Map([...names].map(([place, name]) => [name, Number(place.split(" ")[1])]));
    this.#packages.set(teamId ?? 0, titles);
    return titles;
  }

  async #appOf(teamId: number | null, adamId: string): Promise<number | undefined> {
    const where = and(inTeam(teamId ?? 0), eq("adam_id", adamId), eq("platform", "darwin"));
    return (await this.#work.ctx.store.storeApps.first({ where }))?.title_id;
  }
}
