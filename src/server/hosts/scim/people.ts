// What is known of the people who use hosts.
import { byId, groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, exists, oneOf, type Predicate } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { hostEndUsers, scimGroups, scimMembers, scimUsers } from "./tables.ts";

/** The maximum number of groups that are shown of a person. */
const GROUPS_MAX = 1_000;

export interface Person {
  readonly updated_at: string;
  readonly external_id: string;
  readonly user_name: string;
  readonly full_name: string;
  readonly department: string;
  /** In alphabetical order. */
  readonly groups: readonly string[];
}

export const fullName = (user: RowOf<typeof scimUsers>): string =>
  user.display_name || [user.given_name, user.family_name].filter(Boolean).join(" ") || user.formatted_name;

/** The person of each host that has one. */
export async function peopleOfHosts(
  store: Pick<ServerTx, "hostEndUsers" | "scimUsers" | "scimMembers" | "scimGroups">,
  hostIds: readonly number[],
): Promise<ReadonlyMap<number, Person>> {
  const links = await store.hostEndUsers.getMany(hostIds);
  if (links.length === 0) return new Map();
  const userIds = [...new Set(links.map(({ user_id }) => user_id))];
  const [users, groups] = await Promise.all([store.scimUsers.getMany(userIds), groupsOfUsers(store, userIds)]);
  const people = new Map(
    users.map((user) => [
      user.id,
      {
        updated_at: user.updated_at,
        external_id: user.external_id ?? "",
        user_name: user.user_name,
        full_name: fullName(user),
        department: user.department,
        groups: (groups.get(user.id) ?? []).map(({ display_name }) => display_name),
      },
    ]),
  );
  return new Map(
    links.flatMap(({ id, user_id }) => {
      const person = people.get(user_id);
      return person ? [[id, person] as const] : [];
    }),
  );
}

/** The groups of each of the people, by name. */
export async function groupsOfUsers(
  store: Pick<ServerTx, "scimMembers" | "scimGroups">,
  userIds: readonly number[],
): Promise<Map<number, Pick<RowOf<typeof scimGroups>, "id" | "display_name">[]>> {
  const members = await store.scimMembers.pick(["user_id", "group_id"], {
    where: oneOf("user_id", userIds),
    limit: GROUPS_MAX * userIds.length,
  });
  const groupIds = [...new Set(members.map(({ group_id }) => group_id))];
  const groups = byId(await store.scimGroups.pick(["id", "display_name"], { where: oneOf("id", groupIds) }));
  return new Map(
    [...groupBy(members, ({ user_id }) => user_id)].map(([userId, memberships]) => [
      userId,
      memberships
        .flatMap(({ group_id }) => groups.get(group_id) ?? [])
        .sort((a, b) => compareText(a.display_name, b.display_name))
        .slice(0, GROUPS_MAX),
    ]),
  );
}

const usedBy = (where: Predicate): Predicate => exists(hostEndUsers, "id", where);

/** Hosts whose person is in the group of that name. */
export const hostsOfGroup = (name: string): Predicate =>
  usedBy(exists(scimMembers, "user_id", exists(scimGroups, "id", eq("display_name", name), "group_id"), "user_id"));

/** Hosts whose person is in the department. */
export const hostsOfDepartment = (name: string): Predicate =>
  usedBy(exists(scimUsers, "id", eq("department", name), "user_id"));
