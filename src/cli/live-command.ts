// What commands that run live queries share: choosing targets, rows as they come, the accounting at the end.
import * as Flags from "@oclif/core/flags";
import { type LiveQuery, type LiveResult, type LiveStatus, liveQueriesApi } from "../api/live-queries.ts";
import { Unreachable } from "../client/errors.ts";
import { readEvents } from "../client/events.ts";
import { ClientCommand } from "./client-command.ts";
import { CliError, usage } from "./errors.ts";
import { pick } from "./fields.ts";
import { listOf } from "./flags.ts";
import { LiveTable } from "./live-table.ts";
import { plural, printable } from "./text.ts";
import { interrupted } from "./wait.ts";

type Row = Record<string, unknown>;
type Counts = LiveQuery["counts"];

export const targetFlags = {
  hosts: Flags.string({
    summary: "Hosts, by id, hostname, uuid or serial number.",
    multiple: true,
    helpValue: "HOST,...",
    helpGroup: "TARGETS",
  }),
  labels: Flags.string({
    summary: "Hosts with any of these labels.",
    multiple: true,
    helpValue: "LABEL,...",
    helpGroup: "TARGETS",
  }),
  teams: Flags.string({
    summary: "Hosts of any of these teams; 0 is no team.",
    multiple: true,
    helpValue: "TEAM,...",
    helpGroup: "TARGETS",
  }),
};

/** Attempts to read on after the connection broke. */
const RECONNECTS = 8;

export abstract class LiveCommand extends ClientCommand {
  /** The targets of the flags as ids; null where none was given. */
  protected async selected(flags: {
    readonly hosts?: string[] | undefined;
    readonly labels?: string[] | undefined;
    readonly teams?: string[] | undefined;
  }): Promise<{ hosts: number[]; labels: number[]; teams: number[] } | null> {
    const [hosts, labels, teams] = [listOf(flags.hosts), listOf(flags.labels), listOf(flags.teams)];
    if (hosts.length + labels.length + teams.length === 0) return null;
    const ids = { hosts: [] as number[], labels: [] as number[], teams: [] as number[] };
    for (const name of hosts) ids.hosts.push((await this.host(name)).id);
    for (const name of labels) ids.labels.push((await this.label(name)).id);
    for (const name of teams) ids.teams.push(name === "0" || name === "none" ? 0 : (await this.team(name)).id);
    return ids;
  }

  /**
   * Prints results until the query is over, or with `detach` until nobody who is online is left. Gives the counts. An interrupt cancels
   * the query, unless somebody else started it.
   */
  protected async follow(query: LiveQuery, options: { detach?: boolean; keep?: boolean } = {}): Promise<Counts> {
    const printer = this.printer();
    const progress = this.progress(`asking ${plural(query.counts.targets, "host")} ...`);
    const clear = () => {
      if (this.io.tty.stderr) progress.done();
    };
    let counts = query.counts;
    try {
      for await (const event of this.events(query.id)) {
        if (event.type === "result") {
          clear();
          const { host, error } = event.data;
          if (error !== null) this.note(`${printable(host.display_name)}: ${printable(error)}`);
          await printer.add(event.data);
        } else {
          counts = event.data.counts;
          const done = counts.answered + counts.error;
          progress.update(
            `${done} of ${done + event.data.expected_left} that are online, ${counts.targets} in all ...`,
          );
          if (options.detach && event.data.expected_left === 0) break;
        }
      }
    } catch (error) {
      clear();
      if (!this.stop.signal.aborted) throw error;
      if (options.keep)
        throw interrupted({
          what: `live query ${query.id} goes on`,
          hint: `\`svc queries live follow ${query.id}\` reads it from the start, \`svc queries live cancel ${query.id}\` ends it.`,
        });
      await printer.end();
      counts = await this.cancelled(query.id);
      this.note("interrupted: the live query was cancelled");
      this.note(accounting(counts));
      throw new CliError("interrupted", "");
    }
    clear();
    await printer.end();
    return counts;
  }

  /** The last line, and the exit code that fits it. */
  protected account(counts: Counts, waitsUntil: string | null = null): void {
    this.note(accounting(counts, waitsUntil));
    if (counts.answered < counts.targets) throw new CliError("partial", "");
  }

  private async cancelled(id: number): Promise<Counts> {
    const connection = await this.connection();
    // This run's own client is interrupted.
    const client = this.clientFor(connection, await connection.token(), new AbortController().signal);
    return (await client.call(liveQueriesApi.cancel, { params: { id } })).live_query.counts;
  }

