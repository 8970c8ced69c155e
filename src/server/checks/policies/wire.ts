// Renders policies for the API. Rows of other tables are read once for all policies of a reply.
import { type Policy, patchFields, policyFields } from "../../../api/checks/policies.ts";
import { fieldNames, pick } from "../../../api/plain-fields.ts";
import { labelNames } from "../../hosts/labels/scope.ts";
import { shownErrors } from "../../hosts/query-errors/errors.ts";
import type { Context } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf, type Predicate } from "../../platform/store/query.ts";
import { labelScopes, type PolicyRow, teamIdOf } from "./applies.ts";
import { authorOf, authorsOf } from "./results.ts";
import { countedHosts, shownCounts } from "./shown-counts.ts";

const shownAlways = fieldNames(policyFields);
const shownForPatches = fieldNames(patchFields);

type Reader = Pick<Context, "store" | "user" | "running">;

/** `own`: the hosts over which global policies are counted; default: all hosts visible to the caller. */
export async function policiesOnWire(
  ctx: Reader,
  rows: readonly PolicyRow[],
  countedOver?: Predicate,
): Promise<Policy[]> {
  if (rows.length === 0) return [];
  const { store } = ctx;
  const authors = await authorsOf(store, rows);
  const scopes = await labelScopes(
    store,
    rows.map(({ id }) => id),
  );
  const counts = await shownCounts(ctx, rows, scopes, countedOver);
  const labels = await labelNames(
    store,
    [...scopes.values()].flatMap((scope) => [...scope.include_any, ...scope.include_all, ...scope.exclude_any]),
  );
  const named = (ids: readonly number[] = []) =>
    ids.flatMap((id) => labels.get(id) ?? []).map(({ id, name }) => ({ id, name }));
  const { titles, scripts, profiles, slugs } = await automationRows(store, rows);
  const ids = rows.map(({ id }) => id);
  const errorsOf = await shownErrors(store, "policy_id", ids, countedHosts(ctx, countedOver));
  return rows.map((row): Policy => {
    const include = named(scopes.get(row.id)?.include_any);
    const all = named(scopes.get(row.id)?.include_all);
    const exclude = named(scopes.get(row.id)?.exclude_any);
    const profile = row.resend_profile_uuid === null ? undefined : profiles.get(row.resend_profile_uuid);
    const script = row.script_id === null ? undefined : scripts.get(row.script_id);
    const title = row.software_title_id === null ? undefined : titles.get(row.software_title_id);
    return {
      id: row.id,
      name: row.name,
      query: row.query,
      ...pick(row, shownAlways),
      author_id: row.author_id,
      ...authorOf(row, authors),
      team_id: teamIdOf(row),
      platform: row.platform,
      ...(include.length > 0 ? { labels_include_any: include } : {}),
      ...(all.length > 0 ? { labels_include_all: all } : {}),
      ...(exclude.length > 0 ? { labels_exclude_any: exclude } : {}),
      ...(row.type === "patch"
        ? {
            svc_maintained_app_slug: slugs.get(row.catalogue_app_id ?? 0) ?? "",
            ...pick(row, shownForPatches),
          }
        : {}),
      created_at: row.created_at,
      updated_at: row.updated_at,
      ...counts.get(row.id)!,
      ...errorsOf(row.id),
      host_count_updated_at: row.host_count_updated_at,
      ...(title
        ? { install_software: { software_title_id: title.id, name: title.name, display_name: title.name } }
        : {}),
      ...(script ? { run_script: { id: script.id, name: script.name } } : {}),
      ...(profile ? { resend_configuration_profile: { profile_uuid: profile.uuid, name: profile.name } } : {}),
    };
  });
}

/** What policies install, run and send again, and the apps of patch policies. */
async function automationRows(store: ServerTx, rows: readonly PolicyRow[]) {
  const titleIds = [...new Set(rows.flatMap(({ software_title_id }) => software_title_id ?? []))];
  const scriptIds = [...new Set(rows.flatMap(({ script_id }) => script_id ?? []))];
  return {
    titles: byId(titleIds.length > 0 ? await store.softwareTitles.getMany(titleIds) : []),
    scripts: byId(scriptIds.length > 0 ? await store.scripts.getMany(scriptIds) : []),
    profiles: await profilesResent(store, rows),
    slugs: await slugsOf(store, rows),
  };
}

/** The profiles that policies send again, by their uuids. */
export async function profilesResent(
  store: Pick<ServerTx, "configurationProfiles">,
  rows: readonly Pick<PolicyRow, "resend_profile_uuid">[],
): Promise<ReadonlyMap<string, { readonly uuid: string; readonly name: string }>> {
  const uuids = [...new Set(rows.flatMap(({ resend_profile_uuid }) => resend_profile_uuid ?? []))];
  if (uuids.length === 0) return new Map();
  const profiles = await store.configurationProfiles.pick(["uuid", "name"], { where: oneOf("uuid", uuids) });
  return new Map(profiles.map((profile) => [profile.uuid, profile]));
}

/** The slugs of the maintained apps of patch policies, by the ids of the apps. */
export async function slugsOf(
  store: Pick<ServerTx, "catalogueApps">,
  rows: readonly Pick<PolicyRow, "catalogue_app_id">[],
): Promise<ReadonlyMap<number, string>> {
  const ids = [...new Set(rows.flatMap(({ catalogue_app_id }) => catalogue_app_id ?? []))];
  if (ids.length === 0) return new Map();
  const apps = await store.catalogueApps.pick(["id", "slug"], { where: oneOf("id", ids) });
  return new Map(apps.map(({ id, slug }) => [id, slug]));
}

export const policyOnWire = async (ctx: Reader, row: PolicyRow): Promise<Policy> =>
  (await policiesOnWire(ctx, [row]))[0]!;
