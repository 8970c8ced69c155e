import * as Args from "@oclif/core/args";
import { SearchResult, searchApi } from "../api/edge/search.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { teamFlag } from "../cli/flags.ts";
import { queryFlags, queryOf } from "../cli/query-flags.ts";

const view = {
  schema: () => SearchResult,
  columns: [
    { key: "type" },
    { key: "id" },
    { key: "name" },
    { key: "detail" },
    { key: "team_name", header: "team" },
    { key: "match.field", header: "matches" },
  ],
};

export default class Search extends ClientCommand {
  static override summary = "Search for hosts, users, policies, software and others by a part of their name.";
  static override description =
    "Shows a few results of each type that you may list: those that are equal to the text first, then those that start with it. The lists themselves " +
    "(`svc hosts list --query`) show all.";
  static override endpoints = [searchApi.search];
  static override args = {
    text: Args.string({ required: true, description: "part of a name, serial number, address or CVE" }),
  };
  static override flags = { ...queryFlags(searchApi.search, ["query"]), ...teamFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> firefox",
    "<%= config.bin %> <%= command.id %> mac-42 --types hosts,policies --team Workstations",
  ];

  async run() {
    const { args, flags } = await this.parse(Search);
    const team = await this.teamFilter(flags.team);
    const query = { ...queryOf(searchApi.search, flags, team), query: args.text };
    const { results } = await this.call(searchApi.search, { query });
    await this.printList(results, view);
  }
}
