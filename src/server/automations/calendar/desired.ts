// Finds the calendars that get an event: those of users of hosts that fail a policy of their team for which the team
// wants events.
import type { Integrations } from "../../../api/settings/app-config.ts";
import type { PolicyRow } from "../../checks/policies/applies.ts";
import { policiesOfHosts } from "../../checks/policies/results.ts";
import { hostPolicies } from "../../checks/policies/tables.ts";
import { emailSources } from "../../hosts/hosts/emails.ts";
import type { hosts } from "../../hosts/hosts/tables.ts";
import type { Services } from "../../platform/core/context.ts";
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, exists, has, oneOf, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";

export type CalendarEntry = Integrations["calendar"][number];

/** The calendar integrations by their domain, in lower case. */
export type Calendars = ReadonlyMap<string, CalendarEntry>;

export async function calendarsOf({ config }: Pick<Services, "config">): Promise<Calendars> {
  const { integrations } = await config.current();
  return new Map(integrations.calendar.map((entry) => [entry.domain.toLowerCase(), entry]));
}

export const domainOf = (email: string): string => email.slice(email.lastIndexOf("@") + 1).toLowerCase();

export interface WantingTeam {
  readonly id: number;
  readonly webhookUrl: string;
  readonly policies: readonly PolicyRow[];
}

/** The teams that want events, with the policies that they want them for. */
export async function wantingTeams(store: ServerTx): Promise<Map<number, WantingTeam>> {
  const teams = await store.teams.pick(["id", "settings"]);
  const on = teams.filter(({ settings }) => settings.integrations?.calendar.enable_calendar_events);
  const ids = on.map(({ id }) => id);
  const withEvents = and(oneOf("team_id", ids), eq("calendar_events_enabled", true));
  const rows = ids.length === 0 ? [] : await store.policies.list({ where: withEvents });
  const policies = groupBy(rows, ({ team_id }) => team_id!);
  return new Map(
    on.flatMap(({ id, settings }) => {
      const teamPolicies = policies.get(id);
      const webhookUrl = settings.integrations!.calendar.webhook_url;
      return teamPolicies ? [[id, { id, webhookUrl, policies: teamPolicies }] as const] : [];
    }),
  );
}

/** Hosts of the team that may need an event. */
export const failingIn = ({ id, policies }: WantingTeam): Predicate =>
  and(eq("team_id", id), exists(hostPolicies, "id", has("failing", ...policies.map(({ result_id }) => result_id))));

export interface DesiredEvent {
  readonly email: string;
  readonly entry: CalendarEntry;
  readonly team: WantingTeam;
  /** The policies that the host fails. */
  readonly policies: readonly PolicyRow[];
}

type HostRow = RowOf<typeof hosts>;

/** The event that each of the hosts needs; hosts that need none are left out. */
export async function desiredEvents(
  store: ServerTx,
  teams: ReadonlyMap<number, WantingTeam>,
  calendars: Calendars,
  rows: readonly HostRow[],
): Promise<Map<number, DesiredEvent>> {
  const members = rows.filter(({ team_id }) => team_id !== null && teams.has(team_id));
  const events = new Map<number, DesiredEvent>();
  if (members.length === 0 || calendars.size === 0) return events;
  const emails = await emailsOf(store, members, calendars);
  const results = await policiesOfHosts({ store }, members);
  for (const { id, team_id } of members) {
    const email = emails.get(id);
    const team = teams.get(team_id!)!;
    const failing = new Set(
      (results.get(id) ?? []).filter(({ response }) => response === "fail").map((policy) => policy.id),
    );
    const policies = team.policies.filter((policy) => failing.has(policy.id));
    if (email !== undefined && policies.length > 0)
      events.set(id, { email, entry: calendars.get(domainOf(email))!, team, policies });
  }
  return events;
}

const rank = (source: string): number => emailSources.indexOf(source);

async function emailsOf(
  store: ServerTx,
  hosts: readonly HostRow[],
  calendars: Calendars,
): Promise<Map<number, string>> {
  const rows = await store.hostEmails.pick(["host_id", "email", "source"], {
    where: oneOf(
      "host_id",
      hosts.map(({ id }) => id),
    ),
  });
  const emails = new Map<number, string>();
  for (const [hostId, addresses] of groupBy(
    rows.filter(({ email }) => calendars.has(domainOf(email))),
    ({ host_id }) => host_id,
  )) {
    const [best] = addresses.sort((a, b) => rank(a.source) - rank(b.source) || (a.email < b.email ? -1 : 1));
    if (best) emails.set(hostId, best.email.toLowerCase());
  }
  return emails;
}
