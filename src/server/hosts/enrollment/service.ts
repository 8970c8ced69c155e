// Makes hosts known, or known again, for every protocol: matching, limits, the rule for other teams' secrets, labels,
// activities, and the end of what was asked of the previous installation. See README.md.
import { recordActivities } from "../../platform/activities/record.ts";
import { channels, hostsPayload } from "../../platform/core/channels.ts";
import { isoAt } from "../../platform/core/clock.ts";
import { Batcher } from "../../platform/core/concurrency/batcher.ts";
import { type Context, type Services, service } from "../../platform/core/context.ts";
import type { ServerTx, Tables } from "../../platform/core/tables.ts";
import { ReferenceViolation, UniqueViolation } from "../../platform/store/store.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import { recordSystems, type SystemChange, systemChanges } from "../count-changes/vulnerabilities.ts";
import { endPendingActions } from "../host-actions/states.ts";
import type { HostRow } from "../hosts/access.ts";
import { HostChanged, insertHosts, updateKnownHosts } from "../hosts/enrolled.ts";
import { storedIdentifier } from "../hosts/identifier.ts";
import { joinedLabels, joinLabels } from "../labels/joined.ts";
import { enrollLock } from "./expected.ts";
import type { EnrolledHost, EnrollmentKind, EnrollmentOutcome, EnrollRequest, Refusal } from "./kind.ts";
import { matchHosts } from "./match.ts";
import { moveEnrolledHosts } from "./move.ts";
import { NewHostsRate } from "./new-hosts-rate.ts";
import { ENROLLED_ELSEWHERE, recordRefused, secretOfOtherTeam } from "./refused.ts";
import { judgeReenrollment } from "./rule.ts";

/** The decision about one request. */
type Plan = RefusedRequest | Insert | Again;
/** `host`: the host of another team. */
type RefusedRequest = Refusal & { readonly host?: HostRow };
type DecidedRequest<R> = EnrolledHost<R> | RefusedRequest;
interface Insert {
  readonly insert: InsertOf<Tables["hosts"]>;
}
interface Again {
  readonly row: HostRow;
  readonly set: Partial<HostRow>;
  /** Undefined: the host stays in its team. */
  readonly movesTo: number | null | undefined;
}

const ATTEMPTS = 3;

export interface HostEnrollment<R> {
  /**
   * Enrolls a machine whose enroll secret the caller has checked. Requests that arrive while others are processed share
   * a transaction. `since`: see `Batcher`.
   */
  enroll(request: R, since?: number): Promise<EnrollmentOutcome<R>>;
  /** Resolves when no enrollment is in progress. */
  idle(): Promise<void>;
}

/** One for each kind of agent of a server. */
export function createHostEnrollment<R extends EnrollRequest>(
  services: Services,
  kind: EnrollmentKind<R>,
): HostEnrollment<R> {
  const isEmbedded = services.store.engine === "lowdb";
  const batches = new Batcher<R, DecidedRequest<R>>((requests) => enrollAll(services, kind, requests), {
    size: isEmbedded ? 16 : 50,
    parallel: isEmbedded ? 1 : 2,
    key: ({ identifier }) => storedIdentifier(identifier),
  });
  return {
    async enroll(request, since) {
      const outcome = await batches.add(request, since);
      // Recorded here, because a stranger who repeats such requests must not delay the batches of others.
      if ("refused" in outcome && outcome.host)
        await recordRefused(services, {
          host: outcome.host,
          agent: kind.agent,
          address: request.address,
          because: secretOfOtherTeam(request.teamId, outcome.host.team_id),
        });
      return outcome;
    },
    idle: () => batches.idle(),
  };
}

