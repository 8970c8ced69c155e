// Reads the rows of all configuration objects that the caller may write, in a small number of queries.
import { setImmediate as breathe } from "node:timers/promises";

import { readSections } from "../app-config/rows.ts";
import { allSections } from "../app-config/sections.ts";
import type { CaRow } from "../ca/rules.ts";
import type { Context } from "../core/context.ts";
import { isPremium } from "../core/context.ts";
import { may, visible } from "../core/security/access.ts";
import type { enrollSecrets } from "../enroll-secrets/tables.ts";
import type { LabelScope } from "../labels/scope.ts";
import { nameHosts } from "../labels/spec.ts";
import type { LabelRow } from "../labels/wire.ts";
import { labelScopes, type PolicyRow } from "../policies/applies.ts";
import type { QueryRow } from "../queries/access.ts";
import { and, eq, everything, isNull, nothing, oneOf, type Predicate } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { TeamRow } from "../teams/access.ts";
import { type NoTeamSettings, noTeamSettings } from "../teams/no-team.ts";

export type SecretRow = RowOf<typeof enrollSecrets>;
export type HostName = string | number;

export interface Held {
  /** Null if the caller may not write the configuration. */
  readonly sections: ReadonlyMap<string, object> | null;
  readonly teams: readonly TeamRow[];
  /** Null if the caller may not write the settings of hosts without a team. */
  readonly noTeam: NoTeamSettings | null;
  readonly enrollSecrets: readonly SecretRow[];
  /** Whether the caller may write the team's enroll secrets. */
  readonly mayWriteSecrets: (teamId: number | null) => boolean;
  /** Every label, because other objects refer to labels by name. */
  readonly labels: readonly LabelRow[];
  /** Whether the caller may write labels, so that they are among the returned objects. */
  readonly ownsLabels: boolean;
  /** The names of manual labels' hosts. */
  readonly hosts: ReadonlyMap<number, readonly HostName[]>;
  readonly policies: readonly PolicyRow[];
  readonly policyLabels: ReadonlyMap<number, LabelScope>;
  readonly queries: readonly QueryRow[];
  readonly queryLabels: ReadonlyMap<number, readonly number[]>;
  readonly authorities: readonly CaRow[];
}

/** Members per read. Each has three numbers. */
const MEMBERS = 20_000;

/** Call this in a transaction, so that all rows are from the same moment. */
export async function readHeld(ctx: Context): Promise<Held> {
  const { store } = ctx;
  const isGlobal = may(ctx.user, "config:write", null);
  const hasTeams = isPremium(ctx);
  const mayWriteSecrets = (teamId: number | null) =>
    may(ctx.user, "enroll_secrets:write", teamId) && (teamId === null || hasTeams);
  const ownsLabels = may(ctx.user, "labels:write_any", null);
  const policies = await inPages(
    store.policies.pages({ where: ofTier(ctx, "policies:write", eq("scope", "global")) }, PAGE),
  );
  const queries = await inPages(store.queries.pages({ where: ofTier(ctx, "queries:write", isNull("team_id")) }, PAGE));
  const labels = await store.labels.list();
  return {
    sections: isGlobal ? await readSections(store, allSections) : null,
    teams: await store.teams.list({ where: hasTeams ? visible(ctx, "teams:edit", "id") : nothing }),
    noTeam: hasTeams && may(ctx.user, "teams:edit", null) ? await noTeamSettings(store) : null,
    enrollSecrets: await store.enrollSecrets.list({ where: secretsWhere(ctx, hasTeams) }),
    mayWriteSecrets,
    labels,
    ownsLabels,
    hosts: ownsLabels ? await hostsOf(ctx, labels.filter(isManual)) : new Map(),
    policies,
    policyLabels: await labelScopes(store, isGlobal ? undefined : policies.map(({ id }) => id)),
    queries,
    queryLabels: await labelsOf(
      ctx,
      isGlobal
        ? everything
        : oneOf(
            "query_id",
            queries.map(({ id }) => id),
          ),
    ),
    authorities: may(ctx.user, "ca:write", null) ? await store.certificateAuthorities.list() : [],
  };
}

/** Rows per read. Reading all at once would block the event loop. */
const PAGE = 1_000;

async function inPages<R>(pages: AsyncIterable<R[]>): Promise<R[]> {
  const rows: R[] = [];
  for await (const page of pages) {
    rows.push(...page);
    await breathe();
  }
  return rows;
}

/** On the free tier there are no teams and no objects of teams. */
const ofTier = (ctx: Context, action: "policies:write" | "queries:write", global: Predicate): Predicate =>
  and(visible(ctx, action), isPremium(ctx) ? everything : global);

function secretsWhere(ctx: Context, hasTeams: boolean): Predicate {
  const own = visible(ctx, "enroll_secrets:write");
  return hasTeams ? own : and(own, isNull("team_id"));
}

const isManual = ({ label_type: type, label_membership_type: membership }: LabelRow): boolean =>
  type === "regular" && membership === "manual";

async function hostsOf(ctx: Context, labels: readonly LabelRow[]): Promise<Map<number, HostName[]>> {
  const members = new Map<number, number[]>(labels.map(({ id }) => [id, []]));
  if (labels.length === 0) return new Map();
  const where = oneOf("label_id", [...members.keys()]);
  const hosts = new Set<number>();
  for await (const some of ctx.store.labelMembers.pages({ where }, MEMBERS))
    for (const { label_id, host_id } of some) {
      members.get(label_id)!.push(host_id);
      hosts.add(host_id);
    }
  const names = await nameHosts(ctx, [...hosts]);
  return new Map([...members].map(([id, ids]) => [id, ids.flatMap((host) => names.get(host) ?? [])]));
}

async function labelsOf({ store }: Context, where: Predicate): Promise<Map<number, number[]>> {
  const labels = new Map<number, number[]>();
  for (const { query_id, label_id } of await store.queryLabels.pick(["query_id", "label_id"], { where })) {
    const ids = labels.get(query_id) ?? [];
    labels.set(query_id, ids);
    ids.push(label_id);
  }
  return labels;
}
