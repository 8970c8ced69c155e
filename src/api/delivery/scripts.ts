// Scripts that managed agents run: saved ones, and their runs on hosts.
import { z } from "zod";
import { Content, multipart, smallFile } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import {
  Empty,
  Id,
  IdParam,
  Meta,
  nameText,
  pagingAfter,
  QueryFlag,
  QueryTeam,
  Timestamp,
  unchanged,
} from "../fields.ts";

/** 1.5 MiB, for saved scripts. */
export const SCRIPT_MAX = 1.5 * 1024 * 1024;
/** Scripts of a team, and the size of the request that replaces all of them. */
export const SCRIPTS_MAX = 1_000;
const SCRIPTS_BODY_MAX = 25 * 1024 * 1024;
/** Characters; scripts in requests have to have fewer. */
export const SCRIPT_CONTENTS_MAX = 10_000;

export const Script = z.object({
  id: Id,
  team_id: Id.nullable().meta({ description: "null: hosts without a team" }),
  name: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Script = z.infer<typeof Script>;

export const HostScript = z.object({
  script_id: Id,
  name: z.string(),
  last_execution: z
    .object({ execution_id: z.string(), executed_at: Timestamp, status: z.enum(["pending", "ran", "error"]) })
    .nullable(),
});
export type HostScript = z.infer<typeof HostScript>;

export const ScriptResult = z.object({
  script_contents: z
    .string()
    .meta({ description: "empty if it is a saved script of a team whose scripts you may not read" }),
  script_id: Id.nullable(),
  exit_code: z
    .int()
    .nullable()
    .meta({ description: "null while waiting; -1: no end in time, -2: scripts are disabled" }),
  output: z.string(),
  message: z.string(),
  hostname: z.string(),
  host_timeout: z.boolean(),
  host_id: Id,
  execution_id: z.string(),
  runtime: z.int().meta({ description: "seconds" }),
  created_at: Timestamp,
});
export type ScriptResult = z.infer<typeof ScriptResult>;

const run = z.object({
  host_id: Id,
  script_id: Id.nullish(),
  script_contents: z
    .string()
    .nullish()
    .meta({ description: `fewer than ${SCRIPT_CONTENTS_MAX} characters` }),
  script_name: nameText().nullish().meta({ description: "of a script of the team team_id" }),
  team_id: z.int().min(0).nullish().meta({ description: "with script_name; 0, or absent: hosts without a team" }),
});
export type ScriptRun = z.output<typeof run>;

const file = smallFile({ limit: SCRIPT_MAX });
const params = z.object({ id: IdParam });
const read = { action: "scripts:read", scope: "team" } as const;
const write = { action: "scripts:write", scope: "team" } as const;
const running = { action: "scripts:run", scope: "team" } as const;

export const scriptsApi = {
  list: endpoint({
    method: "GET",
    path: "/scripts",
    summary: "List the saved scripts of a team, or of hosts without a team.",
    access: read,
    query: pagingAfter("id", "name", "created_at", "updated_at").extend({ team_id: QueryTeam.optional() }),
    response: z.object({ scripts: z.array(Script), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/scripts/:id",
    summary: "Show a saved script, or download its file.",
    access: read,
    params,
    query: z.object({ alt: z.enum(["media"]).optional().meta({ description: "media: the file" }) }),
    produces: "application/octet-stream",
    response: z.union([Script, Content]),
  }),
  create: endpoint({
    method: "POST",
    path: "/scripts",
    summary: "Save a script.",
    access: write,
    body: multipart({ team_id: QueryTeam.optional() }, { script: file }),
    response: z.object({ script_id: Id }),
  }),
  update: endpoint({
    method: "PATCH",
    path: "/scripts/:id",
    summary: "Replace the contents of a saved script.",
    access: write,
    params,
    body: multipart({ team_id: unchanged(QueryTeam) }, { script: file }),
    response: Script,
  }),
  replace: endpoint({
    method: "POST",
    path: "/scripts/batch",
    summary: "Replace all saved scripts of a team, or of hosts without a team.",
    access: write,
    query: z.object({
      team_id: QueryTeam.optional(),
      team_name: nameText().optional().meta({ premium: true, description: "instead of team_id (premium)" }),
      dry_run: QueryFlag.optional(),
    }),
    bodyLimit: SCRIPTS_BODY_MAX,
    body: z.strictObject({
      scripts: z
        .array(z.strictObject({ name: nameText(), script_contents: z.string().max(2 * SCRIPT_MAX) }))
        .max(SCRIPTS_MAX)
        .meta({ description: "script_contents in base64" }),
    }),
    response: z.object({
      scripts: z
        .array(z.object({ team_id: Id.nullable(), id: Id, name: z.string() }))
        .nullable()
        .meta({ description: "null: a dry run" }),
    }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/scripts/:id",
    summary: "Delete a saved script.",
    access: write,
    params,
    status: 204,
    response: Empty,
  }),
  ofHost: endpoint({
    method: "GET",
    path: "/hosts/:id/scripts",
    summary: "List the saved scripts that can run on a host, with their last run on it.",
    access: read,
    params,
    query: pagingAfter("name"),
    response: z.object({ scripts: z.array(HostScript), meta: Meta }),
  }),
  run: endpoint({
    method: "POST",
    path: "/scripts/run",
    summary: "Run a script on a host as soon as it is online.",
    access: running,
    body: run,
    status: 202,
    response: z.object({ host_id: Id, execution_id: z.string() }),
  }),
  runSync: endpoint({
    method: "POST",
    path: "/scripts/run/sync",
    summary: "Run a script on a host that is online, and wait for its result.",
    access: running,
    body: run,
    dryRun: "it waits for what the host answers",
    isSlow: true,
    otherStatus: [408],
    response: ScriptResult,
  }),
  result: endpoint({
    method: "GET",
    path: "/scripts/results/:execution_id",
    summary: "Show the result of a run, also on a host that was deleted since.",
    access: read,
    params: z.object({ execution_id: z.string().min(1).max(255) }),
    response: ScriptResult,
  }),
};