/** Outcomes are in the order of the requests. */
async function enrollAll<R extends EnrollRequest>(
  ctx: Services,
  kind: EnrollmentKind<R>,
  requests: readonly R[],
): Promise<DecidedRequest<R>[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await enrollOnce(ctx, kind, requests);
    } catch (error) {
      // Another server enrolled the same identifier first, the host was transferred, or a row that is referred to was
      // deleted: decide again.
      const again =
        error instanceof UniqueViolation || error instanceof ReferenceViolation || error instanceof HostChanged;
      if (!again || attempt === ATTEMPTS) throw error;
      kind.forget();
    }
  }
}

async function enrollOnce<R extends EnrollRequest>(
  ctx: Services,
  kind: EnrollmentKind<R>,
  requests: readonly R[],
): Promise<DecidedRequest<R>[]> {
  const now = ctx.clock.now();
  const limit = ctx.license.device_count;
  const matches = await matchHosts(ctx, requests);
  const reported = await kind.reported(matches, now);
  const labels = await ctx.running.of(joinedLabels).get();
  const work = async (tx: ServerTx): Promise<DecidedRequest<R>[]> => {
    const existingHosts = matches.flatMap((match) => match.existing ?? []);
    const last = existingHosts.length === 0 ? new Map<number, string>() : await kind.lastEnrolled(tx, existingHosts);
    const guarded = kind.guarded ? await kind.guarded(tx, existingHosts, now) : new Set<number>();
    const identified = matches.flatMap(({ request, existing }) => (existing ? [{ request, existing }] : []));
    const taken = kind.taken && existingHosts.length > 0 ? await kind.taken(tx, identified, now) : new Set<R>();
    const unknown = matches.flatMap(({ request, existing }) => (existing ? [] : [request]));
    const rate = await NewHostsRate.read(tx, ctx, unknown);
    let room = limit === undefined ? Number.POSITIVE_INFINITY : limit - (await tx.hosts.count());
    const plans = matches.map(({ request, existing, identifier }, i): Plan => {
      const fields = { ...reported[i]!, updated_at: isoAt(now), last_enrolled_at: isoAt(now) };
      if (existing) {
        if (guarded.has(existing.id) && request.hostId !== existing.id) return withoutIdentity;
        const refused = refusalOf(ctx, request, { existing, last: last.get(existing.id), now });
        if (typeof refused === "object") return refused;
        if (taken.has(request)) return { ...usedByAnother, hostId: existing.id };
        const movesTo = refused === "moves" ? request.teamId : undefined;
        return { row: existing, set: { ...fields, identifier }, movesTo };
      }
      if (room <= 0) return atLimit(limit!);
      const refused = rate.admit(request);
      if (refused) return refused;
      room--;
      return { insert: { ...fields, identifier, team_id: request.teamId, created_at: isoAt(now) } };
    });
    const enrolled = await write(ctx, { tx, kind, requests, plans });
    await rate.write(tx, now);
    const rows = enrolled.flatMap((host) => host ?? []);
    const isAnyNew = rows.some(({ isNew }) => isNew);
    if (rows.length > 0) {
      await kind.write(tx, rows, now);
      await joinLabels(tx, labels, { hosts: rows.map(({ row }) => row), isAnyNew });
    }
    if (isAnyNew) await recordNew({ ...ctx, store: tx }, rows);
    // Device management may know the machine as another host.
    if (rows.some(({ row, isNew }) => isNew && row.platform === "windows")) await tx.notify(channels.windowsHosts, "");
    for (const { row, isNew } of rows)
      if (!isNew && last.has(row.id))
        ctx.log.warn(
          { host_id: row.id, identifier: row.identifier, agent: kind.agent },
          "a host with a key enrolled again; if this repeats, several machines share one identifier: set enroll_cooldown or host_identifier=instance",
        );
    return plans.map((plan, i) => ("refused" in plan ? plan : enrolled[i]!));
  };
  return ctx.store.tx(work, { failFast: true, ...(limit === undefined ? {} : enrollLock) });
}

const withoutIdentity: Refusal = {
  refused: "identity",
  reason: "the host has an identity, and this request is not signed with it; if it is lost, delete the host first",
  wait: 0,
};

