// A distributed write's body, read leniently: agents of all ages send it, and send it again until it is accepted.
import { setImmediate as breathe } from "node:timers/promises";
import { detailQueries } from "./inventory/queries.ts";
import {
  DETAIL_PREFIX,
  type DetailResult,
  type DetailResults,
  detailResults,
  isOk,
  type Row,
  rowsOf,
  text,
} from "./inventory/rows.ts";
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
} from "./json-scan.ts";
import { parseSparing, UnreadRows } from "./unread-rows.ts";

export const LABEL_PREFIX = "svc_label_query_";
export const ADDITIONAL_PREFIX = "svc_additional_query_";
export const POLICY_PREFIX = "svc_policy_query_";
export const LIVE_PREFIX = "svc_distributed_query_";
export const NO_POLICIES = "svc_no_policies_wildcard";
export const NO_LABELS = "svc_no_labels_wildcard";

export interface WriteResults {
  /** Of queries that are asked for; a failed one too. */
  readonly details: DetailResults;
  /** By label id: whether the host is a member. Failed ones are left out: they change nothing. */
  readonly labels: ReadonlyMap<number, boolean>;
  /** Any label answer came, failed ones included. */
  readonly labelsReported: boolean;
  /** By policy id: whether the host passes; null where the query failed. */
  readonly policies: ReadonlyMap<number, boolean | null>;
  readonly policiesReported: boolean;
  /** By campaign id, failed ones too. */
  readonly live: ReadonlyMap<number, LiveAnswer>;
  /** Rows by name, of those that came back ok. */
  readonly additional: ReadonlyMap<string, readonly Row[]>;
}

/** What a host answered to a live query (agent protocol, sections 6 and 12). */
export interface LiveAnswer {
  /** Cells are text, as long as they came. */
  readonly rows: readonly Row[];
  /** The agent's message, or a text of ours where it failed without one; null: it worked. */
  readonly error: string | null;
  /** What the agent measured, where it did; not checked. */
  readonly stats: unknown;
}

/** Rows of one query at most; the rest is passed over. */
const ROWS_MAX = 20_000;
const ADDITIONAL_ROWS_MAX = 1_000;
const ADDITIONAL_CELL_MAX = 8_192;
/** Body text read in one go; of a larger body each query by itself, row by row. */
const AT_ONCE = 2 * 1024 * 1024;
/** Text of one query's rows at most. */
const ANSWER_MAX = 24 * 1024 * 1024;
/** Rows of a body read by parts: one of nothing but small rows would fill the memory. */
const ALL_ROWS_MAX = 200_000;
/** Rows read in one go. */
const ROWS_AT_ONCE = 2_000;

const known = new Set(detailQueries.map(({ name }) => name));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The body's parts as values. Throws `BadJson` when it is no JSON object. */
export async function parseWrite(body: string): Promise<Record<string, unknown>> {
  if (body.length <= AT_ONCE) {
    const whole = { start: 0, end: body.length };
    const value = parseSparing(body) ?? parseSpan(body, whole);
    if (!isObject(value)) throw new BadJson("not an object");
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
    const rows = isArrayAt(body, span) ? await rowsAt(body, span, most, isKeptAsTold(name)) : null;
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
    if (rows.length % ROWS_AT_ONCE === 0) await breathe();
  }
  return rows;
}

/** Of other answers only fields that are known are read, and whether there are rows. */
const isKeptAsTold = (name: string): boolean => name.startsWith(LIVE_PREFIX) || name.startsWith(ADDITIONAL_PREFIX);

const hasWide = (queries: unknown): boolean =>
  isObject(queries) && Object.keys(queries).some((name) => isKeptAsTold(name) && rowsOf(queries[name]).some(isWideRow));

const small = (body: string, span: Span): unknown => (span.end - span.start > AT_ONCE ? null : parseSpan(body, span));

export function readResults(write: Record<string, unknown>): WriteResults {
  const queries = isObject(write.queries) ? write.queries : {};
  const statuses = isObject(write.statuses) ? write.statuses : {};
  const ok = (name: string) => isOk(Object.hasOwn(statuses, name) ? statuses[name] : undefined);

  const details = new Map<string, DetailResult>();
  for (const [key, result] of detailResults({ queries, statuses })) {
    if (!known.has(key)) continue;
    const told = queries[DETAIL_PREFIX + key];
    if (told instanceof UnreadRows && result.ok) details.set(key, told.result(ROWS_MAX));
    else
      details.set(
        key,
        result.rows.length > ROWS_MAX ? { ok: result.ok, rows: result.rows.slice(0, ROWS_MAX) } : result,
      );
  }

  const labels = new Map<number, boolean>();
  const additional = new Map<string, readonly Row[]>();
  const policies = new Map<number, boolean | null>();
  const live = new Map<number, LiveAnswer>();
  const messages = isObject(write.messages) ? write.messages : {};
  const stats = isObject(write.stats) ? write.stats : {};
  let labelsReported = false;
  let policiesReported = false;
  for (const name of new Set([...Object.keys(queries), ...Object.keys(statuses)])) {
    if (name.startsWith(DETAIL_PREFIX)) continue;
    if (name === NO_LABELS) labelsReported = true;
    else if (name === NO_POLICIES) policiesReported = true;
    else if (name.startsWith(LABEL_PREFIX)) {
      const id = idIn(name, LABEL_PREFIX);
      labelsReported = true;
      if (id !== null && ok(name) && Object.hasOwn(queries, name)) labels.set(id, rowsOf(queries[name]).length > 0);
    } else if (name.startsWith(POLICY_PREFIX)) {
      const id = idIn(name, POLICY_PREFIX);
      policiesReported = true;
      if (id !== null)
        policies.set(id, ok(name) && Object.hasOwn(queries, name) ? rowsOf(queries[name]).length > 0 : null);
    } else if (name.startsWith(LIVE_PREFIX)) {
      const id = idIn(name, LIVE_PREFIX);
      const told = typeof messages[name] === "string" ? messages[name] : "";
      // A message that comes with rows and a good status is none of an error.
      const read = Object.hasOwn(queries, name) ? null : "the host answered with more rows than can be read";
      const error = ok(name) ? read : told || "the query failed";
      if (id !== null)
        live.set(id, { rows: rowsOf(queries[name]).slice(0, ROWS_MAX), error, stats: stats[name] ?? null });
    } else if (name.startsWith(ADDITIONAL_PREFIX) && ok(name) && Object.hasOwn(queries, name))
      additional.set(name.slice(ADDITIONAL_PREFIX.length), additionalRows(queries[name]));
  }
  return { details, labels, labelsReported, policies, policiesReported, live, additional };
}

const idIn = (name: string, prefix: string): number | null => {
  const digits = name.slice(prefix.length);
  return /^[1-9]\d{0,14}$/.test(digits) ? Number(digits) : null;
};

const additionalRows = (value: unknown): Row[] =>
  rowsOf(value)
    .slice(0, ADDITIONAL_ROWS_MAX)
    .map((row) =>
      Object.fromEntries(Object.keys(row).map((column) => [column, text(row, column, ADDITIONAL_CELL_MAX)])),
    );

export const isEmpty = (results: WriteResults): boolean =>
  results.details.size === 0 &&
  results.additional.size === 0 &&
  results.live.size === 0 &&
  !results.labelsReported &&
  !results.policiesReported;
