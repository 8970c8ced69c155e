import { channels } from "../core/channels.ts";
import { parts } from "../core/concurrency/parts.ts";
import type { Context } from "../core/context.ts";
import type { ServerTx } from "../core/tables.ts";
import { oneOf } from "../store/query.ts";
import type { ActivityRow } from "./chain.ts";
import { hostIn, NO_TEAM, teamsIn, textIn } from "./search.ts";
import type { ActivityTypes } from "./types.ts";
import { activitiesWebhook } from "./webhook.ts";

/** A request context, or services with a user; background work has no address. */
export type Recorder = Pick<Context, "store" | "clock" | "user"> & { readonly address?: string };

/**
 * Records an entry of the activity feed with the current user as its actor. Without a user (failed sign-in, agent)
 * there is no actor; entries by the service itself have its name and `svc_initiated`. Call it in the transaction of the
 * recorded change: the entry joins the chain (sealer.ts) after the commit. Returns its id.
 */
export async function recordActivity<T extends keyof ActivityTypes>(
  ctx: Recorder,
  type: T,
  details: ActivityTypes[T],
  { teamIds, ...options }: { hostId?: number; isHostOnly?: boolean; teamIds?: readonly (number | null)[] } = {},
): Promise<number> {
  const [id] = await recordActivities(ctx, type, [details], {
    ...options,
    ...(teamIds === undefined ? {} : { teamIds: [teamIds] }),
  });
  return id!;
}

interface Marks {
  readonly hostId?: number;
  /** The activity is listed under its host only. */
  readonly isHostOnly?: boolean;
  readonly hostIds?: readonly number[];
  readonly addresses?: readonly string[];
  /** Teams that an entry concerns besides those in its details and that of its host. Null: hosts without a team. */
  readonly teamIds?: readonly (readonly (number | null)[])[];
}

/** Records several entries; `hostIds`, `addresses` and `teamIds` have one element per entry. Returns their ids. */
export const recordActivities = <T extends keyof ActivityTypes>(
  ctx: Recorder,
  type: T,
  entries: readonly ActivityTypes[T][],
  options: Marks = {},
): Promise<number[]> =>
  record(
    ctx,
    entries.map((details) => ({ type, details })),
    options,
  );

export type Entry = {
  [T in keyof ActivityTypes]: { readonly type: T; readonly details: ActivityTypes[T] };
}[keyof ActivityTypes];

/** Records entries of several types, in this order. */
export const recordEntries = (ctx: Recorder, entries: readonly Entry[], options: Marks = {}): Promise<number[]> =>
  record(ctx, entries, options);

async function record(
  { store, clock, user, address }: Recorder,
  entries: readonly { readonly type: string; readonly details: object }[],
  options: Marks,
): Promise<number[]> {
  if (entries.length === 0) return [];
  const person = user.kind === "user";
  const actor = {
    actor_id: person ? user.id : null,
    actor_full_name: user.kind === "nobody" ? null : user.name,
    actor_email: person ? user.email : null,
    actor_gravatar: person ? user.gravatar_url : null,
    actor_api_only: person ? user.api_only : null,
    actor_token: user.token_name || null,
    svc_initiated: user.kind === "service",
  };
  const created_at = clock.iso();
  const webhook_url = await activitiesWebhook(store);
  const covered = entries.map(({ type, details }, i) => ({
    type,
    details: { ...details } as Record<string, unknown>,
    host_id: options.hostIds?.[i] ?? options.hostId ?? null,
  }));
  const columns = await searchColumns(store, covered, options.teamIds);
  const rows = await store.activities.insertMany(
    covered.map((entry, i) => ({
      created_at,
      ...entry,
      ...columns[i]!,
      actor_address: (options.addresses?.[i] ?? address) || null,
      host_only: options.isHostOnly ?? false,
      webhook_url,
      ...actor,
    })),
    { returning: ["id"] },
  );
  await store.notify(channels.activities, "");
  return rows.map(({ id }) => id);
}

type CoveredColumns = Pick<ActivityRow, "type" | "details" | "host_id">;

/** What the entries are found by. Hosts count with the teams that they have now. */
export async function searchColumns(
  store: Pick<ServerTx, "hosts">,
  entries: readonly CoveredColumns[],
  teamIds: Marks["teamIds"] = [],
): Promise<Pick<ActivityRow, "team_ids" | "details_text">[]> {
  const hostOf = (entry: CoveredColumns) => entry.host_id ?? hostIn(entry);
  const hostIds = new Set(entries.flatMap((entry) => hostOf(entry) ?? []));
  const teams = new Map<number, number>();
  for await (const batch of parts([...hostIds]))
    for (const { id, team_id } of await store.hosts.pick(["id", "team_id"], { where: oneOf("id", batch) }))
      teams.set(id, team_id ?? NO_TEAM);
  return entries.map((entry, i) => {
    const hostTeam = teams.get(hostOf(entry) ?? 0);
    const others = teamIds[i]?.map((id) => id ?? NO_TEAM) ?? [];
    const all = [...teamsIn(entry), ...others, ...(hostTeam === undefined ? [] : [hostTeam])];
    return { team_ids: [...new Set(all)].sort((a, b) => a - b), details_text: textIn(entry.details) };
  });
}
