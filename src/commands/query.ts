import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import { labelsApi } from "../api/hosts/labels.ts";
import { liveQueriesApi } from "../api/inventory/live-queries.ts";
import { targetsApi } from "../api/inventory/targets.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { usage } from "../cli/errors.ts";
import { readText } from "../cli/files/input.ts";
import { dryRunFlag } from "../cli/flags.ts";
import { durationMs } from "../cli/output/text.ts";
import { LiveQueries, needTargets, targetFlags } from "../cli/topics/queries/live.ts";
import { plural } from "../text/plural.ts";

export default class Query extends ClientCommand {
  static override summary = "Run SQL on hosts immediately; rows are printed as they arrive.";
  static override description =
    "Ends when every host that is online has replied. The last line on stderr counts all targets by outcome; exit code 6 if some did not reply. An interrupt cancels the query.";
  static override endpoints = [liveQueriesApi.create, liveQueriesApi.stream];
  static override args = { sql: Args.string({ description: "SQL; - reads it from stdin" }) };
  static override flags = {
    query: Flags.string({ summary: "A saved query instead of SQL, by name or id.", helpValue: "NAME" }),
    ...targetFlags,
    where: Flags.string({
      summary: "Hosts that this expression selects.",
      helpValue: "EXPRESSION",
      helpGroup: "TARGETS",
    }),
    "all-hosts": Flags.boolean({
      summary: "Every host.",
      exclusive: ["hosts", "labels", "teams", "where"],
      helpGroup: "TARGETS",
    }),
    timeout: Flags.string({ summary: "How long to wait for hosts (5m).", helpValue: "30s" }),
    "queue-until": Flags.string({
      summary: "Also run the query on hosts that come online within this time; the command does not wait for them.",
      helpValue: "24h",
      exclusive: ["timeout"],
    }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'SELECT version FROM os_version' --hosts mac-1.example.com",
    "<%= config.bin %> <%= command.id %> 'SELECT name FROM apps' --where 'platform = darwin' -o csv",
  ];

  readonly #live = new LiveQueries(this);

  async run() {
    const { args, flags } = await this.parse(Query);
    if ((args.sql === undefined) === (flags.query === undefined))
      throw usage("give either SQL or --query", `For example: svc query 'SELECT 1' --hosts HOST`);
    const what =
      flags.query === undefined
        ? { query: args.sql === "-" ? await readText(this.io, "-", "the SQL") : args.sql! }
        : { query_id: (await this.savedQuery(flags.query)).id };
    const selected = flags["all-hosts"]
      ? { hosts: [], teams: [], labels: [await this.#allHosts()] }
      : await this.#live.selected(flags);
    if (selected === null && flags.where === undefined) throw needTargets();
    const body = {
      ...what,
      ...(selected === null ? {} : { selected }),
      ...(flags.where === undefined ? {} : { where: flags.where }),
      ...(flags["queue-until"] === undefined
        ? { timeout: durationMs(flags.timeout ?? "5m", "--timeout") / 1000 }
        : { queue_until: durationMs(flags["queue-until"], "--queue-until") / 1000 }),
    };
    if (flags["dry-run"]) {
      await this.tryOut(liveQueriesApi.create, { body });
      return this.#plan(body);
    }
    const { live_query: query } = await this.call(liveQueriesApi.create, { body });
    const counts = await this.#live.follow(query, { detach: query.queue_until !== null });
    if (query.queue_until !== null && counts.waiting > 0)
      this.note(`the query also runs on hosts that come online later: svc queries live follow ${query.id}`);
    await this.#live.nameOffline(counts, flags["all-hosts"] ? "id > 0" : flags.where);
    this.#live.account(counts, query.queue_until);
  }

  async #allHosts(): Promise<number> {
    const { labels } = await this.call(labelsApi.summary);
    return labels.find(({ name, label_type }) => name === "All Hosts" && label_type === "builtin")!.id;
  }

  async #plan(body: { selected?: { hosts: number[]; labels: number[]; teams: number[] }; where?: string }) {
    if (body.selected === undefined || body.where !== undefined)
      return this.printPlan("run a live query", body.where ?? "");
    const counts = await this.call(targetsApi.count, { body: { selected: body.selected } });
    await this.printPlan(
      `run a live query on ${plural(counts.targets_count, "host")}, ${counts.targets_online} of them online`,
      body.selected,
    );
  }
}
