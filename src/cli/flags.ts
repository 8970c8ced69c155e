// Flags and arguments that commands share.
import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import { formats } from "./output.ts";

export const generalFlags = {
  "no-input": Flags.boolean({
    summary: "Never ask; fail and name what is missing. Env: SVC_NO_INPUT.",
    helpGroup: "GLOBAL",
  }),
  "no-color": Flags.boolean({ summary: "No colour. Env: NO_COLOR.", helpGroup: "GLOBAL" }),
};

export const outputFlags = {
  output: Flags.option({ options: formats })({
    char: "o",
    summary: "Format of the output. Env: SVC_OUTPUT.",
    helpGroup: "OUTPUT",
  }),
  fields: Flags.string({ summary: "Only these fields, e.g. id,team.name.", helpValue: "a,b.c", helpGroup: "OUTPUT" }),
  jq: Flags.string({
    summary: "Select from the JSON by this expression of jq's language; of ndjson, from each line.",
    helpValue: "EXPR",
    helpGroup: "OUTPUT",
  }),
  "no-header": Flags.boolean({ summary: "No header line (table and csv).", helpGroup: "OUTPUT" }),
};

export const connectionFlags = {
  "server-url": Flags.string({
    summary: "Server to talk to. Env: SVC_SERVER_URL.",
    helpValue: "URL",
    helpGroup: "SERVER",
  }),
  context: Flags.string({
    summary: "Saved server and sign-in to use. Env: SVC_CONTEXT.",
    helpValue: "NAME",
    helpGroup: "SERVER",
  }),
  "ca-file": Flags.string({
    summary: "Trust these authorities (PEM). Env: SVC_CA_FILE.",
    helpValue: "FILE",
    helpGroup: "SERVER",
  }),
  insecure: Flags.boolean({
    summary: "Do not check the server's certificate. Env: SVC_INSECURE.",
    helpGroup: "SERVER",
    allowNo: true,
  }),
  "request-timeout": Flags.integer({
    summary: "Seconds to wait for an answer (30). Env: SVC_REQUEST_TIMEOUT.",
    min: 1,
    helpGroup: "SERVER",
  }),
};

export const limitFlags = {
  limit: Flags.integer({ summary: "At most this many (100).", min: 1, exclusive: ["all"], helpGroup: "PAGING" }),
  all: Flags.boolean({ summary: "Everything there is.", helpGroup: "PAGING" }),
};

export const dryRunFlag = {
  "dry-run": Flags.boolean({ summary: "Check, and print what would change; change nothing." }),
};
export const yesFlag = { yes: Flags.boolean({ char: "y", summary: "Do not ask for confirmation." }) };
export const inputFlag = {
  input: Flags.string({
    summary: "Body as the API takes it, JSON or YAML; - is stdin. Flags win over it.",
    helpValue: "FILE",
  }),
};
export const teamFlag = { team: Flags.string({ summary: "Team, by name or id.", helpValue: "TEAM" }) };

export const args = {
  host: Args.string({ required: true, description: "id, hostname, uuid or serial number" }),
  hosts: Args.string({ description: "ids, hostnames, uuids or serial numbers" }),
  team: Args.string({ required: true, description: "name or id of the team" }),
  label: Args.string({ required: true, description: "name or id of the label" }),
  labels: Args.string({ description: "names of labels" }),
  policy: Args.string({ required: true, description: "name or id of the policy" }),
  policies: Args.string({ description: "names or ids of policies" }),
  query: Args.string({ required: true, description: "name or id of the query" }),
  queries: Args.string({ description: "names or ids of queries" }),
  pack: Args.string({ required: true, description: "name or id of the pack" }),
  user: Args.string({ required: true, description: "id, email or name of the user; me is yourself" }),
  context: Args.string({ required: true, description: "name of the context" }),
  required: (description: string) => Args.string({ required: true, description }),
  optional: (description: string) => Args.string({ description }),
};

/** Values of a repeatable flag, which may also be joined by commas. */
export const listOf = (values: readonly string[] | undefined): string[] =>
  (values ?? [])
    .flatMap((value) => value.split(","))
    .map((value) => value.trim())
    .filter((value) => value !== "");
