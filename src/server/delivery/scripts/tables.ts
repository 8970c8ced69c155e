import { bool, id, int, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly scripts: typeof scripts;
    readonly scriptExecutions: typeof scriptExecutions;
    readonly scriptBatches: typeof scriptBatches;
    readonly scriptBatchHosts: typeof scriptBatchHosts;
  }
}

export const scripts = table(
  "scripts",
  {
    id: id(),
    /** Null: for hosts without a team. */
    team_id: ref("teams").nullable().onDelete("cascade"),
    name: text(),
    text_id: ref("script_texts").onDelete("restrict"),
    created_at: time(),
    updated_at: time(),
  },
  { unique: [["team_id", "name"]], indexes: [["name"]] },
);

/** Runs of scripts. They outlive their host, so that results can be read after it was deleted. */
export const scriptExecutions = table(
  "script_executions",
  {
    id: id(),
    /** The uuid of the operation. */
    uuid: text().unique(),
    host_id: int(),
    hostname: text(),
    /** The host's team when it was asked for: it decides who may see the result once the host is gone. */
    team_id: ref("teams").nullable(),
    /** Null: not a saved script, or one that was deleted. */
    script_id: ref("scripts").nullable(),
    /** Empty if it was not a saved one. */
    script_name: text().default(""),
    text_id: ref("script_texts").onDelete("restrict"),
    /** The policy that asked for it. */
    policy_id: ref("policies").nullable(),
    /** The uuid of the batch run that it belongs to. */
    batch_uuid: text().nullable(),
    /** A user waits for the result. */
    is_sync: bool().default(false),
    state: text<"pending" | "ended" | "cancelled">().default("pending"),
    exit_code: int().nullable(),
    output: text().default(""),
    /** Seconds. */
    runtime: int().default(0),
    created_at: time(),
    ended_at: time().nullable(),
  },
  { indexes: [["host_id", "script_id"]] },
);

/** Runs of a saved script on many hosts. */
export const scriptBatches = table(
  "script_batches",
  {
    id: id(),
    uuid: text().unique(),
    created_at: time(),
    script_id: ref("scripts").nullable(),
    script_name: text(),
    team_id: ref("teams").nullable().onDelete("cascade"),
    /** Who has asked for it, and in whose name it runs. */
    user_id: int().nullable(),
    not_before: time().nullable(),
    status: text<"scheduled" | "started" | "finished">(),
    canceled: bool().default(false),
    /** Whether every host was looked at, so that it ends with the last answer. */
    is_queued: bool().default(false),
    started_at: time().nullable(),
    finished_at: time().nullable(),
    host_count: int(),
  },
  {
    indexes: [
      ["team_id", "id"],
      ["status", "not_before"],
    ],
  },
);

const batchStates = ["ran", "pending", "errored", "incompatible", "canceled"] as const;

/** The hosts of a batch run, which are fixed when it is created. They outlive the hosts themselves. */
export const scriptBatchHosts = table(
  "script_batch_hosts",
  {
    id: id(),
    batch_id: ref("script_batches").onDelete("cascade"),
    host_id: int(),
    display_name: text(),
    hostname: text(),
    state: text<(typeof batchStates)[number]>().default("pending"),
    /** Why the script was not run on the host, where there is no execution. */
    reason: text().default(""),
    /** Null: the run was not queued yet, or never will be. */
    execution_uuid: text().nullable().unique(),
    updated_at: time(),
  },
  { unique: [["batch_id", "host_id"]], indexes: [["batch_id", "state"]] },
);
