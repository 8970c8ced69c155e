// The store apps that a team offers.

import type { z } from "zod";
import { type BatchApp, isAppId, type storeAppsApi } from "../../../api/delivery/store-apps.ts";
import { fallbacksOf, fieldNames } from "../../../api/plain-fields.ts";
import { type StoreApp, storeAppFields } from "../../../api/software/store-app.ts";
import { isDeeper, isRecord } from "../../../text/record.ts";
import { changingPolicies } from "../../checks/policies/service.ts";
import { teamFor } from "../../devices/profiles/access.ts";
import type { TeamName } from "../../devices/profiles/platform.ts";
import { resolveTargets } from "../../hosts/labels/targeting.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { alreadyExists, conflict, invalid, notFound } from "../../platform/core/errors.ts";
import { checkUnchanged } from "../../platform/core/http/unchanged.ts";
import { authorize, inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";
import { type TeamScope, teamIdNamed, teamScope } from "../../settings/teams/access.ts";
import { addPolicyFor, quote } from "../../software/installers/automatic.ts";
import { installerOfTitle } from "../../software/installers/hosts.ts";
import { deletePackage } from "../../software/installers/packages.ts";
import { checkAppConfiguration } from "../../software/installers/scripts.ts";
import { installedDuringSetup } from "../../software/installers/service.ts";
import { namedCategories } from "../../software/self-service/categories.ts";
import { dropIconOf, iconUrlOf } from "../../software/self-service/icon-rows.ts";
import { titleIdFor } from "../../software/software/titles/titles.ts";
import { labelListsOf, writeLabels } from "./labels.ts";
import { listingOf, listingsFor, requireToken } from "./licensed.ts";
import type { ListingRow, StoreAppRow, StorePlatform, VppTokenRow } from "./tables.ts";
import { appsOnWire } from "./view.ts";

type AddInput = z.output<typeof storeAppsApi.add.body>;
type EditInput = Omit<z.output<typeof storeAppsApi.edit.body>, "team_id" | "app_store_id" | "platform">;

/** The inventory's names of the apps of a platform. */
const sources: Readonly<Record<StorePlatform, string>> = {
  darwin: "apps",
  ios: "ios_apps",
  ipados: "ipados_apps",
  android: "android_apps",
};

export async function addApp(ctx: Context, input: AddInput): Promise<{ software_title_id: number; name: string }> {
  const team = await teamFor(ctx, "packages:write", input.team_id);
  const { app_store_id: adamId, platform } = input;
  checkAppId(adamId, platform);
  if (platform === "android" && input.self_service === undefined)
    throw invalid("self_service", "is required for Android");
  const token = platform === "android" ? null : await requireToken(ctx.store, team);
  const [listing] = await listingsFor(ctx, token, { app_store_id: adamId, platform });
  if (!listing) throw invalid("platform", `the store has no version of the app ${adamId} for the platform ${platform}`);
  checkSettings(platform, input);
  if (input.ensure !== undefined) {
    authorize(ctx, "policies:write", team.team_id);
    if (platform !== "darwin") throw invalid("ensure", "policies install apps on Macs only");
  }
  const title_id = await changingPolicies(ctx, async (inside) => {
    const id = await insertApp(inside, team, { listing, token, input });
    const offer = { team_id: team.team_id, title_id: id, platform };
    const query = `SELECT 1 FROM apps WHERE bundle_identifier = ${quote(listing.bundle_identifier)};`;
    if (input.ensure !== undefined)
      await addPolicyFor(inside, offer, { title: listing.name, what: "App Store", query });
    return id;
  });
  return { software_title_id: title_id, name: listing.name };
}

type Windows = "auto_update_window_start" | "auto_update_window_end";
type AppInput = Omit<EditInput, Windows> &
  Pick<BatchApp, "install_during_setup"> & { readonly every_platform?: boolean } & {
    readonly [K in Windows]?: string | null | undefined;
  };
interface NewApp {
  readonly listing: ListingRow;
  /** Null: it is for Android. */
  readonly token: VppTokenRow | null;
  readonly input: AppInput;
}

/** In the caller's transaction. Returns the id of the title. */
export async function insertApp(inside: Context, team: TeamName, { listing, token, input }: NewApp): Promise<number> {
  const { store, clock } = inside;
  const { adam_id, platform, name, bundle_identifier } = listing;
  const title_id = await titleIdFor(store, { name, source: sources[platform], bundle_identifier });
  if ((await appOfTitle(store, title_id, team.team_id)) ?? (await installerOfTitle(store, team.team_id, title_id)))
    throw alreadyExists(`${team.team_name ?? "no team"} offers ${name} already`);
  const row = await store.storeApps.insert({
    created_at: clock.iso(),
    team_id: team.team_id,
    title_id,
    token_id: token?.id ?? null,
    adam_id,
    platform,
    ...columnsOf(input),
    categories: await namedCategories(inside, team.team_id, input.categories ?? []),
  });
  await writeLabels(store, row.id, (await resolveTargets(inside, input, "software")) ?? []);
  await recordActivity(inside, "added_app_store_app", await detailsOf(store, row, team));
  return title_id;
}

const copied = [
  ...fieldNames(storeAppFields),
  "categories",
  "configuration",
  "install_during_setup",
  "auto_update_window_start",
  "auto_update_window_end",
  "every_platform",
] as const;

/** The columns that the request sets. */
type CopiedColumns = Pick<StoreAppRow, (typeof copied)[number]>;
const columnsOf = (
  input: { readonly [K in keyof CopiedColumns]?: CopiedColumns[K] | undefined },
): Partial<CopiedColumns> =>
  Object.fromEntries(copied.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])));

