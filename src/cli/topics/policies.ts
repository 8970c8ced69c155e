// Shared by the policies commands: scope, lookup by name, columns, and the flags of the fields.

import * as Flags from "@oclif/core/flags";
import { Policy, patchFields, policiesApi, policyFields } from "../../api/checks/policies.ts";
import { nearest } from "../../text/nearest.ts";
import type { ClientCommand } from "../client-command.ts";
import { notFound } from "../errors.ts";
import { isNoTeam, listOf } from "../flags.ts";
import type { View } from "../output/output.ts";
import type { Column } from "../output/table.ts";
import { plainFlags } from "../plain-flags.ts";

const count = (key: string, header: string, code: number, colour: Colour): Column => ({
  key,
  header,
  paint: (text, value) => (Number(value) > 0 ? colour(code, text) : text),
});
type Colour = (code: number, text: string) => string;

/** Columns for policies of one scope; `team` is the name of their team. */
const policyView = ({ team }: Pick<PolicyScope, "team">, colour: Colour): View => ({
  schema: () => Policy,
  columns: [
    { key: "id" },
    { key: "name", least: 20 },
    { key: "platform", spare: 2 },
    { key: "critical", spare: 3 },
    { key: "passing_host_count", header: "passing" },
    count("failing_host_count", "failing", 31, colour),
    count("unanswered_host_count", "not answered", 33, colour),
    { key: "team_id", header: "team", spare: 1, text: (id) => teamOf(id, team) },
  ],
});

const teamOf = (id: unknown, team: string | null): string =>
  id === null ? "global" : id === 0 ? "no team" : (team ?? String(id));

export const scopeFlag = {
  team: Flags.string({
    summary: "Policies of this team, by name or id; none: hosts without a team. Default: global policies.",
    helpValue: "TEAM",
  }),
};

const labelFlag = (summary: string) => Flags.string({ summary, helpValue: "LABEL,LABEL", multiple: true });

export const policyFlags = {
  name: Flags.string({ summary: "Name." }),
  query: Flags.string({ summary: "A host passes if the query returns at least one row.", helpValue: "SQL" }),
  platform: Flags.string({ summary: "Only on these platforms, separated by commas: darwin, windows, linux, chrome." }),
  ...plainFlags(policyFields),
  "labels-include-any": labelFlag("Only hosts with any of these labels (premium)."),
  "labels-include-all": labelFlag("Only hosts with all of these labels (premium)."),
  "labels-exclude-any": labelFlag("Only hosts with none of these labels (premium)."),
  "software-title-id": Flags.integer({
    summary: "Software to install on failing hosts; 0 removes it (teams only).",
    min: 0,
  }),
  "script-id": Flags.integer({ summary: "Script to run on failing hosts; 0 removes it (teams only).", min: 0 }),
  "resend-profile-uuid": Flags.string({
    summary: "Configuration profile that failing hosts get again; an empty text removes it (teams only).",
    helpValue: "UUID",
  }),
  "svc-maintained-app-slug": Flags.string({
    summary: "With --type patch: a maintained app that the team offers.",
    helpValue: "SLUG",
  }),
  "install-software": Flags.boolean({ summary: "With --type patch: install the app on failing hosts.", allowNo: true }),
  ...plainFlags(patchFields),
};

/** The body fields from the flags. */
export function policyBody(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const flag of Object.keys(policyFlags)) {
    const value = flags[flag];
    if (value === undefined) continue;
    body[flag.replaceAll("-", "_")] = Array.isArray(value) ? listOf(value) : value;
  }
  return body;
}

export const countOf = (count: number): string => `${count} ${count === 1 ? "policy" : "policies"}`;

/** Global policies (null), the policies of a team, or with id 0 those for hosts without a team. */
export interface PolicyScope {
  readonly teamId: number | null;
  /** The team's name; null if the scope is not a team. */
  readonly team: string | null;
  readonly name: string;
}

export async function policyScope(command: ClientCommand, team: string | undefined): Promise<PolicyScope> {
  if (team === undefined) return { teamId: null, team: null, name: "globally" };
  if (isNoTeam(team)) return { teamId: 0, team: null, name: "for hosts without a team" };
  const { id, name } = await command.team(team);
  return { teamId: id, team: name, name: `for team ${name}` };
}

/** The columns for policies of the scope. */
export function policyViewOf(command: ClientCommand, scope: PolicyScope): View {
  return policyView(scope, (code, text) => command.paint(code, text, "stdout"));
}

export async function policiesIn(command: ClientCommand, { teamId }: Pick<PolicyScope, "teamId">): Promise<Policy[]> {
  if (teamId === null) return (await command.call(policiesApi.listGlobal)).policies ?? [];
  return (await command.call(policiesApi.listTeam, { params: { id: teamId } })).policies;
}

/** Finds policies by id or name; an id takes precedence. */
export async function findPolicies(
  command: ClientCommand,
  texts: readonly string[],
  scope: PolicyScope,
): Promise<Policy[]> {
  const policies = await policiesIn(command, scope);
  const chosen = new Map<number, Policy>();
  for (const text of texts) {
    const policy =
      policies.find(({ id }) => String(id) === text) ??
      policies.find(({ name }) => name === text.normalize("NFC").trim());
    if (!policy) throw missing(text, policies, scope);
    chosen.set(policy.id, policy);
  }
  return [...chosen.values()];
}

export async function findPolicy(command: ClientCommand, text: string, scope: PolicyScope): Promise<Policy> {
  return (await findPolicies(command, [text], scope))[0]!;
}

/** The rows up to --limit or --all, with a message if more exist. */
export function cutToLimit<T>(command: ClientCommand, rows: readonly T[]): readonly T[] {
  const { limit, all } = command.common;
  const most = all === true ? Number.POSITIVE_INFINITY : typeof limit === "number" ? limit : 100;
  if (rows.length <= most) return rows;
  command.note(`only the first ${most} of ${rows.length} are shown; use --limit N or --all for more`);
  return rows.slice(0, most);
}

function missing(text: string, policies: readonly Policy[], { teamId }: PolicyScope) {
  const near = nearest(
    text,
    policies.map(({ name }) => name),
  );
  const where =
    teamId === null ? "global policy" : teamId === 0 ? "policy for hosts without a team" : "policy of the team";
  return notFound(
    `there is no ${where} ${text}${near ? `; did you mean ${near}?` : ""}`,
    teamId === null
      ? "`svc policies list` shows them. For a team's policies, add --team."
      : "`svc policies list --team TEAM` shows them.",
  );
}
