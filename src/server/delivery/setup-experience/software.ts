// The software that the hosts of a team install during their setup, in its order.

import type { z } from "zod";
import type { SetupTitle, setupExperienceApi } from "../../../api/delivery/setup-experience.ts";
import type { SetupPlatform } from "../../../api/setup-platforms.ts";
import type { SoftwareTitle } from "../../../api/software/software.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { teamScope } from "../../settings/teams/access.ts";
import type { Installer } from "../../software/installers/hosts.ts";
import { POLICY_LOCK_OPTIONS } from "../../software/installers/service.ts";
import { choosePackage, packagesForSetup } from "../../software/installers/setup.ts";
import { positionDuringSetup } from "../../software/software/setup-order.ts";
import { pageOfTitles } from "../../software/software/titles/lists.ts";
import { appsForSetup, chooseApp } from "../store-apps/setup.ts";
import type { StoreAppRow } from "../store-apps/tables.ts";

/** Software that a team offers, and its place among what hosts of a platform install during their setup. */
interface Candidate {
  readonly title_id: number;
  readonly installer: Installer | null;
  readonly app: StoreAppRow | null;
  /** Null: it is not installed. */
  readonly position: number | null;
}

/** What hosts of the platform could install. What they do install comes in its order. */
export async function candidatesFor(
  store: ServerTx,
  teamId: number | null,
  platform: SetupPlatform,
): Promise<Candidate[]> {
  const [installers, apps] = [
    await packagesForSetup(store, teamId, platform),
    await appsForSetup(store, teamId, platform),
  ];
  const all = [
    ...installers.map((installer) => ({
      title_id: installer.title_id,
      installer,
      app: null,
      position: positionDuringSetup(installer, installer.platform, platform),
    })),
    ...apps.map((app) => ({
      title_id: app.title_id,
      installer: null,
      app,
      position: positionDuringSetup(app, app.platform, platform),
    })),
  ];
  const last = Number.MAX_SAFE_INTEGER;
  return all.sort((a, b) => (a.position ?? last) - (b.position ?? last) || a.title_id - b.title_id);
}

export async function listSetupSoftware(ctx: Context, query: z.output<typeof setupExperienceApi.software.query>) {
  const { team_id } = await teamScope(ctx, "setup:read", query.team_id);
  const candidates = await Promise.all(query.platform.map((platform) => candidatesFor(ctx.store, team_id, platform)));
  const chosen = new Set(
    candidates.flatMap((ofPlatform) =>
      ofPlatform.flatMap(({ title_id, position }) => (position === null ? [] : title_id)),
    ),
  );
  const ids = [...new Set(candidates.flat().map(({ title_id }) => title_id))];
  const { software_titles, ...around } = await pageOfTitles(ctx, team_id ?? 0, ids, query, [...chosen]);
  return { ...around, software_titles: software_titles.map((title) => asChosen(title, chosen.has(title.id))) };
}

/** A title as the list of setup software shows it: `install_during_setup` on the platforms that were asked for. */
function asChosen(title: SoftwareTitle, install_during_setup: boolean): SetupTitle {
  const { software_package, packages, app_store_app } = title;
  return {
    ...title,
    software_package: software_package && { ...software_package, install_during_setup },
    packages: packages?.map((each) => ({ ...each, install_during_setup })) ?? null,
    app_store_app: app_store_app && { ...app_store_app, install_during_setup },
  };
}

interface SetupSoftwareInput {
  readonly platform: SetupPlatform;
  readonly team_id: number | null | undefined;
  readonly software_title_ids: readonly number[];
}

export async function setSetupSoftware(ctx: Context, input: SetupSoftwareInput): Promise<Record<string, never>> {
  const { platform } = input;
  const desired = [...new Set(input.software_title_ids)];
  const { team_id, team_name } = await teamScope(ctx, "setup:write", input.team_id);
  await ctx.store.tx(async (store) => {
    const candidates = await candidatesFor(store, team_id, platform);
    const byTitle = new Map(candidates.map((candidate) => [candidate.title_id, candidate]));
    const missing = desired.filter((id) => !byTitle.has(id));
    if (missing.length > 0) throw notOffered(missing, platform, team_name);
    const before = candidates.filter(({ position }) => position !== null).map(({ title_id }) => title_id);
    if (before.join() === desired.join()) return;
    const positionOf = new Map(desired.map((id, position) => [id, position]));
    for (const { title_id, installer, app, position } of candidates) {
      const at = { platform, position: positionOf.get(title_id) ?? null };
      if (at.position === position) continue;
      if (installer) await choosePackage(store, installer, at);
      else if (app) await chooseApp(store, app, at);
    }
    await recordActivity(within(ctx, store), "edited_setup_experience_software", {
      platform,
      team_id: team_id ?? 0,
      team_name: team_name ?? "",
    });
  }, POLICY_LOCK_OPTIONS);
  return {};
}

function notOffered(ids: readonly number[], platform: SetupPlatform, teamName: string | null) {
  const whose = teamName === null ? "hosts without a team have" : `the team ${teamName} has`;
  const shown = ids.slice(0, 10).join(", ");
  return invalid(
    "software_title_ids",
    `${whose} no package or app for ${platform} of the software title${ids.length === 1 ? "" : "s"} ${shown}`,
  );
}

/** A value that both places of the request may name. 422 if they differ. */
export function agreed<T>(field: string, body: T | null | undefined, query: T | undefined): T | undefined {
  const bodyValue = body ?? undefined;
  if (bodyValue !== undefined && query !== undefined && bodyValue !== query)
    throw invalid(field, "the query and the body of the request have different values");
  return bodyValue ?? query;
}
