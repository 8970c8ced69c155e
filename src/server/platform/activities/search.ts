// What activities are found by besides their covered columns: the teams that they concern, and the text in their details.
// Both are derived from what the hash covers, and from the teams of hosts at the time.
import { isRecord } from "../../../text/record.ts";

/** Characters of an entry's details that are searched. */
const TEXT_MAX = 2_000;

/** Stands for hosts without a team. */
export const NO_TEAM = 0;

/** Types whose `team_id` of null stands for everyone, or the whole server. In others it stands for no team. */
const everywhereTypes: ReadonlySet<string> = new Set([
  "created_view",
  "edited_view",
  "deleted_view",
  "edited_agent_options",
  "edited_enroll_secrets",
  "enabled_activity_automations",
  "edited_activity_automations",
  "disabled_activity_automations",
  "unsubscribed_from_policy_mails",
]);

interface Entry {
  readonly type: string;
  readonly details: object | null;
}

/** The teams that the details name. */
export function teamsIn({ type, details }: Entry): number[] {
  if (!isRecord(details)) return [];
  const { team_id, teams } = details;
  const several = Array.isArray(teams) ? teams.map((team) => (isRecord(team) ? team.id : null)) : [];
  const ids = [...several, team_id === null && !everywhereTypes.has(type) ? NO_TEAM : team_id];
  return ids.filter((id): id is number => typeof id === "number" && id >= NO_TEAM);
}

/** The host that the entry is about, if it is one. */
export function hostIn({ details }: Pick<Entry, "details">): number | null {
  const id = isRecord(details) ? details.host_id : null;
  return typeof id === "number" ? id : null;
}

/** What an entry is found by, with the teams of its hosts. */
export function searchColumns(
  entry: Entry,
  hostTeams: Iterable<number>,
): { readonly team_ids: number[]; readonly details_text: string } {
  const teams = new Set([...teamsIn(entry), ...hostTeams]);
  return { team_ids: [...teams].sort((a, b) => a - b), details_text: textIn(entry.details) };
}

/** The texts and numbers in the details, without the names of fields. */
export function textIn(details: object | null): string {
  const texts: string[] = [];
  const numbers: number[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "number") numbers.push(value);
    else if (Array.isArray(value)) value.forEach(walk);
    else if (isRecord(value)) Object.values(value).forEach(walk);
  };
  walk(details);
  // Lists of thousands of ids leave room for names.
  return cut([...texts, ...numbers].filter((part) => part !== "").join("\n"));
}

/** Not between the halves of a character. */
const cut = (text: string): string => text.slice(0, TEXT_MAX).replace(/[\ud800-\udbff]$/, "");
