import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import { reportsApi } from "../api/edge/reports.ts";
import type { AnyEndpoint } from "../api/endpoint.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { usage } from "../cli/errors.ts";
import { outFlag, saveExport } from "../cli/export.ts";
import { connectionFlags, generalFlags, teamFlag } from "../cli/flags.ts";

const reports: Readonly<Record<string, AnyEndpoint>> = {
  labels: reportsApi.labels,
  policies: reportsApi.policies,
  queries: reportsApi.queries,
  "software-titles": reportsApi.softwareTitles,
  "software-versions": reportsApi.softwareVersions,
  users: reportsApi.users,
  vulnerabilities: reportsApi.vulnerabilities,
};

export default class Report extends ClientCommand {
  // -o is the output file here, and the format is fixed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override summary = "Export a list as CSV: software, vulnerabilities, policies, users, labels or queries.";
  static override description =
    "Contains all rows that match the filters, which are those of the list's endpoint. The file is complete, or it is not written. Cells that a spreadsheet " +
    "would run as a formula begin with an apostrophe. Hosts have their own command: `svc hosts report`.";
  static override endpoints = [...Object.values(reports), reportsApi.teamPolicies];
  static override args = {
    list: Args.string({ required: true, options: Object.keys(reports), description: "the list" }),
  };
  static override flags = {
    ...outFlag,
    columns: Flags.string({ summary: "Fields, separated by commas; default: all.", helpValue: "FIELD,FIELD" }),
    filter: Flags.string({
      summary: "Parameter of the list; can be given several times.",
      helpValue: "NAME=VALUE",
      multiple: true,
    }),
    "order-key": Flags.string({ summary: "Order rows by this field." }),
    "order-direction": Flags.option({ options: ["asc", "desc"] as const })({ summary: "Direction of the order." }),
    ...teamFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> software-titles --filter vulnerable=true --columns name,source,hosts_count -o software.csv",
    "<%= config.bin %> <%= command.id %> policies --team Workstations",
    "<%= config.bin %> <%= command.id %> policies",
    "<%= config.bin %> <%= command.id %> software-versions --filter vulnerable=true",
    "<%= config.bin %> <%= command.id %> vulnerabilities",
    "<%= config.bin %> <%= command.id %> queries",
    "<%= config.bin %> <%= command.id %> labels",
    "<%= config.bin %> <%= command.id %> users",
  ];

  async run() {
    const { args, flags } = await this.parse(Report);
    const { team_id } = await this.teamFilter(flags.team);
    const query: Record<string, string> = Object.fromEntries((flags.filter ?? []).map(parameterOf));
    for (const [name, value] of [
      ["columns", flags.columns],
      ["order_key", flags["order-key"]],
      ["order_direction", flags["order-direction"]],
    ] as const)
      if (value !== undefined) query[name] = value;
    const isOfTeam = args.list === "policies" && team_id !== undefined;
    if (team_id !== undefined && !isOfTeam) query.team_id = String(team_id);
    await this.requireToken();
    const client = await this.client();
    const options = { signal: this.stop.signal };
    const { body } = isOfTeam
      ? await client.open(reportsApi.teamPolicies, { params: { id: String(team_id) }, query }, options)
      : await client.open(reports[args.list]!, { query }, options);
    await saveExport(this, body, flags.out);
  }
}

function parameterOf(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at <= 0) throw usage(`--filter: ${text} is not NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}
