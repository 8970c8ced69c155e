import * as Flags from "@oclif/core/flags";
import { Query, queryLoggings } from "../api/queries.ts";
import { ScheduledEntry } from "../api/schedule.ts";
import { listOf } from "./flags.ts";
import type { View } from "./output.ts";

export const savedQueryView: View = {
  schema: Query,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "team_id", header: "team" },
    { key: "interval" },
    { key: "platform" },
    { key: "logging" },
    { key: "automations_enabled", header: "automations" },
    { key: "author_name", header: "author" },
  ],
};

export const savedQueryFlags = {
  name: Flags.string({ summary: "Name." }),
  query: Flags.string({ summary: "What is asked.", helpValue: "SQL" }),
  description: Flags.string({ summary: "What it is for." }),
  interval: Flags.integer({ summary: "Seconds from one run to the next; 0: not scheduled.", min: 0 }),
  platform: Flags.string({ summary: "Only on these: darwin, linux, windows, chrome; joined by commas." }),
  "min-qengine-version": Flags.string({ summary: "Only on agents of this version or newer." }),
  logging: Flags.option({ options: queryLoggings })({ summary: "What hosts log of each run." }),
  "automations-enabled": Flags.boolean({ summary: "Send answers to the log destination.", allowNo: true }),
  "observer-can-run": Flags.boolean({ summary: "Observers may run it live.", allowNo: true }),
  "discard-data": Flags.boolean({ summary: "Keep no report of the answers.", allowNo: true }),
  "labels-include-any": Flags.string({
    summary: "Only on hosts with any of these labels (premium).",
    helpValue: "NAME,NAME",
    multiple: true,
  }),
};

const plain = [
  "name",
  "query",
  "description",
  "interval",
  "platform",
  "min-qengine-version",
  "logging",
  "automations-enabled",
  "observer-can-run",
  "discard-data",
];

const fieldsOf = (flags: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.filter((name) => flags[name] !== undefined).map((name) => [name.replaceAll("-", "_"), flags[name]]),
  );

/** The body fields that the flags give. */
export function savedQueryFields(
  flags: Readonly<Record<string, unknown>> & { "labels-include-any"?: string[] | undefined },
): Record<string, unknown> {
  const labels = flags["labels-include-any"];
  return {
    ...fieldsOf(flags, plain),
    ...(labels === undefined ? {} : { labels_include_any: listOf(labels) }),
  };
}

export const entryView: View = {
  schema: ScheduledEntry,
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
  interval: Flags.integer({ summary: "Seconds from one run to the next.", min: 1 }),
  snapshot: Flags.boolean({ summary: "Log whole answers, not what changed.", allowNo: true }),
  removed: Flags.boolean({ summary: "Of changes, log also what went.", allowNo: true }),
  platform: Flags.string({ summary: "Only on these: darwin, linux, windows; joined by commas." }),
  version: Flags.string({ summary: "Only on agents of this version or newer." }),
  shard: Flags.integer({ summary: "Percent of the hosts that run it.", min: 1, max: 100 }),
};

export const entryFields = (flags: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  fieldsOf(flags, [
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
