import type { Host } from "../../api/host.ts";
import { hostsApi } from "../../api/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { hostView } from "../../cli/host-view.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { durationMs, visible } from "../../cli/text.ts";
import { Changes, watchFlags } from "../../cli/watch.ts";
import { Unreachable } from "../../client/errors.ts";

/** These change with every contact of a host. */
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
const CLEAR = "\u001b[H\u001b[2J\u001b[3J";

export default class HostsList extends ClientCommand {
  static override summary = "List hosts.";
  static override description =
    "--where takes a selector: fields with =, !=, <, <=, >, >=, ~ (contains), in and not in, joined by and, or, not and parentheses. " +
    "Times take durations (seen < 7d: heard of within seven days), sizes are like 16GB, none is the lack of a value. software(name ~ chrome and " +
    "version = 1.2) asks for one version that meets both.";
  static override endpoints = [hostsApi.list];
  static override flags = { ...queryFlags(hostsApi.list), ...teamFlag, ...watchFlags, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --status online --order-key hostname",
    "<%= config.bin %> <%= command.id %> --query mac --all -o csv --fields id,hostname,primary_ip",
    `<%= config.bin %> <%= command.id %> --where 'platform = darwin and not label in (Loaners) and seen < 7d and software.name ~ "fire"'`,
    "<%= config.bin %> <%= command.id %> --status online --watch --times 1",
  ];

  async run() {
    const { flags } = await this.parse(HostsList);
    const query = queryOf(hostsApi.list, flags, await this.teamFilter(flags.team));
    const read = () => this.rows(hostsApi.list, { query }, "hosts");
    if (flags.watch) return this.watch(read, flags.interval ?? "5s", flags.times ?? Number.POSITIVE_INFINITY);
    await this.printList(this.pages(hostsApi.list, { query }, "hosts"), hostView(this.relativeTimes, this.io.now()));
  }

  private async watch(read: () => Promise<Host[]>, interval: string, times: number): Promise<void> {
    const pause = Math.max(SHORTEST_MS, durationMs(interval, "--interval"));
    const onScreen = this.format === "table" && this.io.tty.stdout;
    const { fields, jq } = this.common;
    if (!["table", "ndjson"].includes(this.format) || fields !== undefined || jq !== undefined)
      throw usage(
        "--watch prints a table on a terminal, and JSON lines elsewhere",
        "Leave --output, --fields and --jq out.",
      );
    // A limit's edge would come and go.
    if (this.common.limit === undefined) this.common.all = true;
    const changes = new Changes<Host>(volatile);
    for (let turn = 1; ; turn++) {
      const rows = await this.patiently(read);
      if (rows && onScreen) {
        this.io.out(CLEAR);
        await this.printList(rows, hostView(true, this.io.now()));
      } else if (rows) {
        const at = this.io.now().toISOString();
        for (const { change, row } of changes.next(rows))
          this.io.out(`${visible(JSON.stringify({ at, change, host: row }))}\n`);
      }
      if (turn >= times) return;
      await this.io.sleep(pause, this.stop.signal);
    }
  }

  /** A server that is away for a while ends no watch. */
  private async patiently(read: () => Promise<Host[]>): Promise<Host[] | null> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Unreachable) || this.stop.signal.aborted) throw error;
      this.note(`${error.message}; looking again`);
      return null;
    }
  }
}
