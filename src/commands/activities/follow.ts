import * as Flags from "@oclif/core/flags";
import { type Activity, Activity as ActivitySchema, activitiesApi } from "../../api/platform/activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, usage } from "../../cli/errors.ts";
import { teamFlag } from "../../cli/flags.ts";
import { shown } from "../../cli/output/table.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { details, who } from "../../cli/topics/activities/view.ts";
import { ApiCallError, Unreachable } from "../../client/errors.ts";
import { readEvents } from "../../client/events.ts";

const LONGEST_WAIT = 10_000;

export default class ActivitiesFollow extends ClientCommand {
  static override summary = "Print activities as they are recorded, until interrupted.";
  static override description =
    "Each activity is printed once: after a lost connection the command continues where it was. The formats are table and ndjson; ndjson is the " +
    "default if stdout is not a terminal. The other formats need --once.";
  static override endpoints = [activitiesApi.stream];
  static override flags = {
    ...queryFlags(activitiesApi.stream, ["last"]),
    ...teamFlag,
    last: Flags.integer({ summary: "Number of existing activities to begin with.", min: 0, max: 1000, default: 10 }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --last 20 --once",
    "<%= config.bin %> <%= command.id %> --activity-type created_team,deleted_team --once -o ndjson",
  ];

  async run() {
    const { flags } = await this.parse(ActivitiesFollow);
    const once = flags.once === true;
    const printer = this.#printer(once);
    const query = queryOf(activitiesApi.stream, flags, { last: flags.last, ...(await this.teamFilter(flags.team)) });
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
        // The command only ends by Ctrl-C, which is not an error.
        if (this.stop.signal.aborted) throw new CliError("interrupted", "");
        // Fail if the server was never reachable, because a retry would not help.
        if (place === "" || once || !isBroken(error)) throw error;
        if (!lost) this.note("the connection was lost; retrying");
        lost = true;
      }
      await this.io.sleep(Math.min(LONGEST_WAIT, 250 * 2 ** tried), this.stop.signal);
    }
  }

  #printer(once: boolean): { add(activity: Activity): Promise<void>; end(): Promise<void> } {
    const chosen = this.common.output ?? this.io.env.SVC_OUTPUT ?? "";
    if (this.common.json !== true && chosen === "" && !this.io.tty.stdout) this.common.output = "ndjson";
    const { format } = this;
    const view = { schema: () => ActivitySchema, columns: ["id", "created_at", who, "type", details] };
    if (once && format !== "ndjson") {
      const kept: Activity[] = [];
      return { add: async (activity) => void kept.push(activity), end: () => this.printList(kept, view) };
    }
    const end = async () => {};
    if (format === "ndjson") return { add: (activity) => this.printList([activity], view), end };
    if (format !== "table" || this.common.fields !== undefined)
      throw usage(`new activities cannot be printed as ${format}`, "Give -o ndjson, or --once.");
    const table = this.liveTable();
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

/** Whether the connection broke, as opposed to an error reply: the stream can then be resumed. */
function isBroken(error: unknown): boolean {
  if (error instanceof Unreachable) return error.code !== "NOT_JSON";
  if (error instanceof ApiCallError) return error.status >= 500;
  return error instanceof Error && /terminated|aborted|closed|socket|ECONN/i.test(`${error.name} ${error.message}`);
}
