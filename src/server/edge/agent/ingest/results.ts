// Reads the results in distributed writes.

import { isRecord } from "../../../../text/record.ts";
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
import { ADDITIONAL_CELL_MAX, ADDITIONAL_CHARACTERS_MAX, ADDITIONAL_ROWS_MAX, ROWS_MAX } from "./limits.ts";
import type { QueriesByName } from "./parse-write.ts";
import { UnreadRows } from "./unread-rows.ts";

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

export const readResults = (write: Record<string, unknown>, { byName }: QueriesByName): WriteResults =>
  new ResultReader(write, byName).read();

/** Sorts the results of one message by what they answer. */
class ResultReader {
  readonly #queries: Record<string, unknown>;
  readonly #statuses: Record<string, unknown>;
  readonly #messages: Record<string, unknown>;
  readonly #stats: Record<string, unknown>;
  readonly #byName: QueriesByName["byName"];
  readonly #labels = new Map<number, boolean>();
  readonly #labelErrors = new Map<number, string>();
  readonly #policies = new Map<number, boolean | null>();
  readonly #policyErrors = new Map<number, string>();
  readonly #live = new Map<number, LiveAnswer>();
  readonly #additional = new Map<string, readonly AgentRow[]>();
  #labelsReported = false;
  #labelsRevision: number | null = null;
  #policiesReported = false;
  #onlyNewPolicies = true;
  #policiesRevision: number | null = null;

  constructor({ queries, statuses, messages, stats }: Record<string, unknown>, byName: QueriesByName["byName"]) {
    this.#queries = isRecord(queries) ? queries : {};
    this.#statuses = isRecord(statuses) ? statuses : {};
    this.#messages = isRecord(messages) ? messages : {};
    this.#stats = isRecord(stats) ? stats : {};
    this.#byName = byName;
  }

  read(): WriteResults {
    for (const name of new Set([...Object.keys(this.#queries), ...Object.keys(this.#statuses)]))
      if (!name.startsWith(DETAIL_PREFIX)) this.#addResult(name);
    const areNew = this.#onlyNewPolicies && this.#policiesRevision !== null;
    return {
      details: this.#details(),
      labels: this.#labels,
      labelErrors: this.#labelErrors,
      labelsReported: this.#labelsReported,
      labelsRevision: this.#labelsRevision,
      policies: this.#policies,
      policyErrors: this.#policyErrors,
      policiesReported: this.#policiesReported,
      allPoliciesReported: this.#policiesReported && !areNew,
      policiesRevision: this.#policiesRevision,
      live: this.#live,
      additional: this.#additional,
    };
  }

  #details(): DetailResults {
    const details = new Map<string, DetailResult>();
    for (const [key, result] of detailResults({ queries: this.#queries, statuses: this.#statuses })) {
      if (!this.#byName.has(key)) continue;
      const rows = this.#queries[DETAIL_PREFIX + key];
      if (rows instanceof UnreadRows && result.ok) details.set(key, rows.result(ROWS_MAX));
      else if (result.rows.length <= ROWS_MAX) details.set(key, result);
      else details.set(key, { ok: result.ok, rows: result.rows.slice(0, ROWS_MAX) });
    }
    return details;
  }

  #addResult(name: string): void {
    if (name === NO_LABELS) this.#labelsReported = true;
    else if (name === NO_POLICIES) this.#policiesReported = true;
    else if (name.startsWith(LABELS_REVISION)) {
      this.#labelsReported = true;
      this.#labelsRevision = oldestRevision(this.#labelsRevision, name, LABELS_REVISION);
    } else if (name.startsWith(NEW_POLICIES_REVISION)) {
      this.#policiesReported = true;
      this.#policiesRevision = oldestRevision(this.#policiesRevision, name, NEW_POLICIES_REVISION);
    } else if (name.startsWith(POLICIES_REVISION)) {
      this.#policiesReported = true;
      this.#onlyNewPolicies = false;
      this.#policiesRevision = oldestRevision(this.#policiesRevision, name, POLICIES_REVISION);
    } else if (name.startsWith(LABEL_PREFIX)) this.#addLabel(name);
    else if (name.startsWith(POLICY_PREFIX)) this.#addPolicy(name);
    else if (name.startsWith(LIVE_PREFIX)) this.#addLive(name);
    else if (name.startsWith(ADDITIONAL_PREFIX) && this.#isOk(name) && this.#hasRows(name))
      this.#additional.set(name.slice(ADDITIONAL_PREFIX.length), additionalRows(this.#queries[name]));
  }

  #addLabel(name: string): void {
    this.#labelsReported = true;
    const id = idIn(name, LABEL_PREFIX);
    if (id === null) return;
    if (!this.#isOk(name)) this.#labelErrors.set(id, this.#messageOf(name));
    else if (this.#hasRows(name)) this.#labels.set(id, rowsOf(this.#queries[name]).length > 0);
  }

  #addPolicy(name: string): void {
    this.#policiesReported = true;
    const id = idIn(name, POLICY_PREFIX);
    if (id === null) return;
    const hasSucceeded = this.#isOk(name);
    this.#policies.set(id, hasSucceeded && this.#hasRows(name) ? rowsOf(this.#queries[name]).length > 0 : null);
    if (!hasSucceeded) this.#policyErrors.set(id, this.#messageOf(name));
  }

  #addLive(name: string): void {
    const id = idIn(name, LIVE_PREFIX);
    if (id === null) return;
    // A message along with rows and a success status is not an error.
    const unread = this.#hasRows(name) ? null : "the result was not stored: it has too many rows";
    const error = this.#isOk(name) ? unread : this.#messageOf(name) || "the query failed";
    const rows = rowsOf(this.#queries[name]).slice(0, ROWS_MAX);
    this.#live.set(id, { rows, error, stats: this.#stats[name] ?? null });
  }

  #isOk(name: string): boolean {
    return isOk(Object.hasOwn(this.#statuses, name) ? this.#statuses[name] : undefined);
  }

  #hasRows(name: string): boolean {
    return Object.hasOwn(this.#queries, name);
  }

  #messageOf(name: string): string {
    const message = Object.hasOwn(this.#messages, name) ? this.#messages[name] : undefined;
    return typeof message === "string" ? message : "";
  }
}

/**
 * Undelivered results are sent with the next ones. With several revisions present, use the oldest: which result belongs
 * to which is unknown.
 */
function oldestRevision(oldestSoFar: number | null, name: string, prefix: string): number | null {
  const digits = name.slice(prefix.length);
  return /^\d{1,15}$/.test(digits) ? Math.min(oldestSoFar ?? Number.POSITIVE_INFINITY, Number(digits)) : oldestSoFar;
}

const idIn = (name: string, prefix: string): number | null => {
  const digits = name.slice(prefix.length);
  return /^[1-9]\d{0,14}$/.test(digits) ? Number(digits) : null;
};

function additionalRows(value: unknown): AgentRow[] {
  const rows: AgentRow[] = [];
  let charactersLeft = ADDITIONAL_CHARACTERS_MAX;
  for (const row of rowsOf(value).slice(0, ADDITIONAL_ROWS_MAX)) {
    const cells = Object.keys(row).map((column) => [column, text(row, column, ADDITIONAL_CELL_MAX)] as const);
    charactersLeft -= cells.reduce((sum, [column, cell]) => sum + column.length + cell.length, 0);
    if (charactersLeft < 0) break;
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