/** 422 for settings that hosts of the platform do not have. `now`: what is stored. */
export function checkSettings(platform: StorePlatform, input: AppInput, now?: StoreAppRow): void {
  const isPhone = platform === "ios" || platform === "ipados";
  if (input.configuration && platform === "android") checkJson(input.configuration);
  else if (input.configuration) {
    if (!isPhone) throw invalid("configuration", "apps for Macs cannot be configured");
    checkAppConfiguration(input.configuration);
  }
  if (!(input.auto_update_enabled ?? now?.auto_update_enabled)) return;
  if (!isPhone) throw invalid("auto_update_enabled", "only apps for iPhones and iPads are updated by the server");
  for (const name of ["auto_update_window_start", "auto_update_window_end"] as const)
    if (((input[name] === undefined ? now?.[name] : input[name]) ?? null) === null)
      throw invalid(name, "is required with auto_update_enabled");
}

const DEPTH_MAX = 64;

function checkJson(configuration: string): void {
  let value: unknown;
  try {
    value = JSON.parse(configuration);
  } catch {
    throw invalid("configuration", "is not valid JSON");
  }
  if (!isRecord(value)) throw invalid("configuration", "must be a JSON object");
  if (isDeeper(value, DEPTH_MAX))
    throw invalid("configuration", `has more than ${DEPTH_MAX} lists and objects inside each other`);
}

/** 422 if the id is not one of the platform's store. */
function checkAppId(id: string, platform: StorePlatform | undefined): void {
  if (isAppId(id, platform === "android")) return;
  throw invalid(
    "app_store_id",
    platform === "android"
      ? "must be the name of a package, such as com.example.app"
      : "must be the number of an app in the store; the names of packages need the platform android",
  );
}

/** The app of this title that the team offers; null: it offers none. */
export const appOfTitle = (store: ServerTx, titleId: number, teamId: number | null): Promise<StoreAppRow | null> =>
  store.storeApps.first({ where: and(eq("title_id", titleId), eq("team_id", teamId)) });

export async function editApp(
  ctx: Context,
  titleId: number,
  { team_id, app_store_id, platform, ...input }: z.output<typeof storeAppsApi.edit.body>,
): Promise<{ app_store_app: StoreApp }> {
  const team = await teamFor(ctx, "packages:write", team_id);
  const id = await changingPolicies(ctx, async (inside) => {
    const row = await appOfTitle(inside.store, titleId, team.team_id);
    if (!row) throw notFound("store app of the title", titleId);
    checkUnchanged({ app_store_id, platform }, { app_store_id: row.adam_id, platform: row.platform });
    await updateApp(inside, team, row, input);
    return row.id;
  });
  const [view] = await appsOnWire(ctx.store, [(await ctx.store.storeApps.get(id))!]);
  return { app_store_app: view! };
}

/** In the caller's transaction. Nothing is recorded if nothing changes. */
export async function updateApp(inside: Context, team: TeamName, row: StoreAppRow, input: AppInput): Promise<void> {
  const { store } = inside;
  checkSettings(row.platform, input, row);
  const labels = await resolveTargets(inside, input, "software");
  const before = await detailsOf(store, row, team);
  const set = columnsOf(input);
  if (set.categories) set.categories = await namedCategories(inside, team.team_id, set.categories);
  await store.storeApps.update({ where: eq("id", row.id), set });
  if (labels !== null) await writeLabels(store, row.id, labels);
  const now = (await store.storeApps.get(row.id))!;
  const after = await detailsOf(store, now, team);
  const isSame = JSON.stringify([before, columnsOf(row)]) === JSON.stringify([after, columnsOf(now)]);
  if (!isSame) await recordEdited(inside, team, now);
}

export async function recordEdited(inside: Context, team: TeamName, row: StoreAppRow): Promise<void> {
  await recordActivity(inside, "edited_app_store_app", {
    ...(await detailsOf(inside.store, row, team)),
    software_icon_url: await iconUrlFor(inside.store, row),
    software_display_name: row.display_name,
  });
}

/** The team's own icon, or else the store's. */
const iconUrlFor = async (store: ServerTx, row: StoreAppRow): Promise<string | null> =>
  (await iconUrlOf(store, row.team_id, row.title_id)) ?? (await listingOf(store, row))?.icon_url ?? null;

