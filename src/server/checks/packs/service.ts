import type { z } from "zod";
import type { Pack, PackFields, packsApi } from "../../../api/checks/packs.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { alreadyExists, badRequest, invalid, notFound, premiumOption } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { checkLicenseRuns } from "../../platform/core/http/tier.ts";
import { eq, everything, oneOf, type Predicate } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import { changingQueries } from "../queries/service.ts";
import { type PackRow, packOnWire } from "./wire.ts";

type ListQuery = z.output<(typeof packsApi)["list"]["query"]>;

/** A pack's name in its stored form: composed (NFC) and trimmed. */
export const packName = (name: string): string => name.normalize("NFC").trim();

const refused = (why: string) => badRequest(`pack payload verification: ${why}`);

export function checkedPackName(input: string | undefined): string {
  const name = packName(input ?? "");
  if (name === "") throw refused("pack name cannot be empty");
  // Agents receive the queries of the global schedule and of teams in packs with these names.
  if (name === "Global" || /^team-\d+$/.test(name)) throw refused(`${JSON.stringify(name)} is a reserved pack name`);
  return name;
}

const nameTaken = (name: string) => alreadyExists(`a pack with the name ${JSON.stringify(name)} exists`);

export async function packRow({ store }: Pick<Context, "store">, id: number): Promise<PackRow> {
  const row = await store.packs.get(id);
  if (!row) throw notFound("pack", id);
  return row;
}

export async function listPacks(ctx: Context, query: ListQuery): Promise<{ packs: Pack[] }> {
  const { rows } = await page(ctx.store.packs, query, everything);
  const packs = [];
  for (const row of rows) packs.push(await packOnWire(ctx, row));
  return { packs };
}

export const getPack = async (ctx: Context, id: number): Promise<Pack> => packOnWire(ctx, await packRow(ctx, id));

export async function createPack(ctx: Context, input: PackFields): Promise<Pack> {
  const name = checkedPackName(input.name);
  checkTargets(ctx, input);
  return keepingNames(
    name,
    changingQueries(ctx, async (inside) => {
      const now = inside.clock.iso();
      await checkNameFree(inside, name);
      const row = await inside.store.packs.insert({
        created_at: now,
        updated_at: now,
        name,
        description: input.description ?? "",
        platform: input.platform ?? "",
        disabled: input.disabled ?? false,
      });
      await replaceTargets(inside, row.id, input);
      await recordActivity(inside, "created_pack", { pack_id: row.id, pack_name: name });
      return packOnWire(inside, row);
    }),
  );
}

export async function modifyPack(ctx: Context, id: number, change: PackFields): Promise<Pack> {
  const name = change.name === undefined ? undefined : checkedPackName(change.name);
  checkTargets(ctx, change);
  return keepingNames(
    name ?? "",
    changingQueries(ctx, async (inside) => {
      const before = await packRow(inside, id);
      if (name !== undefined && name !== before.name) await checkNameFree(inside, name);
      await inside.store.packs.update({
        where: eq("id", id),
        set: {
          updated_at: inside.clock.iso(),
          ...(name === undefined ? {} : { name }),
          ...(change.description === undefined ? {} : { description: change.description }),
          ...(change.platform === undefined ? {} : { platform: change.platform }),
          ...(change.disabled === undefined ? {} : { disabled: change.disabled }),
        },
      });
      await replaceTargets(inside, id, change);
      const row = await packRow(inside, id);
      await recordActivity(inside, "edited_pack", { pack_id: id, pack_name: row.name });
      return packOnWire(inside, row);
    }),
  );
}

export async function deletePack(ctx: Context, id: number): Promise<void> {
  await changingQueries(ctx, async (inside) => removePack(inside, await packRow(inside, id)));
}

export async function deletePackByName(ctx: Context, name: string): Promise<void> {
  await changingQueries(ctx, async (inside) => {
    const row = await inside.store.packs.first({ where: eq("name", packName(name)) });
    if (!row) throw notFound("pack", name);
    await removePack(inside, row);
  });
}

/** Under the lock of queries. */
export async function removePack(inside: Context, row: Pick<PackRow, "id" | "name">): Promise<void> {
  await inside.store.packs.delete(eq("id", row.id));
  await recordActivity(inside, "deleted_pack", { pack_name: row.name });
}

async function checkNameFree({ store }: Context, name: string): Promise<void> {
  if (await store.packs.first({ where: eq("name", name) })) throw nameTaken(name);
}

/** Two callers may choose the same name concurrently: the store refuses the second. */
async function keepingNames<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UniqueViolation && error.table === "packs") throw nameTaken(name);
    throw error;
  }
}

function checkTargets(ctx: Context, input: PackFields): void {
  if (!isPremium(ctx) && (input.team_ids?.length ?? 0) > 0) throw premiumOption("team_ids");
}

type Targets = Pick<PackFields, "host_ids" | "label_ids" | "team_ids">;
const kinds = [
  ["host_ids", "host_id", "host"],
  ["label_ids", "label_id", "label"],
  ["team_ids", "team_id", "team"],
] as const;
const BATCH_SIZE = 1000;

/** Each given kind of targets replaces the existing targets of that kind. */
export async function replaceTargets(ctx: Context, packId: number, targets: Targets): Promise<void> {
  const { store } = ctx;
  const existing = (kind: "host" | "label" | "team", where: Predicate): Promise<{ id: number }[]> =>
    kind === "host"
      ? store.hosts.pick(["id"], { where })
      : kind === "label"
        ? store.labels.pick(["id"], { where })
        : store.teams.pick(["id"], { where });
  const existingTargets = await store.packTargets.list({ where: eq("pack_id", packId) });
  for (const [field, column, kind] of kinds) {
    const list = targets[field];
    if (list === undefined) continue;
    const desired = new Set(list ?? []);
    const gone = existingTargets.filter((target) => target[column] !== null && !desired.has(target[column]));
    for (const target of existingTargets) if (target[column] !== null) desired.delete(target[column]);
    const fresh = [...desired];
    if (kind === "team" && fresh.length > 0) checkLicenseRuns(ctx);
    for (let at = 0; at < fresh.length; at += BATCH_SIZE) {
      const part = fresh.slice(at, at + BATCH_SIZE);
      const present = new Set((await existing(kind, oneOf("id", part))).map(({ id }) => id));
      const missing = part.find((id) => !present.has(id));
      if (missing !== undefined) throw invalid(field, `${kind} ${missing} was not found in the datastore`);
      await store.packTargets.insertMany(part.map((id) => ({ pack_id: packId, [column]: id })));
    }
    for (let at = 0; at < gone.length; at += BATCH_SIZE)
      await store.packTargets.delete(
        oneOf(
          "id",
          gone.slice(at, at + BATCH_SIZE).map(({ id }) => id),
        ),
      );
  }
}
