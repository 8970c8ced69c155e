import * as Flags from "@oclif/core/flags";
import { liveQueriesApi } from "../../api/inventory/live-queries.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, usage } from "../../cli/errors.ts";
import { args, dryRunFlag, listOf } from "../../cli/flags.ts";
import { LiveQueries } from "../../cli/topics/queries/live.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";

export default class QueriesRun extends ClientCommand {
  static override summary = "Run saved queries on hosts and wait for the results.";
  static override description =
    "`svc query --query NAME` prints rows as they arrive and has other targets than hosts. Exit code 6 if some hosts did not reply.";
  static override endpoints = [liveQueriesApi.runSaved, liveQueriesApi.runMany];
  static override args = { queries: args.required("name or id of the query; more follow it") };
  static override strict = false;
  static override flags = {
    hosts: Flags.string({
      summary: "Hosts, by id, hostname, uuid or serial number.",
      multiple: true,
      required: true,
      helpValue: "HOST",
    }),
    team: Flags.string({ summary: "Team whose queries these are, by name or id.", helpValue: "TEAM" }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'USB devices' --hosts mac-1.example.com",
    "<%= config.bin %> <%= command.id %> 'USB devices' 'Local users' --hosts mac-1.example.com -o json",
  ];

  readonly #live = new LiveQueries(this);

  async run() {
    const { argv, flags } = await this.parse(QueriesRun);
    const queries = [];
    for (const name of listOf(argv as string[])) queries.push(await this.savedQuery(name, flags.team));
    const host_ids = [];
    for (const name of listOf(flags.hosts)) host_ids.push((await this.host(name)).id);
    if (queries.length === 0 || host_ids.length === 0) throw usage("a query and --hosts are required");
    const names = queries.map(({ name }) => name).join(", ");
    if (flags["dry-run"]) {
      // The server applies the same checks, without waiting for results.
      const selected = { hosts: host_ids, labels: [], teams: [] };
      for (const { id } of queries) await this.tryOut(liveQueriesApi.create, { body: { query_id: id, selected } });
      return this.printPlan(`run ${names} on ${plural(host_ids.length, "host")}`, { host_ids });
    }
    const progress = this.progress(`waiting for ${plural(host_ids.length, "host")} ...`);
    const ran = await this.#ran(
      queries.map(({ id }) => id),
      host_ids,
    ).finally(() => progress.done());
    const rows = [];
    let missing = 0;
    for (const { query_id, error, results = [] } of ran) {
      const query = queries.find(({ id }) => id === query_id)?.name ?? String(query_id);
      if (error !== undefined) this.note(`${printable(query)}: ${printable(error)}`);
      missing += host_ids.length - results.filter((result) => result.error === null).length;
      for (const result of results) {
        if (result.error !== null) this.note(`${printable(query)}: host ${result.host_id}: ${printable(result.error)}`);
        for (const row of result.rows)
          rows.push({ ...(queries.length > 1 ? { query_name: query } : {}), host_id: result.host_id, ...row });
      }
    }
    await this.printList(rows, { columns: [...new Set(rows.flatMap((row) => Object.keys(row)))] }, "no rows");
    if (missing > 0) throw new CliError("partial", `${plural(missing, "result")} missing or failed`);
  }

  async #ran(ids: readonly number[], host_ids: number[]) {
    if (ids.length > 1) {
      const query = { query_ids: ids.join(), host_ids: host_ids.join() };
      return (await this.call(liveQueriesApi.runMany, { query })).live_query_results;
    }
    const { query_id, results } = await this.call(liveQueriesApi.runSaved, {
      params: { id: ids[0]! },
      body: { host_ids },
    });
    return [{ query_id, results, error: undefined }];
  }
}
