// Parses distributed write bodies leniently: agents of all versions send them, and resend them until accepted.

import { setImmediate as breathe } from "node:timers/promises";
import { isRecord } from "../../../../text/record.ts";
import {
  BadJson,
  Elements,
  isArrayAt,
  isObjectAt,
  isWideRow,
  objectMembers,
  parseExactly,
  parseSpan,
  type Span,
} from "../../../platform/agent-protocol/json-scan.ts";
import {
  ADDITIONAL_PREFIX,
  LABEL_PREFIX,
  LABELS_REVISION,
  LIVE_PREFIX,
  type LiveAnswer,
  NEW_POLICIES_REVISION,
  NO_LABELS,
  NO_POLICIES,
  POLICIES_REVISION,
  POLICY_PREFIX,
} from "../../../platform/agent-protocol/names.ts";
import {
  type AgentRow,
  DETAIL_PREFIX,
  type DetailResult,
  type DetailResults,
  detailResults,
  isOk,
  rowsOf,
  text,
} from "../../../platform/agent-protocol/rows.ts";
import { limit } from "../../../platform/core/limits.ts";
import type { DetailQueries } from "../inventory/detail-queries.ts";
import { parseSparing, UnreadRows } from "./unread-rows.ts";

export interface WriteResults {
  /** Requested detail queries, including failed ones. */
  readonly details: DetailResults;
  /** By label id: whether the host is a member. Failed queries are omitted and change nothing. */
  readonly labels: ReadonlyMap<number, boolean>;
  /** Why label queries failed, by label id. */
  readonly labelErrors: ReadonlyMap<number, string>;
  /** Any label result was present, even a failed one. */
  readonly labelsReported: boolean;
  /** The revision of the labels that the host ran; null if the results do not carry it. */
  readonly labelsRevision: number | null;
  /** By policy id: whether the host passes; null if the query failed. */
  readonly policies: ReadonlyMap<number, boolean | null>;
  /** Why policies failed to run, by policy id. */
  readonly policyErrors: ReadonlyMap<number, string>;
  readonly policiesReported: boolean;
  /** All policies were reported, not only those new to the host. */
  readonly allPoliciesReported: boolean;
  readonly policiesRevision: number | null;
  /** By campaign id, including failed ones. */
  readonly live: ReadonlyMap<number, LiveAnswer>;
  /** Rows by name, of successful queries. */
  readonly additional: ReadonlyMap<string, readonly AgentRow[]>;
}

/** Maximum rows per query; the rest is ignored. */
const ROWS_MAX = 20_000;
const ADDITIONAL_ROWS_MAX = 1_000;
const ADDITIONAL_CELL_MAX = 8_192;
const ADDITIONAL_CHARACTERS_MAX = 1024 * 1024;
/** Bodies above this size (characters) are parsed query by query and row by row. */
const WHOLE_MAX = 2 * 1024 * 1024;
/** Maximum size of one query's rows (characters). */
const ANSWER_MAX = 24 * 1024 * 1024;
/** Maximum rows of a body that is parsed in parts; many tiny rows would exhaust memory. */
const ALL_ROWS_MAX = 200_000;

export const resultLimits = [
  limit({
    what: "rows of one query of an agent",
    max: ROWS_MAX,
    unit: "rows",
    beyond: "The rest is ignored.",
  }),
  limit({
    what: "rows of one query of an agent, as JSON",
    max: ANSWER_MAX,
    unit: "characters",
    beyond: "The query counts as not answered.",
  }),
  limit({
    what: "rows of all queries in a large message of an agent",
    max: ALL_ROWS_MAX,
    unit: "rows",
    per: "message",
    beyond: "The rest is ignored.",
  }),
  limit({
    what: "rows of an additional query",
    max: ADDITIONAL_ROWS_MAX,
    unit: "rows",
    beyond: "The rest is ignored.",
  }),
  limit({
    what: "cell of an additional query",
    max: ADDITIONAL_CELL_MAX,
    unit: "characters",
    beyond: "The rest is cut off.",
  }),
  limit({
    what: "all cells of an additional query",
    max: ADDITIONAL_CHARACTERS_MAX,
    unit: "characters",
    beyond: "Rows after them are ignored.",
  }),
];
/** Rows parsed before yielding to the event loop. */
const ROWS_PER_PART = 2_000;

