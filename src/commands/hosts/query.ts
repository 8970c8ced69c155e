import { liveQueriesApi } from "../../api/inventory/live-queries.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, failed } from "../../cli/errors.ts";
import { readText } from "../../cli/files/input.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { explainRefusal } from "../../cli/topics/queries/live-refusal.ts";
import { ApiCallError, NotInPath } from "../../client/errors.ts";
import { printable } from "../../text/printable.ts";

export default class HostsQuery extends ClientCommand {
  static override summary = "Run SQL on one host and wait for the result.";
  static override description = "Exit code 6 if the host is offline or does not reply in time.";
  static override endpoints = [liveQueriesApi.onHost, liveQueriesApi.onHostByIdentifier];
  static override args = { host: args.host, sql: args.required("SQL; - reads it from stdin") };
  static override flags = { ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com 'SELECT version FROM os_version'",
    "<%= config.bin %> <%= command.id %> 1 'SELECT version FROM os_version' -o json",
  ];

  async run() {
    const { args, flags } = await this.parse(HostsQuery);
    const query = args.sql === "-" ? await readText(this.io, "-", "the SQL") : args.sql;
    const body = { query };
    if (flags["dry-run"]) {
      const { id, display_name } = await this.host(args.host);
      const what = `run ${JSON.stringify(query)} on ${printable(display_name)}`;
      // The server applies the same checks, without waiting for results.
      const selected = { hosts: [id], labels: [], teams: [] };
      await this.tryOut(liveQueriesApi.create, { body: { ...body, selected } });
      return this.printPlan(what, { host: args.host });
    }
    const progress = this.progress("waiting for the host ...");
    const reply = await this.#ask(args.host, body).finally(() => progress.done());
    if (reply.status === "offline")
      throw new CliError(
        "partial",
        "the host is offline",
        "`svc query --queue-until 24h` runs the query when the host is back online.",
      );
    if (reply.rows === null)
      throw new CliError(
        "partial",
        reply.error ?? "the host did not reply in time",
        "Hosts reply at their next check-in.",
      );
    if (reply.error !== null) throw failed(reply.error);
    const columns = [...new Set(reply.rows.flatMap((row) => Object.keys(row)))];
    await this.printList(reply.rows, { columns }, "no rows");
  }

  override explain = explainRefusal;

  async #ask(host: string, body: { query: string }) {
    if (/^[1-9]\d{0,14}$/.test(host)) return this.call(liveQueriesApi.onHost, { params: { id: host }, body });
    try {
      return await this.call(liveQueriesApi.onHostByIdentifier, { params: { identifier: host }, body });
    } catch (error) {
      if (!(error instanceof NotInPath) && !(error instanceof ApiCallError && error.status === 400)) throw error;
      // The text may be a display name, which is not an identifier. If no host matches, the lookup reports that.
      const { id } = await this.host(host);
      return this.call(liveQueriesApi.onHost, { params: { id: String(id) }, body });
    }
  }
}
