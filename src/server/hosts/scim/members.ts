// The members of groups: tens of thousands, which are never all in memory at once.
import { channels } from "../../platform/core/channels.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { scimError } from "./errors.ts";
import { announce, hostsOfPeople } from "./links.ts";
import { fullName } from "./people.ts";
import { userIdOf, userLocation } from "./wire.ts";

/** Members per read. */
const BATCH_SIZE = 500;
/** The most people whose hosts are announced one by one. */
const ANNOUNCED_MAX = 2_000;

export interface Member {
  readonly value: string;
  readonly display: string;
  readonly type: "User";
  readonly $ref: string;
}

/** The members in pages, in the order in which they were added. */
export async function* membersOf(store: ServerTx, groupId: number, place: string): AsyncGenerator<Member[]> {
  for await (const page of store.scimMembers.pages({ where: eq("group_id", groupId) }, BATCH_SIZE, ["user_id"])) {
    const users = new Map(
      (await store.scimUsers.getMany(page.map(({ user_id }) => user_id))).map((user) => [user.id, user]),
    );
    yield page.flatMap(({ user_id: id }) => {
      const user = users.get(id);
      if (!user) return [];
      const display = fullName(user) || user.user_name;
      return [{ value: String(id), display, type: "User" as const, $ref: userLocation(place, id) }];
    });
  }
}

/** The ids of the people in the references, each once. */
export function idsOf(references: readonly { readonly value: string; readonly type?: string | undefined }[]): number[] {
  const ids = new Set<number>();
  for (const { value, type } of references) {
    if (type?.toLowerCase() === "group" || value.startsWith("group-"))
      throw scimError("invalidValue", `groups cannot be members of groups: ${value}`);
    const id = userIdOf(value);
    if (id === null) throw scimError("invalidValue", `members: there is no user ${JSON.stringify(value)}`);
    ids.add(id);
  }
  return [...ids];
}

/** Adds people to the group. Throws if one does not exist. Returns whether any is new. */
export async function addMembers(store: ServerTx, groupId: number, ids: readonly number[]): Promise<boolean> {
  const joined: number[] = [];
  for await (const batch of parts(ids)) {
    const existing = new Set((await store.scimUsers.pick(["id"], { where: oneOf("id", batch) })).map(({ id }) => id));
    const unknown = batch.find((id) => !existing.has(id));
    if (unknown !== undefined) throw scimError("invalidValue", `members: there is no user "${unknown}"`);
    const memberships = and(eq("group_id", groupId), oneOf("user_id", batch));
    const before = new Set(
      (await store.scimMembers.pick(["user_id"], { where: memberships })).map(({ user_id }) => user_id),
    );
    const fresh = batch.filter((id) => !before.has(id));
    if (fresh.length === 0) continue;
    await store.scimMembers.insertMany(fresh.map((user_id) => ({ group_id: groupId, user_id })));
    for (const id of fresh) joined.push(id);
  }
  await announcePeople(store, joined);
  return joined.length > 0;
}

export async function removeMembers(store: ServerTx, groupId: number, ids: readonly number[]): Promise<boolean> {
  let removed = 0;
  for await (const batch of parts(ids))
    removed += await store.scimMembers.delete(and(eq("group_id", groupId), oneOf("user_id", batch)));
  if (removed > 0) await announcePeople(store, ids);
  return removed > 0;
}

/** Makes these people the only members. Only the differences are written. */
export async function setMembers(store: ServerTx, groupId: number, ids: readonly number[]): Promise<boolean> {
  const desired = new Set(ids);
  const leaving: number[] = [];
  for await (const page of store.scimMembers.pages({ where: eq("group_id", groupId) }, 5_000, ["user_id"]))
    for (const { user_id } of page) if (!desired.has(user_id)) leaving.push(user_id);
  const removed = await removeMembers(store, groupId, leaving);
  return (await addMembers(store, groupId, ids)) || removed;
}

/** The hosts of these people have other groups now. */
async function announcePeople(store: ServerTx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  if (ids.length > ANNOUNCED_MAX) return announceAll(store);
  await announce(store, await hostsOfPeople(store, ids));
}

export async function announceAll(store: ServerTx): Promise<void> {
  await store.notify(channels.endUsers, "*");
}
