import * as Flags from "@oclif/core/flags";
import { hostFacetNames } from "../../api/inventory/host-facets.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { labelFlag, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

export default class HostsFacets extends ClientCommand {
  static override summary = "Count hosts by the values of fields.";
  static override description =
    `The fields are ${hostFacetNames.join(", ")}. Each is counted among the hosts that match all filters except those on this ` +
    "field: with --status online, the counts of status are those of all hosts. The 20 values with most hosts are listed.";
  static override endpoints = [hostsApi.facets];
  static override flags = {
    by: Flags.string({
      required: true,
      helpValue: "FIELD,...",
      summary: "The fields to count by, separated by commas.",
    }),
    ...queryFlags(hostsApi.facets, ["by"]),
    ...teamFlag,
    ...labelFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --by platform,status",
    "<%= config.bin %> <%= command.id %> --by team,failing_policy --where 'platform = darwin and seen < 7d'",
  ];

  async run() {
    const { flags } = await this.parse(HostsFacets);
    const { by, ...filters } = flags;
    const query = queryOf(hostsApi.facets, filters, { ...(await this.hostFilter(flags)), by });
    const reply = await this.call(hostsApi.facets, { query });
    if (this.structured && this.format !== "csv")
      return this.printOne(reply, { schema: () => hostsApi.facets.response });
    const rows = reply.facets.flatMap(({ by: field, values, other }) => [
      ...values.map(({ value, label, count }) => ({ by: field, value: label ?? String(value), hosts: count })),
      ...(other > 0 ? [{ by: field, value: "(others)", hosts: other }] : []),
    ]);
    await this.printList(rows, { columns: ["by", { key: "value", whole: true }, "hosts"] });
  }
}
