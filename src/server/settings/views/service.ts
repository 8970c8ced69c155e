import type { z } from "zod";
import type { CreateView, ModifyView, Sharing, View, viewsApi } from "../../../api/settings/views.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, isPremium, within } from "../../platform/core/context.ts";
import { alreadyExists, conflict, invalid, notFound, premiumOption } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { byId } from "../../platform/core/maps.ts";
import { and, eq, everything, not, oneOf, search } from "../../platform/store/query.ts";
import { knowsTeam } from "../teams/access.ts";
import {
  checkWrites,
  inViewPlace,
  placeOf,
  readableViews,
  type ViewPlace,
  type ViewRow,
  viewFor,
  viewsBeside,
} from "./access.ts";

/** Views of one owner or team, or of everyone. */
const MAX_VIEWS = 200;
/** Serializes changes, so that their number and names are checked. */
const VIEW_CHANGES = { lock: "views" } as const;

type ListQuery = z.output<(typeof viewsApi)["list"]["query"]>;

export async function listViews(ctx: Context, { of, shared, team_id, query, ...paging }: ListQuery) {
  if (team_id !== undefined && team_id !== 0) await checkTeam(ctx, team_id);
  const where = and(
    readableViews(ctx),
    viewsBeside(team_id),
    of === undefined ? everything : eq("page", of),
    shared === undefined ? everything : eq("shared", shared),
    search(["name"], (query ?? "").normalize("NFC")),
  );
  const { rows, meta } = await page(ctx.store.views, paging, where, {
    defaultOrder: [{ column: "name", direction: "asc" }],
  });
  return { views: await viewsOnWire(ctx, rows), meta };
}

export const getView = async (ctx: Context, id: number): Promise<View> =>
  viewOnWire(ctx, await viewFor(ctx, id, "read"));

export async function createView(ctx: Context, input: CreateView): Promise<View> {
  const place = await checkedPlace(ctx, input.shared, input.team_id ?? null);
  checkName(input.name);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    await checkRoom(inside, place);
    const { name, page: ofPage, query, columns } = input;
    const key = await freeKey(inside, place, ofPage, name);
    const now = ctx.clock.iso();
    const view = await store.views.insert({
      ...place,
      name,
      page: ofPage,
      query,
      columns,
      key,
      author_id: ctx.user.id,
      created_at: now,
      updated_at: now,
    });
    if (view.shared !== "me") await record(inside, "created_view", view);
    return viewOnWire(inside, view);
  }, VIEW_CHANGES);
}

export async function modifyView(ctx: Context, id: number, change: ModifyView): Promise<View> {
  if (change.name !== undefined) checkName(change.name);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const view = await viewFor(inside, id, "write");
    const place = await changedPlace(inside, view, change);
    const { name = view.name, query = view.query, columns = view.columns } = change;
    const key = await freeKey(inside, place, view.page, name, id);
    await store.views.update({
      where: eq("id", id),
      set: { ...place, name, query, columns, key, updated_at: ctx.clock.iso() },
    });
    const changed = (await store.views.get(id))!;
    if (view.shared !== "me" || changed.shared !== "me")
      await record(inside, "edited_view", changed.shared === "me" ? view : changed);
    return viewOnWire(inside, changed);
  }, VIEW_CHANGES);
}

export async function deleteView(ctx: Context, id: number): Promise<void> {
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const view = await viewFor(inside, id, "write");
    await store.views.delete(eq("id", id));
    if (view.shared !== "me") await record(inside, "deleted_view", view);
  }, VIEW_CHANGES);
}

function checkName(name: string): void {
  if (name === "") throw invalid("name", "must not be empty");
}

/** A team that the caller may not see is answered like a missing one. */
async function checkTeam(ctx: Context, teamId: number): Promise<void> {
  if (!knowsTeam(ctx, teamId) || !(await ctx.store.teams.get(teamId))) throw notFound("team", teamId, "team_id");
}

/** The place that the input names, if the caller may write there. */
async function checkedPlace(ctx: Context, shared: Sharing, teamId: number | null): Promise<ViewPlace> {
  if (shared === "team") {
    if (teamId === null) throw invalid("team_id", "is required for a view that is shared with a team");
    if (!isPremium(ctx)) throw premiumOption("team_id");
    await checkTeam(ctx, teamId);
  } else if (teamId !== null) throw invalid("team_id", "is only for views that are shared with a team");
  const place = placeOf(ctx, shared, teamId);
  checkWrites(ctx, place);
  return place;
}

async function changedPlace(ctx: Context, view: ViewRow, { shared = view.shared, team_id }: ModifyView) {
  const isSame = shared === view.shared && (team_id === undefined || team_id === view.team_id);
  if (isSame) return { shared: view.shared, owner_id: view.owner_id, team_id: view.team_id };
  const teamId = team_id === undefined ? (shared === view.shared ? view.team_id : null) : team_id;
  const place = await checkedPlace(ctx, shared, teamId);
  await checkRoom(ctx, place);
  return place;
}

async function checkRoom({ store }: Context, place: ViewPlace): Promise<void> {
  if ((await store.views.count(inViewPlace(place))) >= MAX_VIEWS)
    throw conflict(`there are ${MAX_VIEWS} views already; delete one first`);
}

async function freeKey(
  { store }: Context,
  { shared, owner_id, team_id }: ViewPlace,
  ofPage: View["page"],
  name: string,
  but = 0,
): Promise<string> {
  const key = JSON.stringify([shared, owner_id ?? team_id, ofPage, name]);
  if ((await store.views.first({ where: and(eq("key", key), not(eq("id", but))) })) !== null)
    throw alreadyExists(`a view of ${ofPage} with the name ${JSON.stringify(name)} exists`);
  return key;
}

async function record(ctx: Context, type: "created_view" | "edited_view" | "deleted_view", view: ViewRow) {
  const team = view.team_id === null ? null : await ctx.store.teams.get(view.team_id);
  await recordActivity(ctx, type, {
    view_id: view.id,
    view_name: view.name,
    page: view.page,
    team_id: view.team_id,
    team_name: team?.name ?? null,
  });
}

const viewOnWire = async (ctx: Context, row: ViewRow): Promise<View> => (await viewsOnWire(ctx, [row]))[0]!;

async function viewsOnWire({ store }: Context, rows: readonly ViewRow[]): Promise<View[]> {
  const authorIds = [...new Set(rows.flatMap(({ author_id }) => author_id ?? []))];
  const authors = byId(await store.users.pick(["id", "name"], { where: oneOf("id", authorIds) }));
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    page: row.page,
    query: row.query,
    columns: row.columns,
    shared: row.shared,
    team_id: row.team_id,
    created_by: (row.author_id === null ? undefined : authors.get(row.author_id)) ?? null,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }));
}
