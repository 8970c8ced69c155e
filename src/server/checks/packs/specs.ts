// Packs as configuration: targets and queries are given by name.

import type { PackInput, PackSpec } from "../../../api/checks/packs.ts";
import { labelName } from "../../hosts/labels/names.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { admitKeptSql } from "../../platform/agent-protocol/admit-carving.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { badRequest, notFound, premiumOption } from "../../platform/core/errors.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import { and, eq, isNull, oneOf, type Predicate } from "../../platform/store/query.ts";
import { teamNames } from "../../settings/teams/reads.ts";
import { queryName } from "../queries/rules.ts";
import { changingQueries } from "../queries/service.ts";
import { checkedPackName, packName, replaceTargets } from "./service.ts";
import { entriesOnWire, type PackRow } from "./wire.ts";

export const DEFAULT_INTERVAL = 3600;

/** All or nothing. A spec defines the whole pack: targets and queries that it does not list are removed. */
export async function applyPackSpecs(ctx: Context, specs: readonly PackInput[]): Promise<void> {
  const named = specs.map((spec) => ({ spec, name: checkedPackName(spec.name) }));
  if (!isPremium(ctx) && specs.some(({ targets }) => (targets?.teams?.length ?? 0) > 0)) throw premiumOption("teams");
  await changingQueries(ctx, async (inside) => {
    for (const { spec, name } of named) await replacePack(inside, spec, name);
    if (specs.length > 0) await recordActivity(inside, "applied_spec_pack", {});
  });
}

/** Under the lock of queries. */
export async function replacePack(inside: Context, spec: PackInput, name: string): Promise<void> {
  const { store, clock } = inside;
  const now = clock.iso();
  const [pack] = await store.packs.upsert(
    [
      {
        created_at: now,
        updated_at: now,
        name,
        description: spec.description ?? "",
        platform: spec.platform ?? "",
        disabled: spec.disabled ?? false,
      },
    ],
    { on: ["name"], set: ["updated_at", "description", "platform", "disabled"] },
  );
  await replaceTargets(inside, pack!.id, {
    host_ids: [],
    label_ids: await labelIds(inside, spec.targets?.labels ?? []),
    team_ids: await teamIds(inside, spec.targets?.teams ?? []),
  });
  await replaceQueries(inside, pack!.id, spec.queries ?? []);
}

async function labelIds({ store }: Context, names: readonly string[]): Promise<number[]> {
  const distinct = [...new Set(names.map(labelName))];
  const labels = await store.labels.pick(["id", "name"], { where: oneOf("name", distinct) });
  return distinct.map((name) => idNamed("label", name, labels));
}

async function teamIds({ store }: Context, names: readonly string[]): Promise<number[]> {
  const distinct = [...new Set(names.map((name) => name.trim()))];
  const teams = await store.teams.pick(["id", "name_key"], { where: oneOf("name_key", distinct.map(nameKey)) });
  const byKey = teams.map(({ id, name_key }) => ({ id, name: name_key }));
  return [...new Set(distinct.map((name) => idNamed("team", nameKey(name), byKey)))];
}

function idNamed(kind: string, name: string, rows: readonly { id: number; name: string }[]): number {
  const row = rows.find((candidate) => candidate.name === name);
  if (!row) throw notFound(kind, name);
  return row.id;
}

async function replaceQueries(ctx: Context, packId: number, entries: NonNullable<PackInput["queries"]>): Promise<void> {
  const { store, clock } = ctx;
  const now = clock.iso();
  const names = [...new Set(entries.map(({ query }) => queryName(query)))];
  const queries = await store.queries.pick(["id", "name", "query"], {
    where: and(isNull("team_id"), oneOf("name", names)),
  });
  for (const { name, query } of queries) admitKeptSql(ctx, query, null, `the query ${JSON.stringify(name)}`);
  const rows = entries.map((entry) => ({
    created_at: now,
    updated_at: now,
    pack_id: packId,
    query_id: idNamed("query", queryName(entry.query), queries),
    name: entry.name?.trim() || queryName(entry.query),
    description: entry.description ?? "",
    interval: entry.interval || DEFAULT_INTERVAL,
    snapshot: entry.snapshot ?? false,
    removed: entry.removed ?? true,
    platform: entry.platform ?? "",
    version: entry.version ?? "",
    shard: entry.shard ?? null,
    denylist: entry.denylist ?? true,
  }));
  const taken = new Set<string>();
  for (const { name } of rows) {
    if (taken.has(name))
      throw badRequest(`pack payload verification: two queries with the name ${JSON.stringify(name)}`);
    taken.add(name);
  }
  await store.scheduledQueries.delete(eq("pack_id", packId));
  await store.scheduledQueries.insertMany(rows);
}

export async function listPackSpecs(ctx: Context, where?: Predicate): Promise<PackSpec[]> {
  const rows = await ctx.store.packs.list({
    ...(where === undefined ? {} : { where }),
    order: [{ column: "name", direction: "asc" }],
  });
  const specs = [];
  for (const row of rows) specs.push(await specOf(ctx, row));
  return specs;
}

export async function getPackSpec(ctx: Context, name: string): Promise<PackSpec> {
  const [spec] = await listPackSpecs(ctx, eq("name", packName(name)));
  if (!spec) throw notFound("pack", name);
  return spec;
}

async function specOf(ctx: Context, pack: PackRow): Promise<PackSpec> {
  const { store } = ctx;
  const targets = await store.packTargets.list({ where: eq("pack_id", pack.id) });
  const labels = targets.flatMap(({ label_id }) => label_id ?? []);
  const teams = targets.flatMap(({ team_id }) => team_id ?? []);
  const entries = await entriesOnWire(ctx, await store.scheduledQueries.list({ where: eq("pack_id", pack.id) }));
  return {
    id: pack.id,
    name: pack.name,
    description: pack.description,
    platform: pack.platform,
    disabled: pack.disabled,
    targets: {
      labels: labels.length > 0 ? (await store.labels.getMany(labels)).map(({ name }) => name) : [],
      teams: [...(await teamNames(store, teams)).values()],
    },
    queries: entries.map((entry) => ({
      query: entry.query_name,
      name: entry.name,
      description: entry.description,
      interval: entry.interval,
      snapshot: entry.snapshot,
      removed: entry.removed,
      shard: entry.shard,
      platform: entry.platform,
      version: entry.version,
      denylist: entry.denylist,
    })),
  };
}
