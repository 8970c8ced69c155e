// Shared by the commands that run live queries: target selection, rows as they arrive, and the summary at the end.

import * as Flags from "@oclif/core/flags";
import { hostsApi } from "../../../api/inventory/hosts.ts";
import {
  type LiveQuery,
  type LiveResult,
  type LiveStatus,
  liveQueriesApi,
} from "../../../api/inventory/live-queries.ts";
import { ApiCallError, Unreachable } from "../../../client/errors.ts";
import { readEvents } from "../../../client/events.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";
import { quotedInSelector } from "../../../text/selector.ts";
import type { ClientCommand } from "../../client-command.ts";
import { CliError, usage } from "../../errors.ts";
import { isNoTeam, listOf } from "../../flags.ts";
import { pick } from "../../output/fields.ts";
import { interrupted } from "../../wait.ts";
import { explainRefusal } from "./live-refusal.ts";

type ResultRow = Record<string, unknown>;
type Counts = LiveQuery["counts"];

export const targetFlags = {
  hosts: Flags.string({
    summary: "Hosts, by id, hostname, uuid or serial number.",
    multiple: true,
    helpValue: "HOST",
    helpGroup: "TARGETS",
  }),
  labels: Flags.string({
    summary: "Hosts with any of these labels.",
    multiple: true,
    helpValue: "LABEL",
    helpGroup: "TARGETS",
  }),
  teams: Flags.string({
    summary: "Hosts of any of these teams; 0: hosts without a team.",
    multiple: true,
    helpValue: "TEAM",
    helpGroup: "TARGETS",
  }),
};

/** Number of attempts to resume the stream after the connection broke. */
const MAX_RECONNECTS = 8;

interface Chosen {
  readonly labels: string[];
  /** Null: hosts without a team. */
  readonly teams: (string | null)[];
}

export class LiveQueries {
  readonly #command: ClientCommand;
  #chosen: (Chosen & { readonly hosts: readonly number[] }) | null = null;
  readonly #answered = new Set<number>();

  constructor(command: ClientCommand) {
    this.#command = command;
    command.explain = explainRefusal;
  }

