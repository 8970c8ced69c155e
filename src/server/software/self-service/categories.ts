// Categories in which users of hosts find what their team offers.

import type { z } from "zod";
import { isOneLine, NOT_ONE_LINE } from "../../../api/fields.ts";
import type { SelfServiceCategory, selfServiceCategoriesApi } from "../../../api/software/self-service.ts";
import { changingPolicies } from "../../checks/policies/service.ts";
import type { Context, Services } from "../../platform/core/context.ts";
import { ApiError, forbidden, invalid, notFound } from "../../platform/core/errors.ts";
import { type PageQuery, page } from "../../platform/core/http/paging.ts";
import { checkUnchanged } from "../../platform/core/http/unchanged.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import { inTeam, may } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { teamScope } from "../../settings/teams/access.ts";
import { titleOffers } from "./offers.ts";
import type { selfServiceCategories } from "./tables.ts";

type CategoryRow = RowOf<typeof selfServiceCategories>;

/** Per team. */
const MAX_CATEGORIES = 500;

const onWire = ({ id, team_id, name, created_at, updated_at }: CategoryRow): SelfServiceCategory => ({
  id,
  team_id: team_id ?? 0,
  name,
  created_at,
  updated_at,
});

/** The name as it is stored. */
function checkName(input: string): string {
  const name = input.normalize("NFC").trim();
  if (name === "") throw invalid("name", "must not be empty");
  if (!isOneLine(name)) throw invalid("name", NOT_ONE_LINE);
  return name;
}

export async function categoriesOfTeam({ store }: Context, teamId: number | null, query: PageQuery) {
  const { rows, meta } = await page(store.selfServiceCategories, query, inTeam(teamId ?? 0), {
    defaultOrder: [{ column: "name", direction: "asc" }],
  });
  return { self_service_categories: rows.map(onWire), meta };
}

export async function listCategories(ctx: Context, query: z.output<typeof selfServiceCategoriesApi.list.query>) {
  const { team_id } = await teamScope(ctx, "packages:read", query.team_id);
  return categoriesOfTeam(ctx, team_id, query);
}

type CategoryInput = z.output<typeof selfServiceCategoriesApi.create.body>;

export async function createCategory(ctx: Context, input: CategoryInput) {
  const { team_id } = await teamScope(ctx, "categories:write", input.team_id);
  const name = checkName(input.name);
  return changing(ctx, async (inside) => {
    await requireFree(inside.store, team_id, name);
    const [row] = await insertCategories(inside, team_id, [name], "name");
    return { self_service_category: onWire(row!) };
  });
}

/** Under the lock of packages and store apps, whose rows name categories. */
const changing = changingPolicies;

async function requireFree(store: ServerTx, teamId: number | null, name: string, but?: number): Promise<void> {
  const same = await store.selfServiceCategories.first({
    where: and(inTeam(teamId ?? 0), eq("name_key", nameKey(name))),
  });
  if (same !== null && same.id !== but)
    throw new ApiError(409, "Resource Already Exists", [
      { name: "name", reason: `the category ${JSON.stringify(same.name)} already exists` },
    ]);
}

type Inside = Pick<Services, "clock"> & { readonly store: ServerTx };

async function insertCategories(
  { store, clock }: Inside,
  team_id: number | null,
  names: readonly string[],
  field: string,
): Promise<CategoryRow[]> {
  const count = await store.selfServiceCategories.count(inTeam(team_id ?? 0));
  if (count + names.length > MAX_CATEGORIES) throw invalid(field, `a team can have ${MAX_CATEGORIES} categories`);
  const now = clock.iso();
  const rows = names.map((name) => ({ created_at: now, updated_at: now, team_id, name, name_key: nameKey(name) }));
  return store.selfServiceCategories.insertMany(rows);
}

/** A category of a team that the caller cannot see is answered like a missing one. */
async function categoryFor(ctx: Context, id: number): Promise<CategoryRow> {
  const row = await ctx.store.selfServiceCategories.get(id);
  if (row && may(ctx.user, "categories:write", row.team_id)) return row;
  if (row && may(ctx.user, "packages:read", row.team_id)) throw forbidden();
  throw notFound("self-service category", id);
}

export async function renameCategory(
  ctx: Context,
  id: number,
  change: z.output<typeof selfServiceCategoriesApi.update.body>,
) {
  await categoryFor(ctx, id);
  const name = checkName(change.name);
  return changing(ctx, async (inside) => {
    const { store, clock } = inside;
    const before = await categoryFor(inside, id);
    checkUnchanged(change, { team_id: onWire(before).team_id });
    if (before.name === name) return { self_service_category: onWire(before) };
    await requireFree(store, before.team_id, name, id);
    const set = { name, name_key: nameKey(name), updated_at: clock.iso() };
    await store.selfServiceCategories.update({ where: eq("id", id), set });
    await replaceInOffers(inside, before.team_id, (category) => (category === before.name ? [name] : [category]));
    return { self_service_category: onWire({ ...before, ...set }) };
  });
}

export async function deleteCategory(ctx: Context, id: number): Promise<Record<string, never>> {
  await categoryFor(ctx, id);
  return changing(ctx, async (inside) => {
    const before = await categoryFor(inside, id);
    await replaceInOffers(inside, before.team_id, (category) => (category === before.name ? [] : [category]));
    await inside.store.selfServiceCategories.delete(eq("id", id));
    return {};
  });
}

async function replaceInOffers(
  { store, extensions }: Context,
  teamId: number | null,
  instead: (name: string) => readonly string[],
): Promise<void> {
  for (const offers of extensions.of(titleOffers)) {
    const rows = await offers.inCategories(store, inTeam(teamId ?? 0));
    const changed = rows
      .map(({ id, categories }) => ({ id, before: categories, categories: categories.flatMap(instead) }))
      .filter(({ before, categories }) => before.join("\n") !== categories.join("\n"))
      .map(({ id, categories }) => ({ id, categories }));
    if (changed.length > 0) await offers.setCategories(store, changed);
  }
}

/**
 * The names in the spelling of the team's categories. Those that do not exist yet are created: files and catalogues
 * name them, too. In a transaction of packages.
 */
export async function namedCategories(
  inside: Inside,
  teamId: number | null,
  names: readonly string[],
): Promise<string[]> {
  const namesByKey = new Map(
    names
      .map((name) => name.normalize("NFC").trim())
      .filter((name) => name !== "")
      .map((name) => [nameKey(name), name]),
  );
  if (namesByKey.size === 0) return [];
  const where = and(inTeam(teamId ?? 0), oneOf("name_key", [...namesByKey.keys()]));
  const categoriesByKey = new Map(
    (await inside.store.selfServiceCategories.list({ where })).map((row) => [row.name_key, row]),
  );
  const fresh = [...namesByKey].filter(([key]) => !categoriesByKey.has(key)).map(([, name]) => name);
  if (fresh.length > 0) await insertCategories(inside, teamId, fresh, "categories");
  return [...namesByKey].map(([key, name]) => categoriesByKey.get(key)?.name ?? name);
}