/** In the caller's transaction. Licenses stay with the hosts that have the app. */
async function removeApp(inside: Context, team: TeamName, row: StoreAppRow): Promise<void> {
  const { store } = inside;
  const { self_service, software_title_id, configuration, ...details } = await detailsOf(store, row, team);
  const software_icon_url = await iconUrlFor(store, row);
  await store.storeApps.delete(eq("id", row.id));
  await dropIconOf(store, row.team_id, row.title_id);
  await recordActivity(inside, "deleted_app_store_app", { ...details, software_icon_url });
}

/** How store apps share titles with packages. */
/** In the caller's transaction (`changingPolicies`). False: the team does not offer an app for the title. */
export async function removeAppOfTitle(inside: Context, team: TeamScope, titleId: number): Promise<boolean> {
  const { store } = inside;
  const row = await appOfTitle(store, titleId, team.team_id);
  if (!row) return false;
  const installs = and(inTeam(team.team_id ?? 0), eq("software_title_id", titleId));
  const policy = await store.policies.first({ where: installs });
  if (policy) throw conflict(`the policy ${JSON.stringify(policy.name)} installs the app: change it first`);
  if (row.install_during_setup) throw installedDuringSetup("app");
  await removeApp(inside, team, row);
  return true;
}

/** What the team offers for a title: its store app, or its package. */
export async function removeOffer(ctx: Context, titleId: number, teamId: number): Promise<Record<string, never>> {
  const team = await teamScope(ctx, "packages:write", teamId);
  await changingPolicies(ctx, async (inside) => {
    if (!(await removeAppOfTitle(inside, team, titleId))) await deletePackage(inside, team, titleId);
  });
  return {};
}

const configurationOf = ({ platform, configuration }: StoreAppRow) =>
  platform === "android" ? (JSON.parse(configuration) as Readonly<Record<string, unknown>>) : { plist: configuration };

/** For the activity feed. */
async function detailsOf(store: ServerTx, row: StoreAppRow, team: TeamName) {
  const title = await store.softwareTitles.get(row.title_id);
  return {
    software_title: title!.name,
    software_title_id: row.title_id,
    app_store_id: row.adam_id,
    platform: row.platform,
    self_service: row.self_service,
    ...team,
    ...(await labelListsOf(store, [row.id])).get(row.id),
    ...(row.configuration === "" ? {} : { configuration: configurationOf(row) }),
  };
}

/** Replaces the team's store apps: those that are not in the list are no longer offered. */
export async function replaceApps(ctx: Context, teamName: string | undefined, items: readonly BatchApp[]) {
  const team = await teamFor(ctx, "packages:write", await teamIdNamed(ctx, teamName));
  const desired = items.length === 0 ? new Map<string, NewApp>() : await readBatch(ctx, team, items);
  const rows = await changingPolicies(ctx, async (inside) => {
    const { store } = inside;
    const before = await store.storeApps.list({ where: eq("team_id", team.team_id) });
    const existing = new Map(before.map((row) => [`${row.adam_id} ${row.platform}`, row]));
    for (const [key, row] of existing) if (!desired.has(key)) await removeApp(inside, team, row);
    for (const [key, app] of desired) {
      const row = existing.get(key);
      if (row) await updateApp(inside, team, row, { ...unset, ...app.input });
      else await insertApp(inside, team, app);
    }
    return store.storeApps.list({ where: eq("team_id", team.team_id) });
  });
  return {
    app_store_apps: rows.map(({ team_id, title_id, adam_id, platform }) => ({
      team_id,
      title_id,
      app_store_id: adam_id,
      platform,
      icon_hash_sha256: "",
      icon_filename: "",
    })),
  };
}

/** What an item of a list leaves out is reset. */
export const unset = {
  ...fallbacksOf(storeAppFields),
  categories: [],
  configuration: "",
  install_during_setup: false,
  labels_include_any: [],
  every_platform: false,
} satisfies AppInput;

async function readBatch(ctx: Context, team: TeamName, items: readonly BatchApp[]): Promise<Map<string, NewApp>> {
  const isLicensed = items.some(({ platform }) => platform !== "android");
  const licenses = isLicensed ? await requireToken(ctx.store, team) : null;
  const desired = new Map<string, NewApp>();
  for (const [i, { app_store_id, platform, ...input }] of items.entries()) {
    checkAppId(app_store_id, platform);
    const token = platform === "android" ? null : licenses;
    for (const listing of await listingsFor(ctx, token, { app_store_id, platform })) {
      const key = `${app_store_id} ${listing.platform}`;
      if (desired.has(key)) throw invalid(`app_store_apps.${i}.app_store_id`, `${listing.name} is listed twice`);
      checkSettings(listing.platform, input);
      desired.set(key, { listing, token, input: { ...input, every_platform: platform === undefined } });
    }
  }
  return desired;
}
