// What the policies commands share: whose policies are meant, how one is named, how they are shown, and the flags of their fields.
import * as Flags from "@oclif/core/flags";
import { Policy, policiesApi } from "../api/policies.ts";
import { ClientCommand } from "./client-command.ts";
import { notFound } from "./errors.ts";
import { listOf } from "./flags.ts";
import type { View } from "./output.ts";
import { nearest } from "./suggest.ts";

export const policyView: View = {
  schema: Policy,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "platform" },
    { key: "critical" },
    { key: "passing_host_count", header: "passing" },
    { key: "failing_host_count", header: "failing" },
    { key: "team_id", header: "team", text: (id) => (id === null ? "global" : id === 0 ? "no team" : String(id)) },
  ],
};

export const scopeFlag = {
  team: Flags.string({
    summary: "Team whose policies are meant, by name or id; none: hosts without a team. Without it: global policies.",
    helpValue: "TEAM",
  }),
};

const labelFlag = (summary: string) => Flags.string({ summary, helpValue: "LABEL,LABEL", multiple: true });

export const policyFlags = {
  name: Flags.string({ summary: "Name." }),
  query: Flags.string({ summary: "A host passes that answers this with a row.", helpValue: "SQL" }),
  description: Flags.string({ summary: "What it checks." }),
  resolution: Flags.string({ summary: "What the user of a failing host can do." }),
  platform: Flags.string({ summary: "Only these: darwin, windows, linux, chrome, joined by commas." }),
  critical: Flags.boolean({ summary: "Mark it critical (premium).", allowNo: true }),
  "labels-include-any": labelFlag("Only hosts with any of these labels (premium)."),
  "labels-exclude-any": labelFlag("Only hosts with none of these labels (premium)."),
  "calendar-events-enabled": Flags.boolean({ summary: "Events in calendars of failing hosts' users.", allowNo: true }),
  "conditional-access-enabled": Flags.boolean({ summary: "Failing hosts lose access.", allowNo: true }),
  "software-title-id": Flags.integer({
    summary: "Install this where a host fails; 0 removes it (teams only).",
    min: 0,
  }),
  "script-id": Flags.integer({ summary: "Run this where a host fails; 0 removes it (teams only).", min: 0 }),
};

/** The body fields that the flags give. */
export function policyFields(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const flag of Object.keys(policyFlags)) {
    const value = flags[flag];
    if (value === undefined) continue;
    body[flag.replaceAll("-", "_")] = Array.isArray(value) ? listOf(value) : value;
  }
  return body;
}

export const countOf = (count: number): string => `${count} ${count === 1 ? "policy" : "policies"}`;

/** Global policies, or with an id those of a team; 0 is hosts without one. */
export interface PolicyScope {
  readonly teamId: number | null;
  readonly name: string;
}

export abstract class PoliciesCommand extends ClientCommand {
  protected async scope(team: string | undefined): Promise<PolicyScope> {
    if (team === undefined) return { teamId: null, name: "globally" };
    if (team === "0" || team === "none") return { teamId: 0, name: "for hosts without a team" };
    const { id, name } = await this.team(team);
    return { teamId: id, name: `for team ${name}` };
  }

  protected async policiesIn({ teamId }: PolicyScope): Promise<Policy[]> {
    if (teamId === null) return (await this.call(policiesApi.listGlobal)).policies ?? [];
    return (await this.call(policiesApi.listTeam, { params: { id: teamId } })).policies;
  }

  /** Those of these ids or names; an id wins. */
  protected async policies(texts: readonly string[], scope: PolicyScope): Promise<Policy[]> {
    const known = await this.policiesIn(scope);
    const found = new Map<number, Policy>();
    for (const text of texts) {
      const policy =
        known.find(({ id }) => String(id) === text) ?? known.find(({ name }) => name === text.normalize("NFC").trim());
      if (!policy) throw missing(text, known, scope);
      found.set(policy.id, policy);
    }
    return [...found.values()];
  }

  protected async policy(text: string, scope: PolicyScope): Promise<Policy> {
    return (await this.policies([text], scope))[0]!;
  }

  /** The list as far as --limit and --all go, and a remark when more exist. */
  protected cut<T>(rows: readonly T[]): readonly T[] {
    const { limit, all } = this.common;
    const most = all === true ? Number.POSITIVE_INFINITY : typeof limit === "number" ? limit : 100;
    if (rows.length <= most) return rows;
    this.note(`the first ${most} of ${rows.length} are shown: --limit N or --all`);
    return rows.slice(0, most);
  }
}

function missing(text: string, known: readonly Policy[], { teamId }: PolicyScope) {
  const near = nearest(
    text,
    known.map(({ name }) => name),
  );
  const where =
    teamId === null ? "global policy" : teamId === 0 ? "policy for hosts without a team" : "policy of the team";
  return notFound(
    `there is no ${where} ${text}${near ? `; did you mean ${near}?` : ""}`,
    teamId === null
      ? "`svc policies list` shows them; a team's need --team."
      : "`svc policies list --team TEAM` shows them.",
  );
}
