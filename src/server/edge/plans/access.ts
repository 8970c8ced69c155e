// Who may make, read and apply a plan: whoever may make each of its changes by itself, or read what they are about.
import type { Action } from "../../../api/access.ts";
import type { ThingChange, ThingKey } from "../../../api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import { isRecord } from "../../../text/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { forbidden, forbiddenFor, notFound } from "../../platform/core/errors.ts";
import { may, visible } from "../../platform/core/security/access.ts";
import { and, eq, exists, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { knowsTeam } from "../../settings/teams/access.ts";
import { type RequestedChange, readAll } from "../configuration/changes.ts";
import { configurationKind, kinds } from "../configuration/kinds.ts";
import type { Difference } from "./diff.ts";
import { planScopes } from "./tables.ts";

/** Kinds of which single objects may be changed with the right to write them. All others need the right to apply files. */
const singleKinds: ReadonlySet<string> = new Set(["label", "policy", "query", "configuration_profile", "script"]);

const readActions: Readonly<Record<string, Action>> = {
  label: "labels:list",
  policy: "policies:list",
  query: "queries:list",
  configuration_profile: "profiles:read",
  script: "scripts:read",
  package: "packages:read",
  store_app: "packages:read",
};
const readActionOf = ({ kind }: Pick<ThingKey, "kind">): Action => readActions[kind] ?? "configuration:plan";
const allReadActions: readonly Action[] = [...new Set(kinds.map(({ name }) => readActionOf({ kind: name })))];

/** The team of an object; null: it belongs to the organization, or to hosts without a team. */
const teamNameOf = ({ kind, owner, name }: ThingKey): string | null =>
  kind === "team" ? name : owner === NO_TEAM_NAME ? null : owner;

export async function teamIdsOf(
  { store }: Pick<Context, "store">,
  keys: readonly ThingKey[],
): Promise<ReadonlyMap<string, number>> {
  const names = [...new Set(keys.flatMap((key) => teamNameOf(key) ?? []))];
  const teams = await store.teams.pick(["id", "name"], { where: oneOf("name", names) });
  return new Map(teams.map(({ id, name }) => [name, id]));
}

/** Throws unless the caller may make each of the changes by itself. The errors name the changes. */
export async function checkRights(
  ctx: Context,
  changes: readonly ThingChange[],
  teamIds: ReadonlyMap<string, number>,
): Promise<void> {
  const newTeams = new Set(
    changes.flatMap(({ kind, action, name }) => (kind === "team" && action === "create" ? name : [])),
  );
  const requested = changes.map(
    (change, index): RequestedChange => ({ ...change, index, shape: configurationKind(change) }),
  );
  await readAll(requested, (change) => {
    const team = teamNameOf(change);
    const teamId = team === null ? null : (teamIds.get(team) ?? null);
    if (team !== null && !newTeams.has(team) && (teamId === null || !knowsTeam(ctx, teamId)))
      throw notFound("team", team);
    if (!mayMake(ctx, change, teamId)) throw forbidden();
  });
}

function mayMake({ user }: Context, change: RequestedChange, teamId: number | null): boolean {
  if (!may(user, configurationKind(change).action(change), teamId)) return false;
  return singleKinds.has(change.kind) || may(user, "configuration:apply", teamId);
}

/** The settings of failing-policy automations list policies: only who may change these settings adds one. */
export function checkAutomations(
  { user }: Context,
  differences: readonly Difference[],
  teamIds: ReadonlyMap<string, number>,
): void {
  for (const change of differences.filter(changesAutomation)) {
    const teamId = teamIds.get(teamNameOf(change) ?? "") ?? null;
    if (!may(user, change.owner === null ? "config:write" : "teams:edit", teamId))
      throw forbiddenFor(
        `policy ${JSON.stringify(change.name)}: webhooks_and_tickets_enabled belongs to the settings of automations, which this role may not change`,
      );
  }
}

const AUTOMATION = "webhooks_and_tickets_enabled";

const changesAutomation = ({ kind, action, fields, value }: Difference): boolean =>
  kind === "policy" &&
  (action === "create"
    ? isRecord(value) && value[AUTOMATION] === true
    : fields.some(({ path }) => path === AUTOMATION));

export interface PlanScope {
  readonly action: Action;
  /** 0: all teams, or none. */
  readonly team_id: number;
}

/** What a reader of the plan needs. */
export function scopesOf(keys: readonly ThingKey[], teamIds: ReadonlyMap<string, number>): PlanScope[] {
  const scopes = new Map<string, PlanScope>();
  for (const key of keys) {
    const scope = { action: readActionOf(key), team_id: teamIds.get(teamNameOf(key) ?? "") ?? 0 };
    scopes.set(`${scope.action} ${scope.team_id}`, scope);
  }
  return [...scopes.values()];
}

/** The caller's own plans, and those about nothing that the caller may not read. */
export function readablePlans(ctx: Pick<Context, "user">): Predicate {
  const others = allReadActions.map((action) =>
    not(exists(planScopes, "plan_id", and(eq("action", action), not(visible(ctx, action))))),
  );
  return or(eq("author_id", ctx.user.id), and(...others));
}
