// Writes store apps through the services of their feature.
import { NO_TEAM_NAME } from "../../../../../api/settings/no-team.ts";
import { checkSettings, insertApp, removeAppOfTitle, unset, updateApp } from "../../../../delivery/store-apps/apps.ts";
import { listingsFor, requireToken } from "../../../../delivery/store-apps/licensed.ts";
import {
  EVERY_TEAM,
  type ListingRow,
  type StoreAppRow,
  type VppTokenRow,
} from "../../../../delivery/store-apps/tables.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { hasChanged, invalid } from "../../../../platform/core/errors.ts";
import { inTeam, may } from "../../../../platform/core/security/access.ts";
import { and, eq } from "../../../../platform/store/query.ts";
import type { TeamScope } from "../../../../settings/teams/access.ts";
import { locating, type RequestedChange, type Step } from "../../changes.ts";
import type { Part } from "../../kind.ts";
import { keyOf } from "../../values.ts";
import { count, differs, type Work } from "../../work.ts";
import { digestOf } from "../package/rows.ts";
import { keepIcons, recordIcon, writeIcon } from "../title-icons.ts";
import { appObjects, KIND, type StoreAppRows } from "./rows.ts";
import type { DesiredStoreApp } from "./value.ts";

/** By the index of the change: what the store says of the app on each platform. */
type Listings = ReadonlyMap<number, { readonly token: VppTokenRow | null; readonly listings: readonly ListingRow[] }>;
type AppPart = Part<StoreAppRows, DesiredStoreApp, Listings>;

/** Before the transaction, because the store may be asked. */
export async function findListings(ctx: Context, steps: readonly Step<DesiredStoreApp>[]): Promise<Listings> {
  await keepIcons(ctx, steps);
  const listingsByIndex = new Map<number, { token: VppTokenRow | null; listings: ListingRow[] }>();
  for (const step of steps)
    await locating(step, async () => {
      const { owner, desired } = step;
      const team = await teamBefore(ctx, owner);
      // Refused later, as if there were no such team.
      if (team === null) return;
      const token = desired.platform === "android" ? null : await requireToken(ctx.store, team);
      const listings = await listingsFor(ctx, token, { app_store_id: desired.adamId, platform: desired.platform });
      if (listings.length === 0)
        throw invalid("base", `the store has no version of the app ${desired.adamId} for ${desired.platform}`);
      listingsByIndex.set(step.index, { token, listings });
    });
  return listingsByIndex;
}

/**
 * The apply may create the team: then only a token for all teams can be for it. Null: a team that the caller may not
 * change.
 */
async function teamBefore({ store, user }: Context, owner: string | null): Promise<TeamScope | null> {
  if (owner === null || owner === NO_TEAM_NAME) return { team_id: null, team_name: null };
  const team = await store.teams.first({ where: eq("name", owner) });
  if (team && !may(user, "packages:write", team.id)) return null;
  return { team_id: team?.id ?? EVERY_TEAM, team_name: owner };
}

const scopeOf = ({ teams }: Work, owner: string | null): TeamScope =>
  owner === null || owner === NO_TEAM_NAME
    ? { team_id: null, team_name: null }
    : { team_id: teams.get(owner)!.id, team_name: owner };

/** A row that no object has any more after an apply, with the change that caused it. */
type LeftApp = { readonly row: StoreAppRow; readonly by: RequestedChange };

export async function writeApps(work: Work, { rows, steps, gone, prepared }: AppPart): Promise<void> {
  const changed = steps.filter((step) => differs(work, step, step.desired.value));
  const objects = new Map(appObjects(rows, work.shared).map((object) => [object.key, object.rows]));
  // Apps of deleted teams are deleted together with the team.
  const staying = gone.filter(({ owner }) => owner === null || !work.leaving.has(owner));
  const giving = [...changed, ...staying].flatMap((by) => (objects.get(keyOf(by)) ?? []).map((row) => ({ row, by })));
  const mayChange = new Set(giving.map(({ row }) => row.id));
  const takenIds = new Set<number>();
  for (const step of changed)
    await locating(step, async () => {
      const team = scopeOf(work, step.owner);
      const { token, listings } = prepared.get(step.index)!;
      if (token !== null && (await requireToken(work.ctx.store, team)).id !== token.id)
        throw hasChanged("the team has got another token of the license program meanwhile");
      for (const listing of listings) {
        const where = and(inTeam(team.team_id ?? 0), eq("adam_id", listing.adam_id), eq("platform", listing.platform));
        const row = await work.ctx.store.storeApps.first({ where });
        if (row && (takenIds.has(row.id) || !mayChange.has(row.id)))
          throw invalid("base", `the app is listed twice for ${listing.platform}`);
        const input = appInput(step.desired, row);
        if (row) await updateApp(work.ctx, team, row, input);
        else {
          checkSettings(listing.platform, input);
          await insertApp(work.ctx, team, { listing, token, input });
        }
        const now = (await work.ctx.store.storeApps.first({ where }))!;
        if (await writeIcon(work.ctx, team, now.title_id, step.desired)) await recordIcon(work.ctx, team, now.title_id);
        takenIds.add(now.id);
      }
    });
  const leftApps: readonly LeftApp[] = giving.filter(({ row }) => !takenIds.has(row.id));
  work.kept.set(KIND, leftApps);
  count(work, changed);
}

function appInput({ value, platform, configuration }: DesiredStoreApp, row: StoreAppRow | null) {
  const configurationText = row && digestOf(row.configuration) === value.configuration ? row.configuration : undefined;
  const text = configuration ?? configurationText;
  if (text === undefined) throw invalid("configuration", "the request does not contain the file with this digest");
  const { icon: _, setup_experience, auto_update_window_start: start, auto_update_window_end: end, ...fields } = value;
  return {
    ...unset,
    ...fields,
    configuration: text,
    install_during_setup: setup_experience,
    auto_update_window_start: start,
    auto_update_window_end: end,
    every_platform: platform === undefined,
  };
}

/** After policies have been written, which may install an app that is deleted no more. */
export async function deleteApps(work: Work, { gone }: AppPart): Promise<void> {
  for (const { row, by } of (work.kept.get(KIND) ?? []) as readonly LeftApp[])
    await locating(by, () => removeAppOfTitle(work.ctx, scopeOf(work, by.owner), row.title_id));
  count(work, gone);
}
