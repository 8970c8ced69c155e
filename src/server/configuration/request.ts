// Parses an apply request: checks each change by itself and groups the parsed changes by kind.

import type { Action } from "../../api/access.ts";
import { NO_TEAM_NAME, type ThingKind } from "../../api/configuration.ts";
import type { Context } from "../core/context.ts";
import { alreadyExists, invalid } from "../core/errors.ts";
import { needPremium } from "../core/http/tier.ts";
import { authorize } from "../core/security/access.ts";
import { type Given, readAll, type Step } from "./changes.ts";
import { type AuthorityWanted, readAuthority, typeAndName } from "./kinds/ca.ts";
import { readSection } from "./kinds/config.ts";
import { readSecrets, type SecretsWanted } from "./kinds/enroll-secrets.ts";
import { type LabelWanted, readLabel } from "./kinds/labels.ts";
import { type PolicyWanted, readPolicy } from "./kinds/policies.ts";
import { type QueryWanted, readQuery } from "./kinds/queries.ts";
import {
  type NoTeamWanted,
  type OptionsWanted,
  readNoTeamSettings,
  readTeam,
  readTeamOptions,
  readTeamSettings,
  type SettingsWanted,
  type TeamWanted,
} from "./kinds/teams.ts";
import { keyOf, type Texts } from "./values.ts";

export interface Request {
  /** Sections, including the global agent options. */
  readonly config: Step<unknown>[];
  readonly authorities: Step<AuthorityWanted>[];
  readonly labels: Step<LabelWanted>[];
  readonly teams: Step<TeamWanted>[];
  readonly teamOptions: Step<OptionsWanted>[];
  readonly teamSettings: Step<SettingsWanted>[];
  readonly noTeamSettings: Step<NoTeamWanted>[];
  readonly secrets: Step<SecretsWanted>[];
  readonly policies: Step<PolicyWanted>[];
  readonly queries: Step<QueryWanted>[];
  /** Deletions, by kind. */
  readonly gone: Readonly<Record<"certificate_authority" | "label" | "team" | "policy" | "query", Given[]>>;
}

/** Kinds of which each scope has exactly one object. It is created and deleted with its scope. */
const single: ReadonlySet<ThingKind> = new Set(["config", "agent_options", "team_settings", "enroll_secrets"]);

/** The possible owners of each kind: nobody (global), a team, or hosts without a team. */
const owners: Record<ThingKind, { readonly global: boolean; readonly team: boolean; readonly noTeam: boolean }> = {
  config: { global: true, team: false, noTeam: false },
  certificate_authority: { global: true, team: false, noTeam: false },
  label: { global: true, team: false, noTeam: false },
  team: { global: true, team: false, noTeam: false },
  agent_options: { global: true, team: true, noTeam: false },
  team_settings: { global: false, team: true, noTeam: true },
  enroll_secrets: { global: true, team: true, noTeam: false },
  policy: { global: true, team: true, noTeam: true },
  query: { global: true, team: true, noTeam: false },
};

export async function readRequest(ctx: Context, changes: readonly Given[], texts: Texts): Promise<Request> {
  const seen = new Set<string>();
  const request: Request = {
    config: [],
    authorities: [],
    labels: [],
    teams: [],
    teamOptions: [],
    teamSettings: [],
    noTeamSettings: [],
    secrets: [],
    policies: [],
    queries: [],
    gone: { certificate_authority: [], label: [], team: [], policy: [], query: [] },
  };
  await readAll(changes, (given) => {
    checkShape(given);
    const key = keyOf(given);
    if (seen.has(key)) throw invalid("base", "is changed twice");
    seen.add(key);
    admit(ctx, given);
    readOne(ctx, request, given, texts);
  });
  return request;
}

function checkShape({ kind, owner, name, action }: Given): void {
  const { global, team, noTeam } = owners[kind];
  const fits = owner === null ? global : owner === NO_TEAM_NAME ? noTeam : team;
  if (!fits) throw invalid("change.owner", `objects of kind ${kind} cannot have this owner`);
  if (single.has(kind)) {
    if (kind !== "config" && name !== kind) throw invalid("change.name", `must be ${kind}`);
    if (action === "create") throw alreadyExists("already exists");
    if (action === "delete") throw invalid("change.action", "cannot be deleted: it goes with its scope");
  }
}

const actionFor = ({ kind, owner, action }: Given): Action => {
  switch (kind) {
    case "config":
      return "config:write";
    case "agent_options":
      return owner === null ? "config:write" : "teams:edit";
    case "certificate_authority":
      return "ca:write";
    case "label":
      return "labels:write_any";
    case "team":
      return action === "create" ? "teams:create" : action === "delete" ? "teams:delete" : "teams:edit";
    case "team_settings":
      return "teams:edit";
    case "enroll_secrets":
      return "enroll_secrets:write";
    case "policy":
      return "policies:write";
    case "query":
      return "queries:write";
  }
};

/** Checks the role for an object of a team whose id is known. */
export const authorizeOn = (ctx: Context, given: Given, teamId: number | null): void =>
  authorize(ctx, actionFor(given), teamId);

/** Checks that need no data from the store: the tier, and the role for objects that belong to no team. */
function admit(ctx: Context, given: Given): void {
  if (given.owner !== null || given.kind === "team") needPremium(ctx);
  const isTeams = given.kind === "team" && given.action === "update";
  if ((given.owner === null && !isTeams) || given.owner === NO_TEAM_NAME) authorizeOn(ctx, given, null);
}

function readOne(ctx: Context, request: Request, given: Given, texts: Texts): void {
  if (given.action === "delete") {
    if (given.kind === "certificate_authority") typeAndName(given.name);
    request.gone[given.kind as keyof Request["gone"]].push(given);
    return;
  }
  switch (given.kind) {
    case "config":
      request.config.push({ ...given, wanted: readSection(given, texts) });
      return;
    case "agent_options":
      if (given.owner === null) request.config.push({ ...given, wanted: readSection(given, texts) });
      else request.teamOptions.push({ ...given, wanted: readTeamOptions(given) });
      return;
    case "certificate_authority":
      request.authorities.push({ ...given, wanted: readAuthority(given, texts) });
      return;
    case "label":
      request.labels.push({ ...given, wanted: readLabel(ctx, given) });
      return;
    case "team":
      request.teams.push({ ...given, wanted: readTeam(given) });
      return;
    case "team_settings":
      if (given.owner === NO_TEAM_NAME) request.noTeamSettings.push({ ...given, wanted: readNoTeamSettings(given) });
      else request.teamSettings.push({ ...given, wanted: readTeamSettings(given) });
      return;
    case "enroll_secrets":
      request.secrets.push({ ...given, wanted: readSecrets(given, texts) });
      return;
    case "policy":
      request.policies.push({ ...given, wanted: readPolicy(ctx, given) });
      return;
    case "query":
      request.queries.push({ ...given, wanted: readQuery(ctx, given) });
  }
}
