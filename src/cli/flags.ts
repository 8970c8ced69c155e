// Flags and arguments that commands share.
import * as Args from "@oclif/core/args";
import { CLIError } from "@oclif/core/errors";
import * as Flags from "@oclif/core/flags";
import { printable } from "../text/printable.ts";
import { formats } from "./output/output.ts";
import { wholeSeconds } from "./output/text.ts";

/** A flag that takes a duration, in whole seconds: `600` or `10m`. */
export const secondsFlag = Flags.custom<number, { min?: number }>({
  helpValue: "10m",
  parse: async (text, _, { min = 0 }) => {
    const seconds = wholeSeconds(text);
    // `parse-errors.ts` makes a usage error of these, as of the errors of integer flags.
    if (seconds === null) throw new CLIError(`Expected a duration but received: ${text}`);
    if (seconds < min) throw new CLIError(`Expected an integer greater than or equal to ${min} but received: ${text}`);
    return seconds;
  },
});

export const generalFlags = {
  "no-input": Flags.boolean({
    summary: "Never ask; if something is missing, fail and name it. Env: SVC_NO_INPUT.",
    helpGroup: "GLOBAL",
  }),
  "no-color": Flags.boolean({ summary: "No colours. Env: NO_COLOR.", helpGroup: "GLOBAL" }),
};

export const outputFlags = {
  output: Flags.option({ options: formats })({
    char: "o",
    summary: "Output format. Env: SVC_OUTPUT.",
    helpGroup: "OUTPUT",
  }),
  fields: Flags.string({ summary: "Only these fields, e.g. id,team.name.", helpValue: "a,b.c", helpGroup: "OUTPUT" }),
  jq: Flags.string({
    summary: "Apply this jq expression to the JSON, or with ndjson to each line.",
    helpValue: "EXPR",
    helpGroup: "OUTPUT",
  }),
  template: Flags.string({
    summary: "Print each row as this text, in which {a.b} is the value of a field.",
    helpValue: "TEXT",
    exclusive: ["output", "json", "fields", "jq"],
    helpGroup: "OUTPUT",
  }),
  sort: Flags.string({
    summary: "Order rows by this field; FIELD:desc reverses the order.",
    helpValue: "FIELD",
    exclusive: ["order-key"],
    helpGroup: "OUTPUT",
  }),
  "no-header": Flags.boolean({ summary: "No header line (table and csv).", helpGroup: "OUTPUT" }),
};

export const connectionFlags = {
  "server-url": Flags.string({
    summary: "URL of the server. Env: SVC_SERVER_URL.",
    helpValue: "URL",
    helpGroup: "SERVER",
  }),
  context: Flags.string({
    summary: "Saved server and sign-in to use. Env: SVC_CONTEXT.",
    helpValue: "NAME",
    helpGroup: "SERVER",
  }),
  "ca-file": Flags.string({
    summary: "File with certificates to trust (PEM). Env: SVC_CA_FILE.",
    helpValue: "FILE",
    helpGroup: "SERVER",
  }),
  insecure: Flags.boolean({
    summary: "Do not check the server's certificate. Env: SVC_INSECURE.",
    helpGroup: "SERVER",
    allowNo: true,
  }),
  "request-timeout": secondsFlag({
    summary: "Time to wait for a reply: seconds, or 5s, 10m, 1h (30s). Env: SVC_REQUEST_TIMEOUT.",
    helpValue: "30s",
    min: 1,
    helpGroup: "SERVER",
  }),
};

export const limitFlags = {
  limit: Flags.integer({ summary: "Maximum number of rows (100).", min: 1, exclusive: ["all"], helpGroup: "PAGING" }),
  all: Flags.boolean({ summary: "All rows.", helpGroup: "PAGING" }),
};

export const dryRunFlag = {
  "dry-run": Flags.boolean({ summary: "Check the request and print what would change, without changing it." }),
};
export const yesFlag = { yes: Flags.boolean({ char: "y", summary: "Do not ask for confirmation." }) };
export const inputFlag = {
  input: Flags.string({
    summary: "File with the request body, as JSON or YAML; - is stdin. Flags take precedence.",
    helpValue: "FILE",
  }),
};
export const labelFlag = {
  label: Flags.string({ summary: "Name or id of the label.", helpValue: "LABEL", exclusive: ["label-id"] }),
};
export const teamFlag = { team: Flags.string({ summary: "Name or id of the team.", helpValue: "TEAM" }) };

/** Whether the text means hosts without a team. */
export const isNoTeam = (text: string): boolean => text === "0" || /^(none|no team)$/i.test(text.trim());

/** Names the owner of what a command changes: a team, or hosts without a team. */
export const ofTeam = (team: string | undefined): string =>
  team === undefined || isNoTeam(team) ? "hosts without a team" : `team ${printable(team)}`;

/** The message of an empty list that shows only one team's things at a time. */
export const noneOfTeam = (team: string | undefined): string =>
  team === undefined ? "none found for hosts without a team; --team TEAM lists those of a team" : "none found";

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
  user: Args.string({ required: true, description: "id, email or name of the user; `me` is you" }),
  context: Args.string({ required: true, description: "name of the context" }),
  required: (description: string) => Args.string({ required: true, description }),
  optional: (description: string) => Args.string({ description }),
};

/** Values of a repeatable flag; each may contain several values, separated by commas. */
export const listOf = (values: readonly string[] | undefined): string[] =>
  (values ?? [])
    .flatMap((value) => value.split(","))
    .map((value) => value.trim())
    .filter((value) => value !== "");