  /** The targets from the flags as ids; null if there are none. */
  async selected(flags: {
    readonly hosts?: string[] | undefined;
    readonly labels?: string[] | undefined;
    readonly teams?: string[] | undefined;
  }): Promise<{ hosts: number[]; labels: number[]; teams: number[] } | null> {
    const [hosts, labels, teams] = [listOf(flags.hosts), listOf(flags.labels), listOf(flags.teams)];
    if (hosts.length + labels.length + teams.length === 0) return null;
    const names: Chosen = { labels: [], teams: [] };
    const ids = { hosts: [] as number[], labels: [] as number[], teams: [] as number[] };
    for (const name of hosts) ids.hosts.push((await this.#command.host(name)).id);
    for (const name of labels) {
      const { id, name: storedName } = await this.#command.label(name);
      ids.labels.push(id);
      names.labels.push(storedName);
    }
    for (const name of teams) {
      const { id, name: storedName } = isNoTeam(name) ? { id: 0, name: null } : await this.#command.team(name);
      ids.teams.push(id);
      names.teams.push(storedName);
    }
    this.#chosen = { ...names, hosts: ids.hosts };
    return ids;
  }

  /**
   * Prints results until the query ends, or with `detach` until no online host is left that may answer. Returns the
   * counts. An interrupt cancels the query, unless somebody else started it.
   */
  async follow(query: LiveQuery, options: { detach?: boolean; keep?: boolean } = {}): Promise<Counts> {
    const printer = this.#printer();
    const progress = this.#command.progress(`querying ${plural(query.counts.targets, "host")} ...`);
    const clear = () => {
      if (this.#command.io.tty.stderr) progress.done();
    };
    let counts = query.counts;
    try {
      for await (const event of this.#events(query.id)) {
        if (event.type === "result") {
          clear();
          const { host, error } = event.data;
          this.#answered.add(host.id);
          if (error !== null) this.#command.note(`${printable(host.display_name)}: ${printable(error)}`);
          await printer.add(event.data);
        } else {
          counts = event.data.counts;
          const done = counts.answered + counts.error;
          progress.update(`${done} of ${done + event.data.expected_left} online hosts, ${counts.targets} in total ...`);
          if (options.detach && event.data.expected_left === 0) break;
        }
      }
    } catch (error) {
      clear();
      if (!this.#command.stop.signal.aborted) throw error;
      if (options.keep)
        throw interrupted({
          what: `live query ${query.id} continues`,
          hint: `\`svc queries live follow ${query.id}\` shows its results from the start, \`svc queries live cancel ${query.id}\` cancels it.`,
        });
      await printer.end();
      counts = await this.#cancelled(query.id);
      this.#command.note("interrupted: the live query was cancelled");
      this.#command.note(accounting(counts));
      throw new CliError("interrupted", "");
    }
    clear();
    await printer.end();
    return counts;
  }

  /** Prints the summary line and sets the matching exit code. */
  account(counts: Counts, waitsUntil: string | null = null): void {
    this.#command.note(accounting(counts, waitsUntil));
    if (counts.answered < counts.targets) throw new CliError("partial", "");
  }

  /** Names offline hosts for people, as many as fit on a line. */
  async nameOffline({ offline }: Counts, where: string | undefined): Promise<void> {
    if (offline === 0 || this.#command.structured) return;
    const targets = targetsWhere(this.#chosen, where);
    if (targets === null) return;
    const query = { where: `(${targets}) and not online`, order_key: "display_name" as const, per_page: MAX_FETCHED };
    try {
      const { hosts } = await this.#command.call(hostsApi.list, { query });
      const names = hosts.filter(({ id }) => !this.#answered.has(id)).map((host) => printable(host.display_name));
      if (names.length === 0) return;
      const shown = names.slice(0, Math.min(MAX_NAMED, offline));
      const more = offline - shown.length;
      this.#command.note(`offline: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`);
    } catch (error) {
      // The summary contains the number of offline hosts anyway.
      if (!(error instanceof ApiCallError)) throw error;
    }
  }

  async #cancelled(id: number): Promise<Counts> {
    const connection = await this.#command.connection();
    // This run's own client has been aborted by the interrupt.
    const client = this.#command.clientFor(connection, await connection.token(), new AbortController().signal);
    return (await client.call(liveQueriesApi.cancel, { params: { id } })).live_query.counts;
  }

  /** Events of the stream; resumes when the connection breaks. */
  async *#events(
    id: number,
  ): AsyncGenerator<{ type: "result"; data: LiveResult } | { type: "status"; data: LiveStatus }> {
    let last = "";
    for (let tried = 0; ; tried++) {
      try {
        const client = await this.#command.client();
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
        this.#command.stop.signal.throwIfAborted();
        if (error instanceof CliError || !isBroken(error)) throw error;
        if (tried >= MAX_RECONNECTS) throw error;
      }
      if (tried >= MAX_RECONNECTS)
        throw new CliError("unreachable", "the stream of results was interrupted repeatedly");
      await this.#command.io.sleep(Math.min(5_000, 250 * 2 ** tried), this.#command.stop.signal);
    }
  }

  #printer(): { add(result: LiveResult): Promise<void>; end(): Promise<void> } {
    const chosen = this.#command.common.output ?? this.#command.io.env.SVC_OUTPUT ?? "";
    if (this.#command.common.json !== true && chosen === "" && !this.#command.io.tty.stdout)
      this.#command.common.output = "ndjson";
    const { format } = this.#command;
    const fields = typeof this.#command.common.fields === "string" ? listOf([this.#command.common.fields]) : null;
    // The columns depend on the hosts' results, so --fields is applied here without validation.
    this.#command.common.fields = undefined;
    const shape = (row: ResultRow): ResultRow => (fields === null ? row : pick(row, fields));
    if (format === "ndjson") {
      return {
        add: (result) => this.#command.printList(rowsOf(result).map(shape), { columns: [] }),
        end: async () => {},
      };
    }
    if (format === "table" && this.#command.io.tty.stdout) {
      const table = this.#command.liveTable();
      return {
        add: async (result) => table.add(rowsOf(result).map((row) => (fields === null ? withoutId(row) : shape(row)))),
        end: async () => {},
      };
    }
    const kept: ResultRow[] = [];
    return {
      add: async (result) => void kept.push(...rowsOf(result).map(shape)),
      end: () => {
        const keys = new Set(kept.flatMap((row) => Object.keys(row)));
        if (kept.length === 0) for (const key of fields ?? ["host_hostname", "host_id"]) keys.add(key);
        return this.#command.printList(kept, { columns: [...keys] }, "no rows");
      },
    };
  }
}

/** The rows of a result, each with the name and id of its host. */
function rowsOf({ host, rows }: LiveResult): ResultRow[] {
  return rows.map(({ host_display_name: _name, host_hostname: _hostname, host_id: _id, ...cells }) => ({
    host_hostname: host.hostname,
    host_id: host.id,
    ...cells,
  }));
}

/**
 * Maximum number of hosts to name, and how many to fetch for that: some hosts that are offline now have already
 * answered.
 */
const MAX_NAMED = 10;
const MAX_FETCHED = 50;

/** The targets of a live query as a host selector; null if a selector cannot express them. */
function targetsWhere(chosen: (Chosen & { readonly hosts: readonly number[] }) | null, where?: string): string | null {
  if (chosen === null) return where ?? null;
  if (where !== undefined) return null;
  const { hosts, labels, teams } = chosen;
  const ofTeams = teams.map((name) => (name === null ? "team = none" : `team = ${quotedInSelector(name)}`));
  const kinds = [
    labels.length === 0 ? "" : `label in (${labels.map(quotedInSelector).join(", ")})`,
    ofTeams.length === 0 ? "" : `(${ofTeams.join(" or ")})`,
  ].filter((part) => part !== "");
  return [hosts.length === 0 ? "" : `id in (${hosts.join(", ")})`, kinds.join(" and ")]
    .filter((part) => part !== "")
    .join(" or ");
}

const withoutId = ({ host_id: _, ...row }: ResultRow): ResultRow => row;

export function accounting(counts: Counts, waitsUntil: string | null = null): string {
  const { answered, error, offline, timed_out, cancelled, waiting } = counts;
  const text = `${answered} answered, ${error} error, ${offline} offline, ${timed_out} timed out`;
  const rest = cancelled > 0 ? `, ${cancelled} cancelled` : "";
  return waiting > 0 && waitsUntil !== null
    ? `${text}${rest}, ${waiting} waiting until ${waitsUntil}`
    : `${text}${rest}`;
}

/** Whether the connection broke, as opposed to an error reply: the stream can then be resumed. */
function isBroken(error: unknown): boolean {
  if (error instanceof Unreachable) return error.code !== "NOT_JSON";
  return error instanceof Error && /terminated|aborted|closed|socket|ECONN/i.test(`${error.name} ${error.message}`);
}

export const needTargets = () =>
  usage("no hosts are given", "Give --hosts, --labels, --teams or --where, or use --all-hosts.");