const usedByAnother: Refusal = {
  refused: "machine",
  reason: "another machine with the same identifier uses this host",
  wait: 0,
};

const atLimit = (limit: number): Refusal => ({
  refused: "device limit",
  reason: `maximum number of hosts reached: ${limit}`,
  wait: 0,
});

/** `last`: when an agent of the same kind last enrolled on this host. Other kinds do not start its cool-down. */
function refusalOf(
  { settings }: Services,
  request: EnrollRequest,
  { existing, last, now }: { existing: HostRow; last: string | undefined; now: number },
): RefusedRequest | "stays" | "moves" {
  const verdict = judgeReenrollment({
    hostTeam: existing.team_id,
    secretTeam: request.teamId,
    isProved: request.isProved,
    globalSecret: settings.global_reenroll,
  });
  if (verdict === "refused") return { refused: "team", reason: ENROLLED_ELSEWHERE, wait: 0, host: existing };
  const wait = last === undefined ? 0 : Date.parse(last) + settings.enroll_cooldown - now;
  if (wait <= 0) return verdict;
  const reason = `host identified by ${request.identifier} enrolling too often`;
  return { refused: "cool-down", reason, wait: Math.ceil(wait / 1000) };
}

interface PlannedEnrollment<R extends EnrollRequest> {
  readonly tx: ServerTx;
  readonly kind: EnrollmentKind<R>;
  readonly requests: readonly R[];
  readonly plans: readonly Plan[];
}

/** Writes the hosts. Null for refused requests. */
async function write<R extends EnrollRequest>(
  ctx: Services,
  { tx, kind, requests, plans }: PlannedEnrollment<R>,
): Promise<(EnrolledHost<R> | null)[]> {
  const inserts = plans.flatMap((plan) => ("insert" in plan ? [plan.insert] : []));
  const created = await insertHosts(tx, inserts);
  const systems: SystemChange[] = created.flatMap(({ id, os_version_id }) =>
    os_version_id === null ? [] : [{ hostId: id, before: undefined }],
  );
  const again = plans.flatMap((plan) => ("set" in plan ? [plan] : []));
  if (again.length > 0) {
    await updateKnownHosts(tx, again);
    systems.push(...systemChanges(again));
  }
  await recordSystems(tx, systems);
  if (again.length > 0) {
    for (const [teamId, moved] of movesOf(again))
      await moveEnrolledHosts({ ...ctx, store: tx, agent: kind.agent }, moved, teamId);
    const ids = again.map(({ row }) => row.id);
    if (kind.lane !== null) await endPendingActions({ store: tx, clock: ctx.clock }, ids, kind.lane);
    await tx.notify(channels.hosts, hostsPayload(ids));
  }
  let next = 0;
  return plans.map((plan, i) => {
    const request = requests[i]!;
    if ("insert" in plan) return { request, row: created[next++]!, isNew: true };
    if ("refused" in plan) return null;
    const { row, set, movesTo = row.team_id } = plan;
    return { request, row: { ...row, ...set, team_id: movesTo }, isNew: false };
  });
}

/** Hosts that change team, grouped by their new team. */
function movesOf(again: readonly Again[]): Map<number | null, HostRow[]> {
  const moves = new Map<number | null, HostRow[]>();
  for (const { row, set, movesTo } of again)
    if (movesTo !== undefined) moves.set(movesTo, [...(moves.get(movesTo) ?? []), { ...row, ...set }]);
  return moves;
}

async function recordNew(
  { store, clock }: Pick<Context, "store" | "clock">,
  enrolled: readonly EnrolledHost<EnrollRequest>[],
): Promise<void> {
  const created = enrolled.filter(({ isNew }) => isNew);
  await recordActivities(
    { store, clock, user: service },
    "svc_enrolled",
    created.map(({ row }) => ({
      host_id: row.id,
      host_serial: row.hardware_serial,
      host_display_name: row.display_name,
    })),
    { hostIds: created.map(({ row }) => row.id), addresses: created.map(({ request }) => request.address) },
  );
}
