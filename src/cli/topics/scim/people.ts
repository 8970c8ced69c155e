// People and groups of the identity provider: their lists, and how commands find them.

import { ScimGroup, ScimUser, scimApi } from "../../../api/hosts/scim.ts";
import type { ClientCommand } from "../../client-command.ts";
import { notFound } from "../../errors.ts";
import { args } from "../../flags.ts";
import type { View } from "../../output/output.ts";

export const personArg = args.required("id or user name of the person");
export const personGroupArg = args.required("id or name of the group");

export const personView: View = {
  schema: () => ScimUser,
  columns: [
    { key: "id" },
    { key: "userName", header: "user name" },
    { key: "displayName", header: "name" },
    { key: "active" },
    { key: "externalId", header: "external id" },
  ],
};
export const personGroupView: View = {
  schema: () => ScimGroup,
  columns: [{ key: "id" }, { key: "displayName", header: "name" }, { key: "externalId", header: "external id" }],
};

/** People that the server returns at once. */
const BATCH_SIZE = 100;
const DEFAULT_LIMIT = 100;

/** The rows of a list up to --limit or --all, with a message if more exist. */
export async function* scimResources(command: ClientCommand, what: "users" | "groups", filter: string | undefined) {
  const { limit, all } = command.common;
  const most = all === true ? Number.POSITIVE_INFINITY : typeof limit === "number" ? limit : DEFAULT_LIMIT;
  const query = { ...(filter === undefined ? {} : { filter }) };
  for (let sent = 0; sent < most; ) {
    const page = { ...query, startIndex: sent + 1, count: Math.min(BATCH_SIZE, most - sent) };
    const reply =
      what === "users"
        ? await command.call(scimApi.users, { query: page })
        : await command.call(scimApi.groups, { query: { ...page, excludedAttributes: "members" } });
    yield reply.Resources as readonly (ScimUser | ScimGroup)[];
    sent += reply.Resources.length;
    if (reply.Resources.length === 0 || sent >= reply.totalResults) return;
    if (sent >= most)
      command.remarkOfList(
        `only the first ${sent} of ${reply.totalResults} are shown; use --limit N or --all for more`,
      );
  }
}

/** By user name or id. */
export async function findPerson(command: ClientCommand, text: string): Promise<ScimUser> {
  const query = { filter: `userName eq ${JSON.stringify(text)}`, count: 1 };
  const [person] = (await command.call(scimApi.users, { query })).Resources;
  if (person) return person;
  if (/^\d+$/.test(text)) return command.call(scimApi.user, { params: { id: text } });
  throw notFound(`there is no person ${text}`, "`svc scim users list` shows them.");
}

/** By name or id, without its members. */
export async function findPersonGroup(command: ClientCommand, text: string): Promise<ScimGroup> {
  const query = { filter: `displayName eq ${JSON.stringify(text)}`, count: 1, excludedAttributes: "members" };
  const [group] = (await command.call(scimApi.groups, { query })).Resources;
  if (group) return group;
  if (/^(group-)?\d+$/.test(text))
    return command.call(scimApi.group, { params: { id: text }, query: { excludedAttributes: "members" } });
  throw notFound(`there is no group ${text}`, "`svc scim groups list` shows them.");
}

/** References to people by user name or id. */
export async function peopleReferences(
  command: ClientCommand,
  people: readonly string[],
): Promise<{ value: string }[]> {
  const members: { value: string }[] = [];
  for (const text of people) members.push({ value: (await findPerson(command, text)).id });
  return members;
}
