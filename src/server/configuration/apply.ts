// Applies changes of any kind of configuration object in one transaction: all of them or none.
import type { z } from "zod";
import { type configurationApi, NO_TEAM_NAME } from "../../api/configuration.ts";
import { readSections } from "../app-config/rows.ts";
import { allSections } from "../app-config/sections.ts";
import { askTrackers } from "../app-config/service.ts";
import { sameAs } from "../ca/rules.ts";
import { CHANGES as AUTHORITIES_LOCK } from "../ca/service.ts";
import { askSteps, checkSteps } from "../ca/specs.ts";
import { inTurns } from "../core/concurrency/parts.ts";
import { type Context, within } from "../core/context.ts";
import { ApiError, alreadyExists, conflict, invalid, notFound } from "../core/errors.ts";
import type { ServerTx } from "../core/tables.ts";
import { againWithoutGone } from "../labels/members.ts";
import { LABELS_LOCK } from "../labels/write.ts";
import { POLICIES_LOCK } from "../policies/counts.ts";
import { QUERIES_LOCK } from "../queries/service.ts";
import { type Given, locating, refusal } from "./changes.ts";
import { readHeld } from "./held.ts";
import { authorityStep } from "./kinds/ca.ts";
import { givenOf, namingSections, optionsOf } from "./kinds/config.ts";
import { checkPins } from "./pins.ts";
import { authorizeOn, type Request, readRequest } from "./request.ts";
import { thingsOf } from "./state.ts";
import { keyOf, revisionKey, type Texts, type Thing } from "./values.ts";
import type { Work } from "./work.ts";
import { type Asked, removeAuthorities, writeAuthorities } from "./writing/ca.ts";
import { writeConfig } from "./writing/config.ts";
import { writeSecrets } from "./writing/enroll-secrets.ts";
import { removeNamedLabels, writeLabels } from "./writing/labels.ts";
import { writePolicies } from "./writing/policies.ts";
import { writeQueries } from "./writing/queries.ts";
import { removeTeams, writeNoTeamSettings, writeTeamOptions, writeTeamSettings, writeTeams } from "./writing/teams.ts";

type Body = z.output<(typeof configurationApi)["apply"]["body"]>;
type Reply = z.output<(typeof configurationApi)["apply"]["response"]>;

/**
 * The locks of everything that an apply may write. The order is the same wherever several of them are taken: set-up
 * holds "users" and takes "config", a change of integrations holds "config" and takes "enroll_secrets".
 */
const LOCKS = [
  "users",
  "config",
  "enroll_secrets",
  "teams",
  AUTHORITIES_LOCK,
  LABELS_LOCK,
  POLICIES_LOCK,
  QUERIES_LOCK,
] as const;

const locked = <R>(
  store: ServerTx,
  work: (inside: ServerTx) => Promise<R>,
  locks: readonly string[] = LOCKS,
): Promise<R> => {
  const [lock, ...others] = locks;
  return lock === undefined ? work(store) : store.tx((inside) => locked(inside, work, others), { lock });
};

export async function applyConfiguration(ctx: Context, body: Body): Promise<Reply> {
  const texts: Texts = new Map(Object.entries(body.secrets ?? {}));
  const changes = body.changes.map((change, index): Given => ({ ...change, index }));
  const request = await readRequest(ctx, changes, texts);
  const asked = await askOutside(ctx, request, body.skip_checks ?? false);
  const key = await revisionKey(ctx);
  let done: Work | undefined;
  await againWithoutGone(() =>
    locked(ctx.store, async (store) => {
      done = await write(within(ctx, store), { request, changes, texts, asked, pins: body.pins ?? [], key });
    }),
  );
  for (const later of done!.later) later(ctx);
  return { applied: done!.applied, dry_run: ctx.dryRun !== null };
}