type QueriesByName = Pick<DetailQueries, "byName">;

/** The members of the body. Throws `BadJson` if it is not a JSON object. */
export async function parseWrite(body: string, { byName }: QueriesByName): Promise<Record<string, unknown>> {
  if (body.length <= WHOLE_MAX) {
    const whole = { start: 0, end: body.length };
    const value = parseSparing(body, (name) => byName.get(name)?.isLarge === true) ?? parseSpan(body, whole);
    if (!isRecord(value)) throw new BadJson("not an object");
    return hasWide(value.queries) ? (parseExactly(body, whole) as Record<string, unknown>) : value;
  }
  const parts: Record<string, unknown> = {};
  for (const [name, span] of objectMembers(body))
    parts[name] = name === "queries" && isObjectAt(body, span) ? await answersApart(body, span) : small(body, span);
  return parts;
}

async function answersApart(body: string, queries: Span): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  let room = ALL_ROWS_MAX;
  for (const [name, span] of objectMembers(body, queries.start)) {
    if (span.end - span.start > ANSWER_MAX) continue;
    const most = Math.min(room, ROWS_MAX);
    const rows = isArrayAt(body, span) ? await rowsAt(body, span, most, keepsAllColumns(name)) : null;
    answers[name] = rows ?? parseSpan(body, span);
    room -= rows?.length ?? 0;
  }
  return answers;
}

async function rowsAt(body: string, { start }: Span, most: number, exact: boolean): Promise<unknown[]> {
  const rows: unknown[] = [];
  const span = new Elements(body, start);
  while (rows.length < most && span.next()) {
    const row = parseSpan(body, span);
    rows.push(exact && isWideRow(row) ? parseExactly(body, span) : row);
    if (rows.length % ROWS_PER_PART === 0) await breathe();
  }
  return rows;
}

/** Live and additional results keep all columns; of other results only known fields are used. */
const keepsAllColumns = (name: string): boolean => name.startsWith(LIVE_PREFIX) || name.startsWith(ADDITIONAL_PREFIX);

const hasWide = (queries: unknown): boolean =>
  isRecord(queries) &&
  Object.keys(queries).some((name) => keepsAllColumns(name) && rowsOf(queries[name]).some(isWideRow));

const small = (body: string, span: Span): unknown => (span.end - span.start > WHOLE_MAX ? null : parseSpan(body, span));

