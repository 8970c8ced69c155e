import * as Flags from "@oclif/core/flags";
import { Query, queryFields, queryLoggings } from "../../../api/checks/queries.ts";
import { ScheduledEntry } from "../../../api/checks/schedule.ts";
import { fieldNames } from "../../../api/plain-fields.ts";
import { listOf, secondsFlag } from "../../flags.ts";
import type { View } from "../../output/output.ts";
import { fieldsOfFlags, plainFlags } from "../../plain-flags.ts";

/** Columns for saved queries: global ones, and those of the named team. */
export const savedQueryView = (team: string | null = null): View => ({
  schema: () => Query,
  columns: [
    { key: "id" },
    { key: "name", least: 20 },
    { key: "team_id", header: "team", spare: 1, text: (id) => (id === null ? "global" : (team ?? String(id))) },
    { key: "interval" },
    { key: "platform" },
    { key: "logging" },
    { key: "automations_enabled", header: "automations" },
    { key: "author_name", header: "author", spare: 2 },
  ],
});

export const savedQueryFlags = {
  name: Flags.string({ summary: "Name." }),
  query: Flags.string({ summary: "SQL of the query.", helpValue: "SQL" }),
  ...plainFlags(queryFields),
  interval: secondsFlag({
    summary: "Interval of scheduled runs: seconds, or 10m, 1h, 1d; 0: not scheduled.",
    helpValue: "1h",
  }),
  platform: Flags.string({ summary: "Only on these platforms, separated by commas: darwin, linux, windows, chrome." }),
  "min-qengine-version": Flags.string({ summary: "Only on agents with this version or a newer one." }),
  logging: Flags.option({ options: queryLoggings })({ summary: "What hosts log for each run." }),
  "labels-include-any": Flags.string({
    summary: "Only on hosts with any of these labels (premium).",
    helpValue: "NAME,NAME",
    multiple: true,
  }),
  "labels-include-all": Flags.string({
    summary: "Only on hosts with all of these labels (premium).",
    helpValue: "NAME,NAME",
    multiple: true,
  }),
};

const plain = ["name", "query", "platform", "min_qengine_version", "logging", ...fieldNames(queryFields)];

/** The body fields from the flags. */
export function savedQueryFields(
  flags: Readonly<Record<string, unknown>> & {
    "labels-include-any"?: string[] | undefined;
    "labels-include-all"?: string[] | undefined;
  },
): Record<string, unknown> {
  const { "labels-include-any": any, "labels-include-all": all } = flags;
  return {
    ...fieldsOfFlags(flags, plain),
    ...(any === undefined ? {} : { labels_include_any: listOf(any) }),
    ...(all === undefined ? {} : { labels_include_all: listOf(all) }),
  };
}

export const entryView: View = {
  schema: () => ScheduledEntry,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "query_name", header: "query" },
    { key: "interval" },
    { key: "snapshot" },
    { key: "removed" },
    { key: "platform" },
    { key: "version" },
    { key: "shard" },
  ],
};

export const entryFlags = {
  interval: secondsFlag({ summary: "Interval of runs: seconds, or 10m, 1h, 1d.", helpValue: "1h", min: 1 }),
  snapshot: Flags.boolean({ summary: "Log all rows of each run (a snapshot) instead of the changes.", allowNo: true }),
  removed: Flags.boolean({ summary: "With changes, also log removed rows.", allowNo: true }),
  platform: Flags.string({ summary: "Only on these platforms, separated by commas: darwin, linux, windows." }),
  version: Flags.string({ summary: "Only on agents with this version or a newer one." }),
  shard: Flags.integer({ summary: "Percentage of hosts that run it.", min: 1, max: 100 }),
};

export const entryFields = (flags: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  fieldsOfFlags(flags, [
    "interval",
    "snapshot",
    "removed",
    "platform",
    "version",
    "shard",
    "name",
    "description",
    "denylist",
  ]);
