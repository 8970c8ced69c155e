// People and groups that are read from the organization's directory (directory/sync-job.ts). Rows with a `directory_id` are
// the directory's; what the identity provider has sent is never changed here.
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, isNull, not, oneOf } from "../../platform/store/query.ts";
import { hostsOfPeople, relink } from "./links.ts";
import { announceAll, setMembers } from "./members.ts";
import { type Columns, isChanged, keepLogins } from "./users.ts";
import type { UserRow } from "./wire.ts";

interface DirectoryPerson {
  readonly id: string;
  readonly userPrincipalName: string;
  readonly displayName: string;
  readonly givenName: string;
  readonly surname: string;
  readonly mail: string;
  readonly department: string;
  readonly accountEnabled: boolean;
}

interface DirectoryGroup {
  readonly id: string;
  readonly displayName: string;
}

const isOfDirectory = not(isNull("directory_id"));
/** The unique name of a row whose name another object of the directory has now, until its own turn comes. */
const aside = (directoryId: string): string => `directory:${directoryId.toLowerCase()}`;

const columnsOf = (person: DirectoryPerson): Columns => ({
  external_id: null,
  user_name: person.userPrincipalName,
  user_name_key: person.userPrincipalName.toLowerCase(),
  formatted_name: "",
  given_name: person.givenName,
  family_name: person.surname,
  display_name: person.displayName,
  department: person.department,
  active: person.accountEnabled,
  emails: person.mail === "" ? [] : [{ value: person.mail, type: "work", primary: true }],
});

/** Writes a page of people. Returns the id of each one's row: its own, or that of the identity provider. */
export async function keepPeople(
  tx: ServerTx,
  page: readonly DirectoryPerson[],
  now: string,
): Promise<ReadonlyMap<string, number>> {
  const byId = new Map(page.map((person) => [person.id, person]));
  const people = new Map([...byId.values()].map((person) => [person.userPrincipalName.toLowerCase(), person]));
  const ids = [...people.values()].map(({ id }) => id);
  const stored = new Map(
    (await tx.scimUsers.list({ where: oneOf("directory_id", ids) })).map((x) => [x.directory_id, x]),
  );
  const holders = await tx.scimUsers.list({ where: oneOf("user_name_key", [...people.keys()]) });
  const isOther = (row: UserRow) => row.directory_id !== people.get(row.user_name_key)?.id;
  const { provider = [], directory = [] } = Object.fromEntries(
    groupBy(holders.filter(isOther), ({ directory_id }) => (directory_id === null ? "provider" : "directory")),
  );
  const providersId = new Map(provider.map(({ user_name_key, id }) => [user_name_key, id]));

  const superseded: number[] = [];
  const added: DirectoryPerson[] = [];
  const moved = directory.map((row) => ({ ...row, user_name: aside(row.directory_id!) }));
  const isMoved = new Set(moved.map(({ id }) => id));
  const changed: (Columns & { id: number })[] = [];
  const personIds = new Map<string, number>();
  for (const [key, person] of people) {
    const row = stored.get(person.id);
    const rowOfProvider = providersId.get(key);
    if (rowOfProvider !== undefined && row) superseded.push(row.id);
    if (rowOfProvider === undefined && !row) added.push(person);
    const id = rowOfProvider ?? row?.id;
    if (id !== undefined) personIds.set(person.id, id);
    if (rowOfProvider !== undefined || !row) continue;
    const columns = columnsOf(person);
    if (isMoved.has(row.id) || isChanged(row, columns)) changed.push({ id: row.id, ...columns });
  }
  await removePeople(tx, superseded);
  const set = moved.map(({ id, user_name }) => ({ id, user_name, user_name_key: user_name, updated_at: now }));
  if (set.length > 0) await tx.scimUsers.updateEach(set);
  if (changed.length > 0) await tx.scimUsers.updateEach(changed.map((row) => ({ ...row, updated_at: now })));
  const inserted = await tx.scimUsers.insertMany(
    added.map((person) => ({ ...columnsOf(person), directory_id: person.id, created_at: now, updated_at: now })),
  );
  for (const row of inserted) personIds.set(row.directory_id!, row.id);
  const isNamed = new Set(changed.map(({ id }) => id));
  const leftAside = moved.filter(({ id }) => !isNamed.has(id) && !superseded.includes(id));
  const rows = [
    ...leftAside.map((row) => ({ ...row, user_name_key: row.user_name, emails: [] })),
    ...changed,
    ...inserted,
  ];
  if (rows.length > 0) await keepLogins(tx, rows);
  return personIds;
}

