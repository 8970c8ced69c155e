// Validation rules of queries, with the API's error messages.
import {
  type QueryFields,
  type QueryLogging,
  queryFields,
  queryLoggings,
  queryPlatforms,
} from "../../../api/checks/queries.ts";
import { fallbacksOf, fieldNames, pickSet } from "../../../api/plain-fields.ts";
import { sqlProblem } from "../../../sql/syntax.ts";
import { badRequest } from "../../platform/core/errors.ts";
import type { QueryRow } from "./access.ts";

/** Labels that restrict a query to hosts with any of them, or with all of them. */
export interface QueryLabels {
  readonly ids: readonly number[];
  readonly all: boolean;
}

/** The stored form of a query name: NFC, trimmed. */
export const queryName = (name: string): string => name.normalize("NFC").trim();

const refused = (why: string, field: string) => badRequest(`query payload verification: ${why}`, field);

function checkedQueryName(input: string | undefined): string {
  const name = queryName(input ?? "");
  if (name === "") throw refused("query name cannot be empty", "name");
  return name;
}

function checkedSql(input: string | undefined): string {
  if ((input ?? "").trim() === "") throw refused("query's SQL query cannot be empty", "query");
  const problem = sqlProblem(input!);
  if (problem !== null) throw refused(problem, "query");
  return input!;
}

/** Normalizes the list: trimmed, without duplicates, in the given order. */
export function checkedPlatform(input: string): string {
  const words = input.split(",").map((word) => word.trim().toLowerCase());
  const named = words.filter((word) => word !== "");
  if (named.some((word) => !(queryPlatforms as readonly string[]).includes(word)))
    throw refused(
      "query's platform must be a comma-separated list of 'darwin', 'linux', 'windows', and/or 'chrome' in a single string",
      "platform",
    );
  return [...new Set(named)].join(",");
}

function checkedLogging(input: string): QueryLogging {
  const logging = input === "" ? "snapshot" : input;
  const match = queryLoggings.find((allowed) => allowed === logging);
  if (!match)
    throw refused(
      `query's logging must be one of ${queryLoggings.map((allowed) => `'${allowed}'`).join(", ")}`,
      "logging",
    );
  return match;
}

const plainNames = fieldNames(queryFields);
/** The columns that follow from requests. */
export const queryColumns = ["name", "query", "platform", "min_qengine_version", "logging", ...plainNames] as const;
export type QueryColumns = Pick<QueryRow, (typeof queryColumns)[number]>;

/** The validated columns that a payload sets. */
export function checkedFields(input: QueryFields): Partial<QueryColumns> {
  const set: Partial<QueryColumns> = pickSet(input, plainNames);
  if (input.name !== undefined) set.name = checkedQueryName(input.name);
  if (input.query !== undefined) set.query = checkedSql(input.query);
  if (input.platform !== undefined) set.platform = checkedPlatform(input.platform);
  if (input.min_qengine_version !== undefined) set.min_qengine_version = input.min_qengine_version.trim();
  if (input.logging !== undefined) set.logging = checkedLogging(input.logging);
  return set;
}

/** All columns; those missing from the payload get their defaults. */
export const wholeFields = (input: QueryFields): QueryColumns => ({
  platform: "",
  min_qengine_version: "",
  logging: "snapshot",
  ...fallbacksOf(queryFields),
  ...checkedFields(input),
  name: checkedQueryName(input.name),
  query: checkedSql(input.query),
});

/** Whether the change invalidates the stored report. */
export function outdatesReport(
  before: QueryRow,
  set: Partial<QueryColumns>,
  labels: { readonly before: QueryLabels; readonly after: QueryLabels | undefined },
): boolean {
  const differs = (column: "query" | "platform" | "min_qengine_version") =>
    set[column] !== undefined && set[column] !== before[column];
  return (
    differs("query") ||
    differs("platform") ||
    differs("min_qengine_version") ||
    (set.discard_data === true && !before.discard_data) ||
    (before.logging === "snapshot" && set.logging !== undefined && set.logging !== "snapshot") ||
    (labels.after !== undefined && !areSame(labels.before, labels.after))
  );
}

function areSame(a: QueryLabels, b: QueryLabels): boolean {
  const ids = new Set(a.ids);
  const isSameRule = a.all === b.all || ids.size === 0;
  return isSameRule && ids.size === new Set(b.ids).size && b.ids.every((id) => ids.has(id));
}

/** All stored texts of a platform list that contain this platform; empty text means all platforms. */
export function platformTexts(platform: string): string[] {
  const texts = [""];
  const grow = (chosen: readonly string[]) => {
    if (chosen.includes(platform)) texts.push(chosen.join(","));
    for (const next of queryPlatforms) if (!chosen.includes(next)) grow([...chosen, next]);
  };
  grow([]);
  return texts;
}
