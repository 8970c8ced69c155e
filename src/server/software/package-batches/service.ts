// Replaces all packages of a team: what requests start, and the task that does it.
import type { z } from "zod";
import type { BatchPackage, PackageBatch, packageBatchesApi } from "../../../api/software/package-batches.ts";
import { resolveTargets } from "../../hosts/labels/targeting.ts";
import { days, hours, isoAt } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { forbidden, hasChanged, invalid, notFound } from "../../platform/core/errors.ts";
import { authorize, inTeam, may } from "../../platform/core/security/access.ts";
import { and, eq, gt, lte, not } from "../../platform/store/query.ts";
import { addTask } from "../../platform/tasks/queue.ts";
import type { TaskKind } from "../../platform/tasks/task.ts";
import { type TeamScope, teamIdNamed, teamScope } from "../../settings/teams/access.ts";
import { changingPackages } from "../installers/packages.ts";
import { checkQueryText, sentTexts } from "../installers/scripts.ts";
import { checkItem, findPackage, naming, type ResolvedPackage } from "./find.ts";
import { replacePackages } from "./replace.ts";
import type { BatchRow } from "./tables.ts";

type Input = { readonly [K in "query" | "body"]: z.output<(typeof packageBatchesApi.start)[K]> };

/** The time for which tasks are kept, too. */
const KEPT_FOR = days(30);

const teamNamed = async (ctx: Context, name: string | undefined): Promise<TeamScope> =>
  teamScope(ctx, "packages:write", await teamIdNamed(ctx, name));

export async function startBatch(ctx: Context, { query, body }: Input): Promise<{ request_uuid: string }> {
  const team = await teamNamed(ctx, query.team_name);
  const packages = Array.isArray(body.software) ? body.software : (body.software.packages ?? []);
  const download_only = query.download_only ?? false;
  if (download_only && query.dry_run) throw invalid("download_only", "cannot be given with dry_run");
  const items: BatchPackage[] = [];
  for (const [at, item] of packages.entries())
    await naming(item, at, async () => {
      await checkItem(ctx, item);
      // Only its file counts then: what belongs to it may not exist yet.
      if (!download_only) await resolveTargets(ctx, item, "software");
      const texts = sentTexts(ctx, item);
      checkQueryText(texts);
      items.push({ ...item, ...texts });
    });
  const uuid = ctx.random.uuid();
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    await store.packageBatches.delete(lte("created_at", isoAt(ctx.clock.now() - KEPT_FOR)));
    if (download_only) await dropEarlier(inside, team);
    await store.packageBatches.insert({
      uuid,
      created_at: ctx.clock.iso(),
      team_id: team.team_id,
      is_dry_run: query.dry_run ?? false,
      for_user_id: download_only ? ctx.user.id : null,
      total: items.length,
      found: [],
      packages: null,
    });
    await addTask(inside, packageBatchTask, { payload: { uuid, items, download_only }, total: items.length + 1 });
  });
  return { request_uuid: uuid };
}

export async function getBatch(ctx: Context, uuid: string): Promise<PackageBatch> {
  const row = await ctx.store.packageBatches.first({ where: eq("uuid", uuid) });
  if (!row || !may(ctx.user, "packages:write", row.team_id)) throw notFound("batch", uuid, "request_uuid");
  const { status, message, total, packages, found: resolved, for_user_id } = row;
  const isDone = status === "completed";
  const files =
    isDone && for_user_id !== null
      ? resolved.map(({ file: { name, sha256, size } }) => ({ name, hash_sha256: sha256, size }))
      : null;
  return { status, message, progress: isDone ? total : resolved.length, total, packages, files };
}

/** Undoes what a dry run has changed. */
class Undone extends Error {}

interface Payload {
  readonly uuid: string;
  readonly items: readonly BatchPackage[];
  readonly download_only: boolean;
}

/** Each step has the file of one package; the last one changes the packages, all or none. */
export const packageBatchTask: TaskKind<Payload> = {
  name: "package_batch",
  async run(ctx, { payload: { uuid, items, download_only }, progress, signal, step }) {
    const batch = await ctx.store.packageBatches.first({ where: eq("uuid", uuid) });
    // Deleted with its team.
    if (!batch) throw notFound("batch", uuid);
    if (!may(ctx.user, "packages:write", batch.team_id)) throw forbidden();
    for (let at = progress; at < items.length; at++) {
      const item = items[at]!;
      const source = await naming(item, at, () => findPackage(ctx, item, signal)).catch(async (error: unknown) => {
        // The download was given up because the server stops: the step ends the work here, not the error.
        if (signal.aborted) await step(at, async () => {});
        throw error;
      });
      await step(at + 1, async (store) => {
        const now = (await store.packageBatches.get(batch.id))!;
        await store.packageBatches.update({ where: eq("id", batch.id), set: { found: [...now.found, source] } });
      });
    }
    if (progress > items.length) return;
    const last = items.length + 1;
    if (download_only) return step(last, async () => {});
    const replace = (inside: Context) => finish(inside, batch, items);
    if (!batch.is_dry_run) return step(last, (store) => replace(within(ctx, store)));
    await step(items.length, async (store) => {
      await replace(within(ctx, store));
      throw new Undone();
    }).catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
    await step(last, async () => {});
  },
  async ended({ store }, { uuid, download_only = false }, { state, error }) {
    const set =
      state === "done"
        ? ({ status: "completed", message: "" } as const)
        : ({ status: "failed", message: error || "it was cancelled" } as const);
    const cleared = state === "done" && download_only ? {} : { found: [] };
    await store.packageBatches.update({ where: eq("uuid", uuid), set: { ...set, ...cleared } });
  },
};

async function finish(ctx: Context, { id, team_id, is_dry_run }: BatchRow, items: readonly BatchPackage[]) {
  await changingPackages(ctx, async (inside) => {
    const { store } = inside;
    authorize(inside, "packages:write", team_id);
    const team = await teamScope(inside, "packages:write", team_id);
    const newer = and(inTeam(team_id ?? 0), gt("id", id), eq("is_dry_run", false), eq("status", "completed"));
    if (!is_dry_run && (await store.packageBatches.count(newer)) > 0)
      throw hasChanged("the packages of the team were replaced by a later request meanwhile");
    const { found: resolved } = (await store.packageBatches.get(id))!;
    const packages = await replacePackages(inside, team, { items, packages: resolved });
    await store.packageBatches.update({ where: eq("id", id), set: { packages } });
  });
}

/**
 * Drops batches of the same user for the same team, so that applies every few minutes do not pile up. An apply may be
 * under way.
 */
async function dropEarlier({ store, user, clock }: Context, { team_id }: TeamScope): Promise<void> {
  const ownBatches = and(eq("for_user_id", user.id), eq("team_id", team_id), not(eq("status", "processing")));
  await store.packageBatches.delete(and(ownBatches, lte("created_at", isoAt(clock.now() - hours(1)))));
}

/** The time for which files are kept that nothing refers to. */
const USABLE_FOR = days(1);

/** What the caller has let the server download without changing a package, the newest first. */
export async function downloadsOf(ctx: Context): Promise<ResolvedPackage[]> {
  const { store, user, clock } = ctx;
  const rows = await store.packageBatches.list({
    where: and(
      eq("for_user_id", user.id),
      eq("status", "completed"),
      gt("created_at", isoAt(clock.now() - USABLE_FOR)),
    ),
    order: [{ column: "id", direction: "desc" }],
  });
  return rows.flatMap(({ found: packages }) => packages);
}
