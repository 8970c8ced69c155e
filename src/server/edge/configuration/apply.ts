// Applies changes of any kind of configuration object in one transaction: all of them or none.

import type { z } from "zod";
import type { configurationApi } from "../../../api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import type { SecretVariable } from "../../../api/settings/variables.ts";
import { againWithoutGone } from "../../hosts/labels/members.ts";
import { inTurns } from "../../platform/core/concurrency/parts.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { ApiError, alreadyExists, hasChanged, invalid, notFound } from "../../platform/core/errors.ts";
import { authorize } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import type { LockName } from "../../platform/store/locks.ts";
import { setVariables } from "../../settings/variables/secrets.ts";
import { type RequestedChange, refusal } from "./changes.ts";
import { resolveFiles } from "./files.ts";
import type { Kind, Part } from "./kind.ts";
import { configurationKind, kinds, locks } from "./kinds.ts";
import { checkPins } from "./pins.ts";
import { asWriter, mayApply } from "./planner.ts";
import { authorizeOn, checkKinds, contentsIn, type Request, readRequest } from "./request.ts";
import { readAllRows, thingsOf } from "./state.ts";
import { keyOf, revisionKey, type Texts, type Thing } from "./values.ts";
import type { Work } from "./work.ts";

type Body = z.output<(typeof configurationApi)["apply"]["body"]>;
type Reply = z.output<(typeof configurationApi)["apply"]["response"]>;

const locked = <R>(
  store: ServerTx,
  work: (inside: ServerTx) => Promise<R>,
  locksLeft: readonly LockName[] = locks,
): Promise<R> => {
  const [lock, ...others] = locksLeft;
  return lock === undefined ? work(store) : store.tx((inside) => locked(inside, work, others), { lock });
};

/** Work of a caller in the same transaction, after the locks were taken and before anything is written. */
export type Beside = (inside: Context) => Promise<void>;

export async function applyConfiguration(caller: Context, body: Body, beside?: Beside): Promise<Reply> {
  const isPlanner = caller.dryRun !== null && !mayApply(caller);
  const ctx = isPlanner ? asWriter(caller) : caller;
  const texts: Texts = new Map(Object.entries(body.secrets ?? {}));
  checkKinds({ changes: body.changes, pins: body.pins });
  const changes = body.changes.map(
    (change, index): RequestedChange => ({ ...change, index, shape: configurationKind(change) }),
  );
  const request = await readRequest(ctx, changes, texts, contentsIn(body.files ?? {}));
  const variables = Object.entries(body.variables ?? {}).map(([name, value]) => ({ name, value }));
  if (variables.length > 0) authorize(ctx, "variables:write", null);
  const answers = await askOutside(ctx, request, isPlanner || (body.skip_checks ?? false));
  // Whoever may only plan must not have the server connect anywhere.
  if (isPlanner) ctx.dryRun?.unchecked("the connections to certificate authorities, trackers and the directory");
  const key = await revisionKey(ctx);
  let done: Work | undefined;
  await againWithoutGone(() =>
    locked(ctx.store, async (store) => {
      await beside?.(within(ctx, store));
      done = await write(within(ctx, store), {
        request,
        changes,
        texts,
        answers,
        pins: body.pins ?? [],
        variables,
        key,
      });
    }),
  );
  for (const later of done!.later) later(ctx);
  return { applied: done!.applied, dry_run: ctx.dryRun !== null };
}

/**
 * Applies what files contain. Those cannot change labels that people change by hand: older clients would delete all that
 * files do not contain.
 */
export async function applyFiles(ctx: Context, body: Body): Promise<Reply> {
  const at = body.changes.findIndex(({ kind }) => kind === "label");
  if (at >= 0 && (await ctx.config.current()).gitops.exceptions.labels)
    throw invalid(
      `changes.${at}`,
      "labels are changed by hand (gitops.exceptions.labels), so files cannot change them",
    );
  return applyConfiguration(ctx, body);
}

/** What each kind learned from the network before the transaction. */
type OutsideAnswers = ReadonlyMap<Kind, unknown>;

async function askOutside(ctx: Context, request: Request, skip: boolean): Promise<OutsideAnswers> {
  const answers = new Map<Kind, unknown>();
  for (const [kind, { steps }] of request) answers.set(kind, await kind.prepare?.(ctx, steps, skip));
  return answers;
}

interface Asking {
  readonly request: Request;
  readonly changes: readonly RequestedChange[];
  readonly texts: Texts;
  readonly answers: OutsideAnswers;
  readonly pins: NonNullable<Body["pins"]>;
  readonly variables: readonly SecretVariable[];
  readonly key: string;
}

async function write(ctx: Context, { request, changes, texts, answers, pins, variables, key }: Asking): Promise<Work> {
  const { shared, rows } = await readAllRows(ctx);
  const current = new Map<string, Thing>();
  for await (const thing of inTurns(thingsOf(shared, rows))) current.set(keyOf(thing), thing);
  const teamChanges = changes.filter(({ kind }) => kind === "team");
  const namesOf = (actionName: RequestedChange["action"]) =>
    new Set(teamChanges.filter(({ action }) => action === actionName).map(({ name }) => name));
  const work: Work = {
    ctx,
    shared,
    current,
    files: await resolveFiles({ ctx, current }, request),
    texts,
    teams: new Map(shared.teams.map((team) => [team.name, team])),
    leaving: namesOf("delete"),
    applied: { create: 0, update: 0, delete: 0 },
    kept: new Map(),
    later: [],
  };
  if (variables.length > 0) await setVariables(ctx, variables);
  await checkPins(pins, work.current, key);
  const createdTeams = namesOf("create");
  for await (const change of inTurns(changes)) checkPlace(work, change, createdTeams);

  // The order matters: teams use the organization's integrations, policies and queries use labels.
  const partOf = (kind: Kind): Part<unknown, unknown, unknown> => ({
    ...request.get(kind)!,
    rows: rows.get(kind),
    prepared: answers.get(kind),
  });
  for (const kind of kinds) await kind.write(work, partOf(kind));
  for (const kind of kinds.toReversed()) await kind.remove?.(work, partOf(kind));
  return work;
}

/** Checks that the object exists (or not) as the change expects, and that the caller may change it there. */
function checkPlace(
  { ctx, current, teams, leaving }: Work,
  change: RequestedChange,
  createdTeams: ReadonlySet<string>,
): void {
  const { kind, owner, name, action } = change;
  const teamName = kind === "team" ? name : owner === NO_TEAM_NAME ? null : owner;
  const team = teamName === null ? undefined : teams.get(teamName);
  if (owner !== null && owner !== NO_TEAM_NAME) {
    // For team users, another team is answered like a missing one.
    if (!team && !createdTeams.has(owner)) throw refusal(change, notFound("team", owner));
    if (leaving.has(owner) && action !== "delete")
      throw refusal(change, invalid("base", "its team is deleted by this request"));
  }
  if (team && (kind === "team" || owner !== null))
    try {
      authorizeOn(ctx, change, team.id);
    } catch (error) {
      throw error instanceof ApiError ? refusal(change, error) : error;
    }
  const isThere = current.has(keyOf(change));
  if (action === "create" && isThere) throw refusal(change, alreadyExists("already exists"));
  // Objects of which each scope has exactly one are created together with their team.
  const comes = owner !== null && createdTeams.has(owner) && change.shape.per === "one";
  if (action !== "create" && !isThere && !comes) throw refusal(change, hasChanged("does not exist (any more)"));
}
