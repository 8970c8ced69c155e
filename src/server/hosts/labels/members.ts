// The members of a label, given by the names of hosts: as a whole or one by one.

import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Context } from "../../platform/core/context.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { visible } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, not, oneOf, type Predicate, same } from "../../platform/store/query.ts";
import { ReferenceViolation } from "../../platform/store/store.ts";
import { spellingsOf } from "../hosts/identifier.ts";
import { hosts } from "../hosts/tables.ts";
import { notifyMembersChanged } from "./counts.ts";
import { labelMembers } from "./tables.ts";

/** Memberships per read. Each has four numbers. */
const PAGE = 5000;
const NAMED_BY = ["hardware_serial", "uuid", "hostname"] as const;
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
const own = (ctx: Context): Predicate => visible(ctx, "hosts:label");

/**
 * Ids of the named hosts, among those whose labels the caller may change. Texts are serial numbers, uuids, hostnames
 * or node keys, numbers are ids. Names that match no host are ignored.
 */
export async function hostsNamed(ctx: Context, names: readonly (string | number)[]): Promise<Set<number>> {
  const found = new Set<number>();
  for (const ids of (await hostsByName(ctx, names)).values()) for (const id of ids) found.add(id);
  return found;
}

/** The matching hosts by name. Names that match no host are left out. */
export async function hostsByName(
  ctx: Context,
  names: readonly (string | number)[],
): Promise<Map<string | number, Set<number>>> {
  const { hosts: rows } = ctx.store;
  const found = new Map<string | number, Set<number>>();
  const add = (name: string | number, id: number) => {
    const ids = found.get(name) ?? new Set();
    found.set(name, ids);
    ids.add(id);
  };
  const ids = [...new Set(names.filter((name) => typeof name === "number"))];
  for await (const some of parts(ids))
    for (const { id } of await rows.pick(["id"], { where: and(oneOf("id", some), own(ctx)) })) add(id, id);
  // A blank name would match every host without a serial number.
  const texts = names.filter((name) => typeof name === "string" && name.trim() !== "") as string[];
  const spellings = new Map<string, string[]>();
  for (const text of new Set(texts)) spellings.set(text.trim(), [...(spellings.get(text.trim()) ?? []), text]);
  for await (const some of parts([...spellings.keys()])) {
    for (const column of NAMED_BY)
      for (const row of await rows.pick(["id", column], { where: and(oneOf(column, some), own(ctx)) }))
        for (const text of spellings.get(row[column]) ?? []) add(text, row.id);
    // Case-insensitive, for names that no host has in exactly this spelling.
    const others = new Map<string, string[]>();
    for (const text of some)
      if (!(spellings.get(text) ?? []).some((one) => found.has(one)))
        for (const one of spellingsOf(text)) {
          const folded = one.toLowerCase();
          others.set(folded, [...(others.get(folded) ?? []), ...(spellings.get(text) ?? [])]);
        }
    for (const column of others.size > 0 ? NAMED_BY : [])
      for (const row of await rows.pick(["id", column], { where: and(same(column, ...others.keys()), own(ctx)) }))
        for (const text of others.get(row[column].toLowerCase()) ?? []) add(text, row.id);
    const hashes = new Map(some.filter(isWellFormed).map((text) => [tokenHash(text), text]));
    const where = and(oneOf("node_key_hash", [...hashes.keys()]), own(ctx));
    for (const { id, node_key_hash: hash } of await rows.pick(["id", "node_key_hash"], { where }))
      for (const text of spellings.get(hashes.get(hash ?? "") ?? "") ?? []) add(text, id);
  }
  return found;
}

const isWellFormed = (text: string): boolean => text.isWellFormed();

/** Memberships of the label, limited to the given hosts. */
const membersWhere = (labelId: number, of: Predicate): Predicate =>
  and(eq("label_id", labelId), of.op === "all" ? everything : exists(hosts, "id", of, "host_id"));

/**
 * Replaces the members of the label and returns whether any changed. Hosts whose labels the caller may not change
 * keep theirs.
 */
export async function replaceMembers(ctx: Context, labelId: number, wanted: ReadonlySet<number>): Promise<boolean> {
  const { store } = ctx;
  const before = new Set<number>();
  const leaving: number[] = [];
  for await (const some of store.labelMembers.pages({ where: membersWhere(labelId, own(ctx)) }, PAGE))
    for (const { id, host_id } of some) {
      before.add(host_id);
      if (!wanted.has(host_id)) leaving.push(id);
    }
  for await (const some of parts(leaving)) await store.labelMembers.delete(oneOf("id", some));
  const joining = [...wanted].filter((id) => !before.has(id));
  await join(store, labelId, joining);
  if (leaving.length + joining.length === 0) return false;
  await notifyMembersChanged(store, [labelId]);
  return true;
}

async function join(store: ServerTx, labelId: number, hostIds: readonly number[]): Promise<void> {
  for await (const some of parts(hostIds))
    await store.labelMembers.upsert(
      some.map((host_id) => ({ label_id: labelId, host_id })),
      { on: ["label_id", "host_id"], set: [], returning: [] },
    );
}

/**
 * Makes the matching hosts the members of the label, and writes only the differences. Returns whether there were any.
 */
export async function setMembers(store: ServerTx, labelId: number, where: Predicate): Promise<boolean> {
  const isMember = exists(labelMembers, "host_id", eq("label_id", labelId));
  const joining = (await store.hosts.pick(["id"], { where: and(where, not(isMember)) })).map(({ id }) => id);
  const leaving = (await store.hosts.pick(["id"], { where: and(isMember, not(where)) })).map(({ id }) => id);
  if (joining.length + leaving.length === 0) return false;
  await store.tx(async (tx) => {
    await join(tx, labelId, joining);
    for await (const some of parts(leaving))
      await tx.labelMembers.delete(and(eq("label_id", labelId), oneOf("host_id", some)));
    await notifyMembersChanged(tx, [labelId]);
  });
  return true;
}

/** Ids of the members that the caller may see. */
export async function memberIds(ctx: Context, labelId: number): Promise<number[]> {
  const seen = membersWhere(labelId, visible(ctx, "labels:list"));
  const found: number[] = [];
  for await (const some of ctx.store.labelMembers.pages({ where: seen }, PAGE))
    for (const { host_id } of some) found.push(host_id);
  return found.sort((a, b) => a - b);
}
