import { usersApi } from "../../../../api/accounts/users.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, request } from "../../../api.ts";
import { typeInWords } from "../../../parts/activities/pieces.ts";
import { sentences } from "../../../parts/activities/sentences.ts";
import type { Filter, FilterOption } from "../../../parts/list/definition.ts";
import { isPremium, maySomewhere, session } from "../../../session.ts";

const MAX_FOUND = 20;

export const activityFilters = (): readonly Filter[] => [
  { name: "activity_type", label: "Type", find: { options: typesWith, nameOf: async (type) => typeInWords(type) } },
  actorFilter(),
  { name: "host_id", label: "Host", find: { options: hostsWith, nameOf: hostName } },
  ...(isPremium() ? [{ name: "team_id", label: "Team", options: teamOptions() }] : []),
  { name: "details", label: "Text in details" },
  { name: "start_created_at", label: "After", isDay: true },
  { name: "end_created_at", label: "Before", isDay: true },
];

/** Who may not list users types the id. */
const actorFilter = (): Filter =>
  maySomewhere("users:list")
    ? { name: "actor_id", label: "User", find: { options: usersWith, nameOf: userName } }
    : { name: "actor_id", label: "User (id)" };

const teamOptions = (): FilterOption[] => [
  ...session.data.available_teams
    .filter(({ id }) => id > 0)
    .map(({ id, name }) => ({ value: String(id), label: name })),
  { value: "0", label: "No team" },
];

/** Types with these words, and the text itself, as types without a sentence are not listed. */
async function typesWith(text: string): Promise<readonly FilterOption[]> {
  const words = text.toLowerCase();
  const types = Object.keys(sentences).filter((type) => type.includes(words) || typeInWords(type).includes(words));
  const typed = /^\w+$/.test(text) && !types.includes(words) ? [words] : [];
  return [...types.sort(), ...typed].map((type) => ({ value: type, label: typeInWords(type) }));
}

async function usersWith(text: string): Promise<readonly FilterOption[]> {
  const query = { per_page: MAX_FOUND, ...(text === "" ? {} : { query: text }) };
  const { users } = await request(() => client.call(usersApi.list, { query }));
  return users.map(({ id, name, email }) => ({ value: String(id), label: `${name} (${email})` }));
}

async function userName(id: string): Promise<string> {
  const { user } = await request(() => client.call(usersApi.get, { params: { id } }));
  return user.name;
}

async function hostsWith(text: string): Promise<readonly FilterOption[]> {
  const query = { per_page: MAX_FOUND, fields: "display_name", ...(text === "" ? {} : { query: text }) };
  const { hosts } = await request(() => client.call(hostsApi.list, { query }));
  return hosts.map(({ id, display_name }) => ({ value: String(id), label: display_name }));
}

async function hostName(id: string): Promise<string> {
  const { host } = await request(() => client.call(hostsApi.get, { params: { id } }));
  return host.display_name;
}
