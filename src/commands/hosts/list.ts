import { Host } from "../../api/hosts/host.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, usage } from "../../cli/errors.ts";
import { labelFlag, limitFlags, listOf, teamFlag } from "../../cli/flags.ts";
import { pick } from "../../cli/output/fields.ts";
import { checkFields } from "../../cli/output/output.ts";
import { durationMs } from "../../cli/output/text.ts";
import { Changes, Picture, watchFlags } from "../../cli/output/watch.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { pagesWithFields, printedFields } from "../../cli/topics/hosts/printed-fields.ts";
import { hostView } from "../../cli/topics/hosts/view.ts";
import { noteMissingDataFor } from "../../cli/topics/vulnerabilities/no-data.ts";
import { Unreachable } from "../../client/errors.ts";
import { plural } from "../../text/plural.ts";
import { visible } from "../../text/printable.ts";

/** Fields that change with every contact of a host. */
const volatile: readonly (keyof Host)[] = [
  "seen_time",
  "updated_at",
  "detail_updated_at",
  "label_updated_at",
  "policy_updated_at",
  "software_updated_at",
  "last_mdm_checked_in_at",
  "uptime",
  "gigs_disk_space_available",
  "percent_disk_space_available",
];
const SHORTEST_MS = 500;

export default class HostsList extends ClientCommand {
  static override summary = "List hosts.";
  static override description =
    "--where takes a selector: comparisons of fields with =, !=, <, <=, >, >=, ~ (contains), in and not in, combined with and, or, not and parentheses. " +
    "Times are compared with durations (seen < 7d: seen within the last seven days), sizes are like 16GB, and none means no value. software(name ~ chrome and " +
    "version = 1.2) requires one software version that meets both conditions.";
  static override endpoints = [hostsApi.list];
  static override flags = { ...queryFlags(hostsApi.list), ...teamFlag, ...labelFlag, ...watchFlags, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --status online --order-key hostname",
    "<%= config.bin %> <%= command.id %> --query mac --all -o csv --fields id,hostname,primary_ip",
    "<%= config.bin %> <%= command.id %> --fields display_name,labels.name,mdm.enrollment_status",
    `<%= config.bin %> <%= command.id %> --where 'platform = darwin and not label in (Loaners) and seen < 7d and software.name ~ "fire"'`,
    "<%= config.bin %> <%= command.id %> --status online --watch --times 1",
  ];

  async run() {
    const { flags } = await this.parse(HostsList);
    const query = queryOf(hostsApi.list, flags, await this.hostFilter(flags));
    const view = hostView(this.relativeTimes, this.io.now());
    const pages = (fields: string | undefined) =>
      pagesWithFields(fields, (part) => this.pages(hostsApi.list, { query: { ...query, ...part } }, "hosts"));
    if (flags.watch) {
      // Lines contain whole hosts, unless fields are chosen.
      const isWhole = !this.#isOnScreen && typeof this.common.fields !== "string";
      const fields = isWhole ? undefined : printedFields(this, view, ["status"]);
      const read = async () => {
        const hosts: Host[] = [];
        for await (const page of pages(fields)) hosts.push(...page);
        return hosts;
      };
      return this.#watch(read, flags.interval ?? "5s", flags.times ?? Number.POSITIVE_INFINITY);
    }
    await this.printList(pages(printedFields(this, view)), view);
    await noteMissingDataFor(this, flags.where);
  }

  /** Whether the list is repainted in place, on a terminal. */
  get #isOnScreen(): boolean {
    return this.format === "table" && this.io.tty.stdout;
  }

  async #watch(read: () => Promise<Host[]>, interval: string, times: number): Promise<void> {
    const pause = Math.max(SHORTEST_MS, durationMs(interval, "--interval"));
    const { fields, jq, limit } = this.common;
    const chosen = typeof fields === "string" ? listOf([fields]) : null;
    if (!["table", "ndjson"].includes(this.format) || jq !== undefined)
      throw usage("--watch prints a table on a terminal, and JSON lines elsewhere", "Omit --output and --jq.");
    if (chosen) checkFields(chosen, () => Host);
    // All rows by default: with a limit, hosts at its edge would be reported as added and removed.
    if (limit === undefined) this.common.all = true;
    const onScreen = this.#isOnScreen;
    const show = onScreen ? this.#picture(interval) : this.#lines(chosen);
    try {
      for (let turn = 1; ; turn++) {
        await show.next(await this.#patiently(read, onScreen));
        if (turn >= times) return;
        await this.io.sleep(pause, this.stop.signal);
      }
    } catch (error) {
      // The watch ends by Ctrl-C, which is not an error.
      throw this.stop.signal.aborted ? new CliError("interrupted", "") : error;
    } finally {
      show.end();
    }
  }

  /** Repaints the list in place. */
  #picture(interval: string) {
    const picture = new Picture(this.io, this.common["no-header"] !== true);
    let rows: Host[] = [];
    return {
      next: async (read: Host[] | string) => {
        if (typeof read !== "string") rows = read;
        const online = rows.filter(({ status }) => status === "online").length;
        const time = this.io.now().toTimeString().slice(0, 8);
        const about = `${plural(rows.length, "host")}, ${online} online, every ${interval}, ${time}; Ctrl-C ends`;
        const text = rows.length === 0 ? "no hosts match\n" : await this.listText(rows, hostView(true, this.io.now()));
        picture.paint(text, typeof read === "string" ? `${read}; retrying` : about);
      },
      end: () => picture.end(),
    };
  }

  /** Prints a line for each host that was added, changed or removed. */
  #lines(fields: readonly string[] | null) {
    const shape = (host: Host): unknown => (fields ? pick(host, fields) : host);
    // Fields chosen with --fields are compared, even those that change all the time.
    const changes = new Changes<Host>(fields ? [] : volatile, shape);
    return {
      next: async (read: Host[] | string) => {
        if (typeof read === "string") return;
        const at = this.io.now().toISOString();
        for (const { change, row } of changes.next(read))
          await this.write(`${visible(JSON.stringify({ at, change, host: shape(row) }))}\n`);
      },
      end: () => {},
    };
  }

  /** A server that is temporarily unreachable does not end the watch: the error is shown in place of the rows. */
  async #patiently(read: () => Promise<Host[]>, quiet: boolean): Promise<Host[] | string> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Unreachable) || this.stop.signal.aborted) throw error;
      if (!quiet) this.note(`${error.message}; retrying`);
      return error.message;
    }
  }
}
