// Label scopes of policies, queries, profiles and software: converts names to ids and back, and selects the hosts in
// scope.

import type { Context } from "../../platform/core/context.ts";
import { ApiError } from "../../platform/core/errors.ts";
import { byId, groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, not, oneOf, type Predicate } from "../../platform/store/query.ts";
import { labelName } from "./names.ts";
import { labelMembers } from "./tables.ts";

export interface NamedLabel {
  readonly id: number;
  readonly name: string;
}

/** Label ids. A list that is empty or absent has no effect. All the lists that are given must be satisfied. */
export interface LabelScope {
  readonly include_any?: readonly number[];
  readonly include_all?: readonly number[];
  readonly exclude_any?: readonly number[];
}

type ScopedKind = "policy" | "query" | "profile" | "software";

/**
 * The labels with these names, without duplicates, in the order of the names. Unknown names are a 400 under `field`,
 * e.g. `labels_include_any`. Call it with the context of the transaction that stores the ids.
 */
export async function resolveLabelNames(
  ctx: Pick<Context, "store">,
  names: readonly string[],
  kind: ScopedKind,
  field = "base",
): Promise<NamedLabel[]> {
  const distinct = [...new Set(names.map(labelName))];
  if (distinct.length === 0) return [];
  const labels = new Map(
    (await ctx.store.labels.pick(["id", "name"], { where: oneOf("name", distinct) })).map((label) => [
      label.name,
      label,
    ]),
  );
  return labelsAmong(labels, distinct, kind, field);
}

/** Finds names among labels that are already loaded. */
export function labelsAmong<L extends NamedLabel>(
  labels: ReadonlyMap<string, L>,
  names: readonly string[],
  kind: ScopedKind,
  field = "base",
): L[] {
  const distinct = [...new Set(names.map(labelName))];
  const unknown = distinct.filter((name) => !labels.has(name));
  if (unknown.length > 0)
    throw new ApiError(400, "Bad request", [
      { name: field, reason: `${kind} payload verification: unknown labels: ${quotedNames(unknown)}` },
    ]);
  return distinct.map((name) => labels.get(name)!);
}

const SHOWN_NAMES = 10;
/** Quoted names, cut to the first few of a long list. */
export const quotedNames = (names: readonly string[]): string =>
  names
    .slice(0, SHOWN_NAMES)
    .map((name) => JSON.stringify(name.slice(0, 255)))
    .join(", ") + (names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : "");

/** The labels with these ids, for replies. */
export async function labelNames(
  store: Pick<ServerTx, "labels">,
  ids: readonly number[],
): Promise<Map<number, NamedLabel>> {
  if (ids.length === 0) return new Map();
  const labels = await store.labels.pick(["id", "name"], { where: oneOf("id", [...new Set(ids)]) });
  return byId(labels);
}

/** Whether a host that is a member of these labels is in the scope. */
export function inScope(memberOf: ReadonlySet<number>, scope: LabelScope): boolean {
  const { include_any: any = [], include_all: all = [], exclude_any: none = [] } = scope;
  return (
    (any.length === 0 || any.some((id) => memberOf.has(id))) &&
    all.every((id) => memberOf.has(id)) &&
    !none.some((id) => memberOf.has(id))
  );
}

/** The hosts in the scope, as a predicate. */
export function scopePredicate(scope: LabelScope): Predicate {
  const { include_any: any = [], include_all: all = [], exclude_any: none = [] } = scope;
  return and(
    any.length === 0 ? everything : inAny(any),
    ...all.map((id) => inAny([id])),
    none.length === 0 ? everything : not(inAny(none)),
  );
}

const inAny = (ids: readonly number[]): Predicate =>
  exists(labelMembers, "host_id", ids.length === 1 ? eq("label_id", ids[0]!) : oneOf("label_id", ids));

export async function labelsOfHost(
  store: Pick<ServerTx, "labelMembers">,
  hostId: number,
): Promise<ReadonlySet<number>> {
  const members = await store.labelMembers.pick(["label_id"], { where: eq("host_id", hostId) });
  return new Set(members.map((member) => member.label_id));
}

/** Which of these labels each of the hosts is a member of. Hosts without any are not in the map. */
export async function labelsOfHosts(
  store: Pick<ServerTx, "labelMembers">,
  hostIds: readonly number[],
  labelIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  if (labelIds.length === 0) return new Map();
  const where = and(oneOf("host_id", hostIds), oneOf("label_id", labelIds));
  const members = groupBy(await store.labelMembers.pick(["host_id", "label_id"], { where }), ({ host_id }) => host_id);
  return new Map([...members].map(([id, rows]) => [id, new Set(rows.map(({ label_id }) => label_id))]));
}