  /** Events of the stream, resumed where the connection breaks. */
  private async *events(
    id: number,
  ): AsyncGenerator<{ type: "result"; data: LiveResult } | { type: "status"; data: LiveStatus }> {
    let last = "";
    for (let tried = 0; ; tried++) {
      try {
        const client = await this.client();
        const { body } = await client.open(
          liveQueriesApi.stream,
          { params: { id } },
          { headers: last === "" ? {} : { "last-event-id": last } },
        );
        for await (const { id: seq, event, data } of readEvents(body)) {
          tried = 0;
          if (event === "result") yield { type: "result", data: JSON.parse(data) as LiveResult };
          if (event === "error") throw new CliError("failed", String(JSON.parse(data)));
          if (seq !== "") last = seq;
          if (event !== "status") continue;
          const status = JSON.parse(data) as LiveStatus;
          yield { type: "status", data: status };
          if (status.status === "finished") return;
        }
      } catch (error) {
        this.stop.signal.throwIfAborted();
        if (error instanceof CliError || !isBroken(error)) throw error;
        if (tried >= RECONNECTS) throw error;
      }
      if (tried >= RECONNECTS)
        throw new CliError("unreachable", "the stream of results ends too early again and again");
      await this.io.sleep(Math.min(5_000, 250 * 2 ** tried), this.stop.signal);
    }
  }

  private printer(): { add(result: LiveResult): Promise<void>; end(): Promise<void> } {
    const chosen = this.common.output ?? this.io.env.SVC_OUTPUT ?? "";
    if (this.common.json !== true && chosen === "" && !this.io.tty.stdout) this.common.output = "ndjson";
    const { format } = this;
    const fields = typeof this.common.fields === "string" ? listOf([this.common.fields]) : null;
    // Which columns there are, the hosts decide: they are picked here, and not held against anything.
    this.common.fields = undefined;
    const shape = (row: Row): Row => (fields === null ? row : pick(row, fields));
    if (format === "ndjson") {
      return {
        add: (result) => this.printList(rowsOf(result).map(shape), { columns: [] }),
        end: async () => {},
      };
    }
    if (format === "table" && this.io.tty.stdout) {
      const table = new LiveTable({
        out: this.io.out,
        header: this.common["no-header"] !== true,
        bold: (text) => this.paint(1, text, "stdout"),
        width: this.io.columns,
      });
      return {
        add: async (result) => table.add(rowsOf(result).map((row) => (fields === null ? withoutId(row) : shape(row)))),
        end: async () => {},
      };
    }
    const kept: Row[] = [];
    return {
      add: async (result) => void kept.push(...rowsOf(result).map(shape)),
      end: () => {
        const keys = new Set(kept.flatMap((row) => Object.keys(row)));
        if (kept.length === 0) for (const key of fields ?? ["host_hostname", "host_id"]) keys.add(key);
        return this.printList(kept, { columns: [...keys] }, "no rows");
      },
    };
  }
}

/** The rows of a result, each with its host. */
export function rowsOf({ host, rows }: LiveResult): Row[] {
  return rows.map(({ host_display_name: _name, host_hostname: _hostname, host_id: _id, ...cells }) => ({
    host_hostname: host.hostname,
    host_id: host.id,
    ...cells,
  }));
}

const withoutId = ({ host_id: _, ...row }: Row): Row => row;

export function accounting(counts: Counts, waitsUntil: string | null = null): string {
  const { answered, error, offline, timed_out, cancelled, waiting } = counts;
  const text = `${answered} answered, ${error} error, ${offline} offline, ${timed_out} timed out`;
  const rest = cancelled > 0 ? `, ${cancelled} cancelled` : "";
  return waiting > 0 && waitsUntil !== null ? `${text}${rest}, ${waiting} asked until ${waitsUntil}` : `${text}${rest}`;
}

/** The connection ended, which is no answer: the rest can be asked for. */
function isBroken(error: unknown): boolean {
  if (error instanceof Unreachable) return error.code !== "NOT_JSON";
  return error instanceof Error && /terminated|aborted|closed|socket|ECONN/i.test(`${error.name} ${error.message}`);
}

export const needTargets = () =>
  usage("no hosts were chosen", "Give --hosts, --labels, --teams or --where; --all-hosts means every host.");