/** Checks that need the network run before the transaction. Objects that do not change are not checked. */
async function askOutside(ctx: Context, { config, authorities }: Request, skip: boolean): Promise<Asked> {
  const integrations = config.filter(({ name }) => name === "integrations");
  if (integrations.length > 0 && !skip) {
    const given = givenOf(await readSections(ctx.store, allSections), integrations);
    await askTrackers(ctx, given, optionsOf(integrations)).catch((error: unknown) => {
      throw error instanceof ApiError ? namingSections(error, integrations) : error;
    });
  }
  const asked = new Map<Given, ReturnType<typeof authorityStep>>();
  if (authorities.length === 0) return asked;
  const held = new Map((await ctx.store.certificateAuthorities.list()).map((row) => [`${row.type}/${row.name}`, row]));
  for (const step of authorities)
    await locating(step, async () => {
      const one = authorityStep(held.get(step.name), step.wanted);
      if (one.before && sameAs(one.before, one.wanted)) return;
      await checkSteps(ctx, [one]);
      if (!skip) await askSteps(ctx, [one]);
      asked.set(step, one);
    });
  return asked;
}

interface Asking {
  readonly request: Request;
  readonly changes: readonly Given[];
  readonly texts: Texts;
  readonly asked: Asked;
  readonly pins: NonNullable<Body["pins"]>;
  readonly key: string;
}

async function write(ctx: Context, { request, changes, texts, asked, pins, key }: Asking): Promise<Work> {
  const held = await readHeld(ctx);
  const current = new Map<string, Thing>();
  for await (const thing of inTurns(thingsOf(held))) current.set(keyOf(thing), thing);
  const work: Work = {
    ctx,
    held,
    current,
    texts,
    teams: new Map(held.teams.map((team) => [team.name, team])),
    leaving: new Set(request.gone.team.map(({ name }) => name)),
    applied: { create: 0, update: 0, delete: 0 },
    later: [],
  };
  await checkPins(pins, work.current, key);
  const made = new Set(request.teams.filter(({ action }) => action === "create").map(({ name }) => name));
  for await (const given of inTurns(changes)) checkPlace(work, given, made);

  // The order matters: teams use the organization's integrations, policies and queries use labels.
  await writeConfig(work, request.config);
  await writeAuthorities(work, request.authorities, asked);
  await writeLabels(work, request.labels);
  await writeTeams(work, request.teams);
  await writeTeamOptions(work, request.teamOptions);
  await writeTeamSettings(work, request.teamSettings);
  await writeNoTeamSettings(work, request.noTeamSettings);
  await writeSecrets(work, request.secrets);
  const labels = new Map((await ctx.store.labels.pick(["id", "name"])).map((label) => [label.name, label]));
  await writePolicies(work, request.policies, request.gone.policy, labels);
  await writeQueries(work, request.queries, request.gone.query, labels);
  await removeTeams(work, request.gone.team);
  await removeNamedLabels(work, request.gone.label);
  await removeAuthorities(work, request.gone.certificate_authority);
  return work;
}

/** Checks that the object exists (or not) as the change expects, and that the caller may change it there. */
function checkPlace({ ctx, current, teams, leaving }: Work, given: Given, made: ReadonlySet<string>): void {
  const { kind, owner, name, action } = given;
  const teamName = kind === "team" ? name : owner === NO_TEAM_NAME ? null : owner;
  const team = teamName === null ? undefined : teams.get(teamName);
  if (owner !== null && owner !== NO_TEAM_NAME) {
    // For team users, another team is answered like a missing one.
    if (!team && !made.has(owner)) throw refusal(given, notFound("team", owner));
    if (leaving.has(owner) && action !== "delete")
      throw refusal(given, invalid("base", "its team is deleted by this request"));
  }
  if (team && (kind === "team" || owner !== null))
    try {
      authorizeOn(ctx, given, team.id);
    } catch (error) {
      throw error instanceof ApiError ? refusal(given, error) : error;
    }
  const isThere = current.has(keyOf(given));
  if (action === "create" && isThere) throw refusal(given, alreadyExists("already exists"));
  // Objects of which each scope has exactly one are created together with their team.
  const comes = owner !== null && made.has(owner) && kind !== "policy" && kind !== "query";
  if (action !== "create" && !isThere && !comes) throw refusal(given, conflict("does not exist (any more)"));
}
