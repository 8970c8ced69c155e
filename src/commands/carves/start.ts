import { z } from "zod";
import { Carve, carvesApi } from "../../api/checks/carves.ts";
import { liveQueriesApi } from "../../api/inventory/live-queries.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, failed, notFound, usage } from "../../cli/errors.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { bar } from "../../cli/output/size.ts";
import { carveSql } from "../../cli/topics/carves/query.ts";
import { isComplete, stateOf } from "../../cli/topics/carves/view.ts";
import { explainRefusal } from "../../cli/topics/queries/live-refusal.ts";
import { timeoutOf, waitFlags, waitFor } from "../../cli/wait.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";

/** A carve that was requested from a host. */
const StartedCarves = z.object({
  host_id: z.int(),
  path: z.string(),
  carve_id: z.string(),
  request_id: z.string(),
  state: z.string(),
  carve: Carve.nullable(),
});
type StartedCarves = z.infer<typeof StartedCarves>;

export default class CarvesStart extends ClientCommand {
  static override summary = "Request files from a host, with a live query that makes its agent upload them.";
  static override description =
    "Each path is one carve. Wildcards: % or * matches anything on one level, %% or ** on all levels below; quote them in your " +
    "shell. The host must be online, and its agent must have carving enabled (disable_carver=false). Agents begin at whole minutes, so up to 60 " +
    "seconds later. --wait waits until everything has been uploaded, and needs permission to read carves.";
  static override endpoints = [];
  static override strict = false;
  static override args = { host: args.host, path: args.required("paths or patterns") };
  static override flags = {
    ...waitFlags,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com '/var/log/**' --dry-run",
    "<%= config.bin %> <%= command.id %> 1 /etc/hosts /etc/passwd --wait --timeout 5m --dry-run",
  ];

  async run() {
    const { argv, flags } = await this.parse(CarvesStart);
    const [name = "", ...paths] = argv.map(String);
    const timeout = timeoutOf(flags);
    const blank = paths.find((path) => path.trim() === "");
    if (blank !== undefined) throw usage("a path is empty");
    const host = await this.host(name);
    const called = printable(host.display_name);
    const queries = paths.map((path) => ({ path, query: carveSql(path) }));
    if (flags["dry-run"]) {
      const selected = { hosts: [host.id], labels: [], teams: [] };
      for (const { query } of queries) await this.tryOut(liveQueriesApi.create, { body: { query, selected } });
      return this.printPlan(
        `request ${plural(paths.length, "carve")} from ${called}`,
        { id: host.id, display_name: host.display_name },
        queries.map(({ query }) => ({ field: "query", to: query })),
      );
    }

    const started: StartedCarves[] = [];
    for (const { path, query } of queries) started.push(...(await this.#ask(host.id, called, path, query)));
    // The state of each carve is also reported if the wait ends early.
    const waited = flags.wait ? await this.#follow(started, timeout).catch((error: unknown) => error) : undefined;
    if (waited instanceof Error && !(waited instanceof CliError)) throw waited;
    if (!flags.wait)
      this.note(
        `${called} has received the request; its agent begins within a minute: svc carves list --host-id ${host.id}`,
      );
    await this.printList(started, {
      schema: () => StartedCarves,
      columns: ["carve_id", "path", "state", { key: "carve.id", header: "id" }],
    });
    const lost = started.filter(({ carve }) => carve?.error !== undefined || carve?.expired === true);
    if (lost.length > 0)
      throw new CliError(lost.length < started.length ? "partial" : "failed", `${plural(lost.length, "carve")} failed`);
    if (waited) throw waited;
  }

  override explain = explainRefusal;

  async #ask(hostId: number, called: string, path: string, query: string): Promise<StartedCarves[]> {
    const progress = this.progress(`requesting ${printable(path)} from ${called} ...`);
    try {
      const reply = await this.call(liveQueriesApi.onHost, { params: { id: hostId }, body: { query } });
      if (reply.status === "offline")
        throw failed(`${called} is offline`, "Files can only be requested from a host that is online.");
      if (reply.rows === null || reply.error) throw failed(`${called}: ${reply.error ?? "no reply"}`);
      const rows = new Map(reply.rows.map((row) => [row.carve_guid ?? "", row]));
      rows.delete("");
      if (rows.size === 0)
        throw notFound(
          `${called} has no files at ${path}, or carving is disabled in its agent`,
          "The agent needs disable_carver=false.",
        );
      return [...rows].map(([carve_id, row]) => ({
        host_id: hostId,
        path,
        carve_id,
        request_id: row.request_id ?? "",
        state: "requested",
        carve: null,
      }));
    } finally {
      progress.done();
    }
  }

  /** Waits until every carve is complete, failed or expired, or until the timeout. */
  async #follow(started: StartedCarves[], timeout: string): Promise<void> {
    const progress = this.progress("waiting for the agent to begin ...");
    const isOver = ({ carve }: StartedCarves) =>
      carve !== null && (isComplete(carve) || "error" in carve || carve.expired);
    const done = async () => {
      for (const carve of started) {
        if (isOver(carve)) continue;
        const { carves } = await this.call(carvesApi.list, { query: { carve_id: carve.carve_id, expired: true } });
        carve.carve = carves.find(({ host_id }) => host_id === carve.host_id) ?? null;
        if (carve.carve) carve.state = stateOf(carve.carve);
      }
      const here = started.reduce((sum, { carve }) => sum + (carve ? carve.max_block + 1 : 0), 0);
      const all = started.reduce((sum, { carve }) => sum + (carve?.block_count ?? 1), 0);
      if (here > 0) progress.update(`${bar(here, all)}  ${here} of ${all} blocks`);
      return started.every(isOver);
    };
    const going = () => {
      const open = started.filter((carve) => !isOver(carve)).length;
      return {
        what: `${open} of ${plural(started.length, "carve")} ${open === 1 ? "is" : "are"} not complete`,
        hint: `The agent continues: svc carves list --host-id ${started[0]?.host_id}`,
      };
    };
    await waitFor(this.io, this.stop.signal, { timeout, done, going }).finally(progress.done);
  }
}
