import { channels } from "../core/channels.ts";
import type { Context } from "../core/context.ts";
import { linkedHosts, teamsOfHosts } from "./hosts.ts";
import { searchColumns } from "./search.ts";
import type { ActivityTypes } from "./types.ts";
import { activityWebhooks, hostRequests } from "./webhook.ts";

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
  { hosts, ...options }: Pick<Marks, "hostId" | "isHostOnly" | "formerTeams"> & { hosts?: readonly number[] } = {},
): Promise<number> {
  const [id] = await recordActivities(ctx, type, [details], {
    ...options,
    ...(hosts === undefined ? {} : { hosts: [hosts] }),
  });
  return id!;
}

interface Marks {
  readonly hostId?: number;
  /** The activity is listed under its host only. */
  readonly isHostOnly?: boolean;
  readonly hostIds?: readonly number[];
  readonly addresses?: readonly string[];
  /** The hosts that an entry about several hosts concerns, if its details do not name them. Webhooks get their ids. */
  readonly hosts?: readonly (readonly number[])[];
  /** The teams of hosts that have just left them or were deleted, by the hosts' ids. Null: no team. */
  readonly formerTeams?: ReadonlyMap<number, number | null>;
}

/** Records several entries; `hostIds`, `addresses` and `hosts` have one element per entry. Returns their ids. */
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
  const covered = entries.map(({ type, details }, i) => ({
    type,
    details: { ...details } as Record<string, unknown>,
    host_id: options.hostIds?.[i] ?? options.hostId ?? null,
  }));
  const linked = covered.map((entry, i) => linkedHosts(entry, options.hosts?.[i]));
  const hostIds = new Set(linked.flatMap(({ ids }) => ids));
  const teams = await teamsOfHosts(store, hostIds, options.formerTeams);
  const webhooks = await activityWebhooks(store, new Set([...teams.values()].flat()));
  const rows = await store.activities.insertMany(
    covered.map((entry, i) => ({
      created_at,
      ...entry,
      ...searchColumns(
        entry,
        linked[i]!.ids.flatMap((id) => teams.get(id) ?? []),
      ),
      actor_address: (options.addresses?.[i] ?? address) || null,
      host_only: options.isHostOnly ?? false,
      webhook_url: webhooks.activities,
      host_requests: hostRequests(linked[i]!, teams, webhooks),
      ...actor,
    })),
    { returning: ["id"] },
  );
  await store.notify(channels.activities, "");
  return rows.map(({ id }) => id);
}