export function readResults(write: Record<string, unknown>, { byName }: QueriesByName): WriteResults {
  const queries = isRecord(write.queries) ? write.queries : {};
  const statuses = isRecord(write.statuses) ? write.statuses : {};
  const ok = (name: string) => isOk(Object.hasOwn(statuses, name) ? statuses[name] : undefined);

  const details = new Map<string, DetailResult>();
  for (const [key, result] of detailResults({ queries, statuses })) {
    if (!byName.has(key)) continue;
    const rows = queries[DETAIL_PREFIX + key];
    if (rows instanceof UnreadRows && result.ok) details.set(key, rows.result(ROWS_MAX));
    else
      details.set(
        key,
        result.rows.length > ROWS_MAX ? { ok: result.ok, rows: result.rows.slice(0, ROWS_MAX) } : result,
      );
  }

  const labels = new Map<number, boolean>();
  const additional = new Map<string, readonly AgentRow[]>();
  const policies = new Map<number, boolean | null>();
  const live = new Map<number, LiveAnswer>();
  const labelErrors = new Map<number, string>();
  const policyErrors = new Map<number, string>();
  const messages = isRecord(write.messages) ? write.messages : {};
  const stats = isRecord(write.stats) ? write.stats : {};
  const messageOf = (name: string): string =>
    Object.hasOwn(messages, name) && typeof messages[name] === "string" ? messages[name] : "";
  let labelsReported = false;
  let policiesReported = false;
  let onlyNewPolicies = true;
  let labelsRevision: number | null = null;
  let policiesRevision: number | null = null;
  // Undelivered results are sent with the next ones. With several revisions present, use the oldest: which result
  // belongs to which is unknown.
  const oldest = (oldestSoFar: number | null, name: string, prefix: string): number | null => {
    const digits = name.slice(prefix.length);
    return /^\d{1,15}$/.test(digits) ? Math.min(oldestSoFar ?? Number.POSITIVE_INFINITY, Number(digits)) : oldestSoFar;
  };
  for (const name of new Set([...Object.keys(queries), ...Object.keys(statuses)])) {
    if (name.startsWith(DETAIL_PREFIX)) continue;
    if (name === NO_LABELS) labelsReported = true;
    else if (name === NO_POLICIES) policiesReported = true;
    else if (name.startsWith(LABELS_REVISION)) {
      labelsReported = true;
      labelsRevision = oldest(labelsRevision, name, LABELS_REVISION);
    } else if (name.startsWith(NEW_POLICIES_REVISION)) {
      policiesReported = true;
      policiesRevision = oldest(policiesRevision, name, NEW_POLICIES_REVISION);
    } else if (name.startsWith(POLICIES_REVISION)) {
      policiesReported = true;
      onlyNewPolicies = false;
      policiesRevision = oldest(policiesRevision, name, POLICIES_REVISION);
    } else if (name.startsWith(LABEL_PREFIX)) {
      const id = idIn(name, LABEL_PREFIX);
      labelsReported = true;
      if (id !== null && ok(name) && Object.hasOwn(queries, name)) labels.set(id, rowsOf(queries[name]).length > 0);
      else if (id !== null && !ok(name)) labelErrors.set(id, messageOf(name));
    } else if (name.startsWith(POLICY_PREFIX)) {
      const id = idIn(name, POLICY_PREFIX);
      policiesReported = true;
      if (id !== null)
        policies.set(id, ok(name) && Object.hasOwn(queries, name) ? rowsOf(queries[name]).length > 0 : null);
      if (id !== null && !ok(name)) policyErrors.set(id, messageOf(name));
    } else if (name.startsWith(LIVE_PREFIX)) {
      const id = idIn(name, LIVE_PREFIX);
      const message = messageOf(name);
      // A message along with rows and a success status is not an error.
      const read = Object.hasOwn(queries, name) ? null : "the result was not stored: it has too many rows";
      const error = ok(name) ? read : message || "the query failed";
      if (id !== null)
        live.set(id, { rows: rowsOf(queries[name]).slice(0, ROWS_MAX), error, stats: stats[name] ?? null });
    } else if (name.startsWith(ADDITIONAL_PREFIX) && ok(name) && Object.hasOwn(queries, name))
      additional.set(name.slice(ADDITIONAL_PREFIX.length), additionalRows(queries[name]));
  }
  return {
    details,
    labels,
    labelErrors,
    labelsReported,
    labelsRevision,
    policies,
    policyErrors,
    policiesReported,
    allPoliciesReported: policiesReported && !(onlyNewPolicies && policiesRevision !== null),
    policiesRevision,
    live,
    additional,
  };
}

const idIn = (name: string, prefix: string): number | null => {
  const digits = name.slice(prefix.length);
  return /^[1-9]\d{0,14}$/.test(digits) ? Number(digits) : null;
};

function additionalRows(value: unknown): AgentRow[] {
  const rows: AgentRow[] = [];
  let left = ADDITIONAL_CHARACTERS_MAX;
  for (const row of rowsOf(value).slice(0, ADDITIONAL_ROWS_MAX)) {
    const cells = Object.keys(row).map((column) => [column, text(row, column, ADDITIONAL_CELL_MAX)] as const);
    left -= cells.reduce((sum, [column, cell]) => sum + column.length + cell.length, 0);
    if (left < 0) break;
    rows.push(Object.fromEntries(cells));
  }
  return rows;
}

export const isEmpty = (results: WriteResults): boolean =>
  results.details.size === 0 &&
  results.additional.size === 0 &&
  results.live.size === 0 &&
  !results.labelsReported &&
  !results.policiesReported;
