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
import { ADDITIONAL_PREFIX, LIVE_PREFIX } from "../../../platform/agent-protocol/names.ts";
import { rowsOf } from "../../../platform/agent-protocol/rows.ts";
import type { DetailQueries } from "../inventory/detail-queries.ts";
import { ALL_ROWS_MAX, ANSWER_MAX, ROWS_MAX, WHOLE_MAX } from "./limits.ts";
import { parseSparing } from "./unread-rows.ts";

/** Rows parsed before yielding to the event loop. */
const ROWS_PER_PART = 2_000;

export type QueriesByName = Pick<DetailQueries, "byName">;

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
