import * as Flags from "@oclif/core/flags";
import { type Activity, Activity as ActivitySchema, activitiesApi } from "../../api/activities.ts";
import { details, who } from "../../cli/activity-view.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { LiveTable } from "../../cli/live-table.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { shown } from "../../cli/table.ts";
import { ApiCallError, Unreachable } from "../../client/errors.ts";
import { readEvents } from "../../client/events.ts";

const LONGEST_WAIT = 10_000;

export default class ActivitiesFollow extends ClientCommand {
  static override summary = "Print activities as they come, until interrupted.";
  static override description =
    "Each is printed once: when the connection is lost, the command goes on where it was. Formats are table and ndjson, the latter where " +
    "stdout is no terminal; the others with --once.";
  static override endpoints = [activitiesApi.stream];
  static override flags = {
    ...queryFlags(activitiesApi.stream, ["last"]),
    last: Flags.integer({ summary: "Begin with so many that are there already.", min: 0, max: 1000, default: 10 }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --last 20 --once",
    "<%= config.bin %> <%= command.id %> --activity-type created_team,deleted_team --once -o ndjson",
  ];

  async run() {
    const { flags } = await this.parse(ActivitiesFollow);
    const once = flags.once === true;
    const printer = this.printer(once);
    const query = queryOf(activitiesApi.stream, flags, { last: flags.last });
    await this.requireToken();
    let place = "";
    let lost = false;
    for (let tried = 0; ; tried++) {
      try {
        const client = await this.client();
        const headers: Record<string, string> = place === "" ? {} : { "last-event-id": place };
        const { body } = await client.open(activitiesApi.stream, { query }, { headers });
        for await (const { id, event, data } of readEvents(body)) {
          tried = 0;
          lost = false;
          if (event === "activity") await printer.add(JSON.parse(data) as Activity);
          if (event === "gap") {
            const { from, to } = JSON.parse(data) as { from: number; to: number };
            this.warn(`${to - from + 1} activities expired before they were read`);
          }
          if (id !== "") place = id;
        }
        if (once) return await printer.end();
      } catch (error) {
        this.stop.signal.throwIfAborted();
        // The server is not there at all: what was wrong from the start does not mend itself.
        if (place === "" || once || !isBroken(error)) throw error;
        if (!lost) this.note("the connection was lost; trying again");
        lost = true;
      }
      await this.io.sleep(Math.min(LONGEST_WAIT, 250 * 2 ** tried), this.stop.signal);
    }
  }

  private printer(once: boolean): { add(activity: Activity): Promise<void>; end(): Promise<void> } {
    const chosen = this.common.output ?? this.io.env.SVC_OUTPUT ?? "";
    if (this.common.json !== true && chosen === "" && !this.io.tty.stdout) this.common.output = "ndjson";
    const { format } = this;
    const view = { schema: ActivitySchema, columns: ["id", "created_at", who, "type", details] };
    if (once && format !== "ndjson") {
      const kept: Activity[] = [];
      return { add: async (activity) => void kept.push(activity), end: () => this.printList(kept, view) };
    }
    const end = async () => {};
    if (format === "ndjson") return { add: (activity) => this.printList([activity], view), end };
    if (format !== "table" || this.common.fields !== undefined)
      throw usage(`activities that come cannot be printed as ${format}`, "Give -o ndjson, or --once.");
    const table = new LiveTable({
      out: this.io.out,
      header: this.common["no-header"] !== true,
      bold: (text) => this.paint(1, text, "stdout"),
      width: this.io.columns,
    });
    return {
      add: async (activity) =>
        table.add([
          {
            when: activity.created_at,
            who: shown(who, activity),
            what: activity.type,
            details: shown(details, activity),
          },
        ]),
      end,
    };
  }
}

/** The connection ended, which is no answer: the rest can be asked for. */
function isBroken(error: unknown): boolean {
  if (error instanceof Unreachable) return error.code !== "NOT_JSON";
  if (error instanceof ApiCallError) return error.status >= 500;
  return error instanceof Error && /terminated|aborted|closed|socket|ECONN/i.test(`${error.name} ${error.message}`);
}
