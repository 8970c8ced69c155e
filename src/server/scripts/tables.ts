import { bool, id, int, packed, ref, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly scriptTexts: typeof scriptTexts;
    readonly scripts: typeof scripts;
    readonly scriptExecutions: typeof scriptExecutions;
  }
}

/** Texts of scripts, each stored once however many hosts have run it. */
export const scriptTexts = table("script_texts", {
  id: id(),
  /** SHA-256, hexadecimal. */
  digest: text().unique(),
  content: packed<string>(),
});

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
    /** That of the operation. */
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
