import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import { type ChartMetric, chartMetricNames, chartMetrics } from "../api/inventory/chart-metrics.ts";
import { chartsApi } from "../api/inventory/charts.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { teamFlag } from "../cli/flags.ts";
import { queryFlags, queryOf } from "../cli/query-flags.ts";
import { blocks, figuresOf } from "../cli/topics/charts.ts";

/** For terminals that do not say how wide they are. */
const MIN_WIDTH = 40;

export default class Charts extends ClientCommand {
  static override summary = "Show numbers of hosts over time.";
  static override description = [
    "On a terminal the chart is a line of blocks; elsewhere, and with --table or an output format, it is a table.",
    "",
    ...chartMetricNames.map((name) => {
      const { summary, isPremium } = chartMetrics[name];
      return `${name}: ${summary}${isPremium ? " (premium)" : ""}`;
    }),
  ].join("\n");
  static override endpoints = [chartsApi.get];
  static override args = {
    metric: Args.custom<ChartMetric>({ options: [...chartMetricNames] })({ required: true, description: "the metric" }),
  };
  static override flags = {
    ...queryFlags(chartsApi.get, ["tz_offset"]),
    "tz-offset": Flags.integer({
      summary:
        "Minutes west of UTC: points begin at full hours and days there. Default: the time zone of this machine.",
      helpValue: "MINUTES",
    }),
    table: Flags.boolean({ summary: "Print a table on a terminal too." }),
    ...teamFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> uptime",
    "<%= config.bin %> <%= command.id %> uptime --days 30 --resolution 24 --team Workstations -o csv",
    "<%= config.bin %> <%= command.id %> cve --days 31 --software-filters browsers,os --severity-min 7",
  ];

  async run() {
    const { args, flags } = await this.parse(Charts);
    const query = queryOf(chartsApi.get, flags, {
      ...(await this.teamFilter(flags.team)),
      tz_offset: String(flags["tz-offset"] ?? this.io.now().getTimezoneOffset()),
    });
    const chart = await this.call(chartsApi.get, { params: { metric: args.metric }, query });
    if (this.format === "json" || this.format === "yaml")
      return this.printOne(chart, { schema: () => chartsApi.get.response });
    const isDrawn = this.io.tty.stdout && !this.structured && !flags.table && this.common.fields === undefined;
    if (!isDrawn) return this.printList(chart.data, { columns: ["timestamp", "value"] });
    const values = chart.data.map(({ value }) => value);
    this.log(`${chart.metric}, ${chart.days} ${chart.days === 1 ? "day" : "days"}, ${chart.resolution}`);
    this.log(blocks(values, Math.max(MIN_WIDTH, this.io.columns)));
    this.log(figuresOf(chart.data, chart.total_hosts));
  }
}
