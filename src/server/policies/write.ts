// Rows of policies and their labels, however many at a time, in the caller's transaction, which holds the policies' lock.
import type { Context } from "../core/context.ts";
import { alreadyExists } from "../core/errors.ts";
import { parts } from "../core/parts.ts";
import { checkLicenseRuns } from "../core/tier.ts";
import { lt, oneOf } from "../store/query.ts";
import { UniqueViolation } from "../store/store.ts";
import type { ServerTx } from "../tables.ts";
import { labelScopes, type Place, type PolicyRow } from "./applies.ts";
import { type Columns, outdatesResults } from "./rules.ts";

export interface PolicyLabels {
  readonly ids: readonly number[];
  readonly excludes: boolean;
}

export interface NewPolicy {
  readonly place: Place;
  readonly columns: Columns;
  readonly labels?: PolicyLabels | undefined;
}

export async function insertPolicies(ctx: Context, given: readonly NewPolicy[]): Promise<PolicyRow[]> {
  const { store } = ctx;
  const now = ctx.clock.iso();
  if (given.some(({ columns, place, labels }) => columns.critical || place.scope !== "global" || labels?.ids.length))
    checkLicenseRuns(ctx);
  const author_id = ctx.user.kind === "user" ? ctx.user.id : null;
  const rows: PolicyRow[] = [];
  for await (const some of parts(given)) {
    const results = await newResultIds(store, some.length, now);
    const made = await unlessTaken(
      some.map(({ columns }) => columns.name),
      store.policies.insertMany(
        some.map(({ columns, place }, i) => ({
          ...columns,
          ...place,
          created_at: now,
          updated_at: now,
          author_id,
          result_id: results[i]!,
        })),
      ),
    );
    await store.policyLabels.insertMany(made.flatMap(({ id }, i) => labelRows(id, some[i]!.labels)));
    rows.push(...made);
  }
  return rows;
}

export interface PolicyChange {
  readonly before: PolicyRow;
  readonly set: Partial<Columns>;
  /** Undefined: they stay. */
  readonly labels: PolicyLabels | undefined;
}

export interface Changed {
  readonly row: PolicyRow;
  /** The results that say nothing any more. */
  readonly outdated: number | null;
  /** Other hosts are meant than before. */
  readonly narrowed: boolean;
}

export async function updatePolicies(ctx: Context, changes: readonly PolicyChange[]): Promise<Changed[]> {
  const changed: Changed[] = [];
  for await (const some of parts(changes)) changed.push(...(await updatePart(ctx, some)));
  return changed;
}

async function updatePart(ctx: Context, changes: readonly PolicyChange[]): Promise<Changed[]> {
  const { store, clock } = ctx;
  const now = clock.iso();
  if (await addPremium(ctx, changes)) checkLicenseRuns(ctx);
  const isOutdated = changes.map(({ before, set }) => outdatesResults(before, set));
  const anew = changes.filter((_, i) => isOutdated[i]);
  const results = await newResultIds(store, anew.length, now);
  const columns = ({ before, set }: PolicyChange) => ({ id: before.id, ...columnsAfter(before, set), updated_at: now });
  await unlessTaken(
    changes.map(({ before, set }) => set.name ?? before.name),
    (async () => {
      await store.policies.updateEach(changes.filter((_, i) => !isOutdated[i]).map(columns));
      await store.policies.updateEach(
        anew.map((change, i) => ({
          ...columns(change),
          result_id: results[i]!,
          passing_host_count: 0,
          failing_host_count: 0,
          host_count_updated_at: null,
        })),
      );
    })(),
  );
  if (anew.length > 0)
    await store.policyEvents.delete(
      oneOf(
        "policy_id",
        anew.map(({ before }) => before.id),
      ),
    );
  const relabelled = changes.filter(({ labels }) => labels !== undefined);
  if (relabelled.length > 0) {
    await store.policyLabels.delete(
      oneOf(
        "policy_id",
        relabelled.map(({ before }) => before.id),
      ),
    );
    await store.policyLabels.insertMany(relabelled.flatMap(({ before, labels }) => labelRows(before.id, labels)));
  }
  const rows = new Map(
    (await store.policies.getMany(changes.map(({ before }) => before.id))).map((row) => [row.id, row]),
  );
  return changes.map(({ before, labels }, i) => ({
    row: rows.get(before.id)!,
    outdated: isOutdated[i] ? before.result_id : null,
    narrowed: labels !== undefined && labels.ids.length > 0,
  }));
}

/** Whether a policy becomes critical, or goes by labels that it did not go by. */
async function addPremium({ store }: Context, changes: readonly PolicyChange[]): Promise<boolean> {
  if (changes.some(({ before, set }) => set.critical && !before.critical)) return true;
  const narrowed = changes.filter(({ labels }) => labels !== undefined && labels.ids.length > 0);
  const scopes = await labelScopes(
    store,
    narrowed.map(({ before }) => before.id),
  );
  return narrowed.some(({ before, labels }) => {
    const held = scopes.get(before.id);
    const ids = new Set(labels!.excludes ? held?.exclude_any : held?.include_any);
    return labels!.ids.some((id) => !ids.has(id));
  });
}

/** Every column, since all rows of one write set the same. */
const columnsAfter = (before: PolicyRow, set: Partial<Columns>): Columns => ({
  name: before.name,
  query: before.query,
  description: before.description,
  resolution: before.resolution,
  platform: before.platform,
  critical: before.critical,
  calendar_events_enabled: before.calendar_events_enabled,
  conditional_access_enabled: before.conditional_access_enabled,
  software_title_id: before.software_title_id,
  script_id: before.script_id,
  ...set,
});

const labelRows = (policy_id: number, labels: PolicyLabels | undefined) =>
  (labels?.ids ?? []).map((label_id) => ({ policy_id, label_id, excludes: labels!.excludes }));

async function newResultIds(store: ServerTx, count: number, now: string): Promise<number[]> {
  const rows = await store.policyResultIds.insertMany(Array.from({ length: count }, () => ({ created_at: now })));
  const ids = rows.map(({ id }) => id);
  const newest = ids.reduce((found, id) => Math.max(found, id), 0);
  if (ids.length > 0) await store.policyResultIds.delete(lt("id", newest));
  return ids;
}

async function unlessTaken<R>(names: readonly string[], write: Promise<R>): Promise<R> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    const which = names.length === 1 ? `a policy with the name ${JSON.stringify(names[0])}` : "one of the policies";
    throw alreadyExists(`${which} exists`);
  }
}
