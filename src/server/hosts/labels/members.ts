// The members of a label, given by the names of hosts: as a whole or one by one.

import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Context } from "../../platform/core/context.ts";
import { visible } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, not, oneOf, type Predicate } from "../../platform/store/query.ts";
import { ReferenceViolation } from "../../platform/store/store.ts";
import { hostsNamed, type NamedHosts, namedById, soleHosts } from "../hosts/named.ts";
import { hosts } from "../hosts/tables.ts";
import { notifyMembersChanged } from "./counts.ts";
import { labelMembers } from "./tables.ts";

/** Memberships per read. Each has four numbers. */
const BATCH_SIZE = 5000;
const ATTEMPTS = 3;

/** Retries without a host that is deleted while it is added to a label. */
export async function againWithoutGone<R>(work: () => Promise<R>): Promise<R> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ReferenceViolation) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The hosts whose labels the caller may change. */
const changeableHosts = (ctx: Context): Predicate => visible(ctx, "hosts:label");

/** Ids of the hosts with these names. 422 of `field` if several hosts have one of the names. */
export async function idsOfHosts(
  ctx: Context,
  names: readonly (string | number)[],
  field: string,
): Promise<Set<number>> {
  return new Set(soleHosts(await hostsByName(ctx, names), field).values());
}

/**
 * The named hosts, among those whose labels the caller may change. Texts are serial numbers, uuids, hostnames or node
 * keys, numbers are ids. Names that match no host are left out.
 */
export async function hostsByName(
  ctx: Context,
  names: readonly (string | number)[],
): Promise<Map<string | number, NamedHosts>> {
  const texts = names.filter((name) => typeof name === "string");
  const matches: Map<string | number, NamedHosts> = await hostsNamed(ctx.store, texts, changeableHosts(ctx), {
    hasKeys: true,
  });
  const ids = [...new Set(names.filter((name) => typeof name === "number"))];
  for await (const batch of parts(ids))
    for (const { id } of await ctx.store.hosts.pick(["id"], { where: and(oneOf("id", batch), changeableHosts(ctx)) }))
      matches.set(id, namedById(id));
  return matches;
}

/** Memberships of the label, limited to the given hosts. */
const membersWhere = (labelId: number, of: Predicate): Predicate =>
  and(eq("label_id", labelId), of.op === "all" ? everything : exists(hosts, "id", of, "host_id"));

/**
 * Replaces the members of the label and returns whether any changed. Hosts whose labels the caller may not change
 * keep theirs.
 */
export async function replaceMembers(ctx: Context, labelId: number, desired: ReadonlySet<number>): Promise<boolean> {
  const { store } = ctx;
  const before = new Set<number>();
  const leaving: number[] = [];
  for await (const page of store.labelMembers.pages({ where: membersWhere(labelId, changeableHosts(ctx)) }, BATCH_SIZE))
    for (const { id, host_id } of page) {
      before.add(host_id);
      if (!desired.has(host_id)) leaving.push(id);
    }
  for await (const batch of parts(leaving)) await store.labelMembers.delete(oneOf("id", batch));
  const joining = [...desired].filter((id) => !before.has(id));
  await join(store, labelId, joining);
  if (leaving.length + joining.length === 0) return false;
  await notifyMembersChanged(store, [labelId]);
  return true;
}

async function join(store: ServerTx, labelId: number, hostIds: readonly number[]): Promise<void> {
  for await (const batch of parts(hostIds))
    await store.labelMembers.upsert(
      batch.map((host_id) => ({ label_id: labelId, host_id })),
      { on: ["label_id", "host_id"], set: [], returning: [] },
    );
}

/**
 * Makes the matching hosts the members of the label, and writes only the differences. Returns whether there were any.
 */
export async function setMembers(store: ServerTx, labelId: number, where: Predicate): Promise<boolean> {
  const isMember = hasLabel(labelId);
  const joining = (await store.hosts.pick(["id"], { where: and(where, not(isMember)) })).map(({ id }) => id);
  const leaving = (await store.hosts.pick(["id"], { where: and(isMember, not(where)) })).map(({ id }) => id);
  if (joining.length + leaving.length === 0) return false;
  await store.tx(async (tx) => {
    await join(tx, labelId, joining);
    for await (const batch of parts(leaving))
      await tx.labelMembers.delete(and(eq("label_id", labelId), oneOf("host_id", batch)));
    await notifyMembersChanged(tx, [labelId]);
  });
  return true;
}

/** Ids of the members that the caller may see. */
export const memberIds = (ctx: Context, labelId: number): Promise<number[]> =>
  idsOfMembers(ctx, labelId, visible(ctx, "labels:list"));

/** Ids of the members whose labels the caller may change. */
export const changeableMemberIds = (ctx: Context, labelId: number): Promise<number[]> =>
  idsOfMembers(ctx, labelId, changeableHosts(ctx));

async function idsOfMembers({ store }: Context, labelId: number, of: Predicate): Promise<number[]> {
  const hostIds: number[] = [];
  for await (const page of store.labelMembers.pages({ where: membersWhere(labelId, of) }, BATCH_SIZE))
    for (const { host_id } of page) hostIds.push(host_id);
  return hostIds.sort((a, b) => a - b);
}

/** The hosts that have the label, as a predicate. */
export const hasLabel = (labelId: number): Predicate => exists(labelMembers, "host_id", eq("label_id", labelId));
