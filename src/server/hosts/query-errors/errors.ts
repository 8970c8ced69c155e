// Stores the error messages of agents for policies, labels and queries, and reads them for replies.
import { limit } from "../../platform/core/limits.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, isNull, lt, not, oneOf, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { hosts } from "../hosts/tables.ts";
import type { queryErrors } from "./tables.ts";

export const ERROR_TEXT = limit({
  what: "error message of an agent for a policy, a label or a query",
  max: 500,
  unit: "characters",
  beyond: "The message is shortened.",
});
export const ERRORS_OF_HOST = limit({
  what: "error messages of an agent for policies, labels and queries",
  max: 200,
  unit: "rows",
  per: "host",
  beyond: "Further messages are not stored.",
});

export type Failing = "policy_id" | "label_id" | "query_id";

/** What one host reports of the policies, labels or queries that it has just run. */
export interface HostErrors {
  readonly hostId: number;
  readonly of: Failing;
  /** By id; empty: the agent gave no reason. */
  readonly errors: ReadonlyMap<number, string>;
  /** Queries that ran without an error; `all`: every one that is not in `errors`. */
  readonly succeeded: ReadonlySet<number> | "all";
}

type ErrorRow = RowOf<typeof queryErrors>;
type NewError = Pick<ErrorRow, "host_id" | Failing | "message" | "at">;

interface ErrorPlan {
  readonly gone: readonly number[];
  readonly changed: readonly NewError[];
}

const NO_REASON = "the query failed";

interface ErrorTimes {
  readonly at: string;
  /** An error of before is recorded again when it is repeated. Absent: it keeps the time since when it is reported. */
  readonly repeatedSince?: string;
}

/** Compares what hosts report with what is stored. Null: nothing differs. */
export async function planErrors(
  store: Pick<ServerTx, "queryErrors">,
  reports: readonly HostErrors[],
  { at, repeatedSince = "" }: ErrorTimes,
): Promise<ErrorPlan | null> {
  if (reports.length === 0) return null;
  const ids = [...new Set(reports.map(({ hostId }) => hostId))];
  const stored = await store.queryErrors.list({ where: oneOf("host_id", ids) });
  const gone: number[] = [];
  const changed: NewError[] = [];
  for (const { hostId, of, errors, succeeded } of reports) {
    const hostErrors = stored.filter((row) => row.host_id === hostId);
    const before = new Map(hostErrors.flatMap((row) => (row[of] === null ? [] : [[row[of], row] as const])));
    for (const [id, row] of before)
      if (!errors.has(id) && (succeeded === "all" || succeeded.has(id))) gone.push(row.id);
    let room = ERRORS_OF_HOST.max - hostErrors.length;
    for (const [id, text] of errors) {
      const message = text.trim().slice(0, ERROR_TEXT.max) || NO_REASON;
      const row = before.get(id);
      if ((row?.message === message && row.at >= repeatedSince) || (row === undefined && room-- <= 0)) continue;
      changed.push({ host_id: hostId, policy_id: null, label_id: null, query_id: null, [of]: id, message, at });
    }
  }
  return gone.length + changed.length === 0 ? null : { gone, changed };
}

/** Errors of what was deleted in the meantime are left out. In the transaction of the report. */
export async function writeErrors(store: ServerTx, { gone, changed }: ErrorPlan): Promise<void> {
  if (gone.length > 0) await store.queryErrors.delete(oneOf("id", gone));
  if (changed.length === 0) return;
  const idsOf = (of: Failing) => [...new Set(changed.flatMap((row) => row[of] ?? []))];
  const existing = {
    policy_id: await existingIds(store.policies, idsOf("policy_id")),
    label_id: await existingIds(store.labels, idsOf("label_id")),
    query_id: await existingIds(store.queries, idsOf("query_id")),
  };
  const rows = changed.filter((row) =>
    (["policy_id", "label_id", "query_id"] as const).every((of) => row[of] === null || existing[of].has(row[of])),
  );
  await store.queryErrors.upsert(rows, {
    on: ["host_id", "policy_id", "label_id", "query_id"],
    set: ["message", "at"],
    returning: [],
  });
}

interface WithIds {
  pick(columns: readonly ["id"], select: { where: Predicate }): Promise<{ id: number }[]>;
}

async function existingIds(rows: WithIds, ids: readonly number[]): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  return new Set((await rows.pick(["id"], { where: oneOf("id", ids) })).map(({ id }) => id));
}

/** The query has changed: what hosts reported about the one before is not true any more. In the same transaction. */
export const forgetErrors = (
  store: Pick<ServerTx, "queryErrors">,
  of: Failing,
  ids: readonly number[],
): Promise<unknown> => (ids.length === 0 ? Promise.resolve(0) : store.queryErrors.delete(oneOf(of, ids)));

export async function failingQueries(store: Pick<ServerTx, "queryErrors">): Promise<number[]> {
  const groups = await store.queryErrors.groupCount("query_id", not(isNull("query_id")));
  return groups.flatMap(({ value }) => (value === null ? [] : Number(value)));
}

/** Deletes the errors of a query that were reported before this time. */
export const dropErrorsBefore = (
  store: Pick<ServerTx, "queryErrors">,
  queryId: number,
  time: string,
): Promise<unknown> => store.queryErrors.delete(and(eq("query_id", queryId), lt("at", time)));

export interface ShownErrors {
  /** Hosts that could not run it. */
  readonly error_host_count: number;
  /** The message of one of them; null: none has reported an error. */
  readonly error_message: string | null;
}

const NONE: ShownErrors = { error_host_count: 0, error_message: null };

/** What hosts have reported of each. `where`: the hosts that the caller may see. */
export async function shownErrors(
  store: Pick<ServerTx, "queryErrors">,
  of: Failing,
  ids: readonly number[],
  where: Predicate = everything,
): Promise<(id: number) => ShownErrors> {
  if (ids.length === 0) return () => NONE;
  const visible = where.op === "all" ? everything : exists(hosts, "id", where, "host_id");
  const counts = await store.queryErrors.groupCount(of, and(oneOf(of, ids), visible));
  const shown = new Map<number, ShownErrors>();
  for (const { value, count } of counts) {
    const newest = {
      where: and(eq(of, Number(value)), visible),
      order: [{ column: "id", direction: "desc" }],
    } as const;
    const row = await store.queryErrors.first(newest);
    shown.set(Number(value), { error_host_count: count, error_message: row?.message ?? null });
  }
  return (id) => shown.get(id) ?? NONE;
}

/** The messages of these hosts for policies: by host and policy. */
export async function policyErrorsOf(
  store: Pick<ServerTx, "queryErrors">,
  hostIds: readonly number[],
): Promise<(hostId: number, policyId: number) => string | null> {
  const where = and(oneOf("host_id", hostIds), not(isNull("policy_id")));
  const rows = await store.queryErrors.pick(["host_id", "policy_id", "message"], { where });
  const messages = new Map(rows.map(({ host_id, policy_id, message }) => [`${host_id} ${policy_id}`, message]));
  return (hostId, policyId) => messages.get(`${hostId} ${policyId}`) ?? null;
}