/** The rows of people that the directory does not list any more. */
export async function stalePeople(store: ServerTx, listed: ReadonlyMap<string, number>): Promise<number[]> {
  const ids: number[] = [];
  for await (const page of store.scimUsers.pages({ where: isOfDirectory }, 1_000, ["id", "directory_id"]))
    for (const { id, directory_id } of page) if (!listed.has(directory_id!)) ids.push(id);
  return ids;
}

/** Removes those of the rows that are still the directory's. */
export async function removePeople(tx: ServerTx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const where = and(oneOf("id", ids), isOfDirectory);
  const gone = (await tx.scimUsers.pick(["id"], { where })).map(({ id }) => id);
  const hosts = await hostsOfPeople(tx, gone);
  await tx.scimUsers.delete(where);
  // Another person may have the same address.
  await relink(tx, hosts);
}

/** Writes a group with its members, unless the identity provider has one of that name. */
export async function keepGroup(
  tx: ServerTx,
  group: DirectoryGroup,
  userIds: readonly number[],
  now: string,
): Promise<void> {
  const columns = { display_name: group.displayName, display_name_key: group.displayName.toLowerCase() };
  const stored = await tx.scimGroups.first({ where: eq("directory_id", group.id) });
  const holder = await tx.scimGroups.first({ where: eq("display_name_key", columns.display_name_key) });
  if (holder !== null && holder.directory_id === null) {
    if (stored) await removeGroups(tx, [stored.id]);
    return;
  }
  if (holder !== null && holder.id !== stored?.id) {
    const name = aside(holder.directory_id!);
    const set = { display_name: name, display_name_key: name, updated_at: now };
    await tx.scimGroups.update({ where: eq("id", holder.id), set });
  }
  const row =
    stored ?? (await tx.scimGroups.insert({ ...columns, directory_id: group.id, created_at: now, updated_at: now }));
  if (row.display_name !== columns.display_name) {
    await tx.scimGroups.update({ where: eq("id", row.id), set: { ...columns, updated_at: now } });
    await announceAll(tx);
  }
  await setMembers(tx, row.id, await existing(tx, userIds));
}

/** The people that exist; the identity provider may have deleted some while the directory was read. */
async function existing(tx: ServerTx, userIds: readonly number[]): Promise<number[]> {
  const ids: number[] = [];
  for (let at = 0; at < userIds.length; at += 1_000) {
    const where = oneOf("id", userIds.slice(at, at + 1_000));
    for (const { id } of await tx.scimUsers.pick(["id"], { where })) ids.push(id);
  }
  return ids;
}

/** The rows of groups that the directory does not list any more. */
export async function staleGroups(store: ServerTx, listed: ReadonlySet<string>): Promise<number[]> {
  const ids: number[] = [];
  for await (const page of store.scimGroups.pages({ where: isOfDirectory }, 1_000, ["id", "directory_id"]))
    for (const { id, directory_id } of page) if (!listed.has(directory_id!)) ids.push(id);
  return ids;
}

/** Removes those of the rows that are still the directory's. */
export async function removeGroups(tx: ServerTx, ids: readonly number[]): Promise<void> {
  if ((await tx.scimGroups.delete(and(oneOf("id", ids), isOfDirectory))) > 0) await announceAll(tx);
}
