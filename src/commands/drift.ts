import * as Flags from "@oclif/core/flags";
import { configurationApi } from "../api/edge/configuration.ts";
import { type Activity, activitiesApi } from "../api/platform/activities.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { CliError } from "../cli/errors.ts";
import { ago } from "../cli/output/text.ts";
import { Configuration } from "../cli/topics/configuration.ts";
import { filesFlags } from "../cli/topics/configuration-files.ts";
import { ApiCallError } from "../client/errors.ts";
import type { Change } from "../gitops/plan/diff.ts";
import { asDrift, attribute, typesFor } from "../gitops/plan/drift.ts";
import { hidden } from "../gitops/plan/hide.ts";
import { planJson, renderChange } from "../gitops/plan/render.ts";
import { printable } from "../text/printable.ts";

/** Maximum number of feed entries to search, from the newest: older entries hardly help. */
const MAX_ACTIVITIES = 10_000;

export default class Drift extends ClientCommand {
  static override summary = "Show differences between the server and the files, and who made them.";
  static override description =
    "Extra objects are in no file, changed objects differ from the files, and missing objects are only in the files. For each field, the value in the files is shown first, then the " +
    "server's. Who made a change, and when, is read from the activity feed if it is recorded there.";
  static override endpoints = [configurationApi.state, activitiesApi.list];
  static override flags = {
    ...filesFlags,
    "exit-code": Flags.boolean({ summary: "Exit with code 9 if there are differences." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> -f default.yml",
    "<%= config.bin %> <%= command.id %> -f default.yml -o json",
  ];

  readonly #configuration = new Configuration(this);

  async run() {
    const { flags } = await this.parse(Drift);
    const { changes, secrets } = await this.#configuration.planned({ ...flags, "allow-unknown-hosts": true });
    const makers = attribute(changes, await this.#activities(changes));
    await this.#print(hidden(changes, this.#configuration.masks, secrets).map(asDrift), makers);
    if (flags["exit-code"] && changes.length > 0) throw new CliError("changes", "");
  }

  async #activities(changes: readonly Change[]): Promise<Activity[]> {
    const types = typesFor(changes);
    if (types.length === 0) return [];
    const query = { activity_type: types.join(","), order_key: "created_at", order_direction: "desc" } as const;
    try {
      const { rows } = await (await this.client()).all(activitiesApi.list, { query }, "activities", MAX_ACTIVITIES);
      return rows;
    } catch (error) {
      // Users with roles on teams only cannot read the feed.
      if (!(error instanceof ApiCallError) || error.status !== 403) throw error;
      this.#configuration.remark("your role may not read the activity feed, so it is unknown who made the changes");
      return [];
    }
  }

  async #print(changes: readonly Change[], makers: readonly (Activity | null)[]): Promise<void> {
    const things = planJson(changes).changes.map(({ action, value: _, ...thing }, i) => ({
      drift: drifts[action],
      ...thing,
      changed_by: makers[i] ? whoOf(makers[i]) : null,
      changed_at: makers[i]?.created_at ?? null,
      activity_id: makers[i]?.id ?? null,
    }));
    if (this.format === "json" || this.format === "yaml")
      return this.printOne({ drifted: things.length, things: things });
    if (this.structured)
      return this.printList(things, {
        columns: ["drift", "kind", "team", "name", "fields", "changed_by", "changed_at", "activity_id"],
      });
    if (changes.length === 0) return this.log("No drift: the server matches the files.");
    for (const [i, change] of changes.entries()) {
      const [first, ...rest] = renderChange(change, this.#configuration.planPaint, words);
      this.log([`${first} ${this.#by(makers[i] ?? null)}`, ...rest].join("\n"));
    }
    const count = (action: Change["action"]) => changes.filter((change) => change.action === action).length;
    this.log(
      `\nDrift: ${count("create")} extra on the server, ${count("update")} changed there, ${count("delete")} missing there.`,
    );
  }

  #by(maker: Activity | null): string {
    if (maker === null) return this.#configuration.planPaint.faint("- by an unknown user");
    const when = this.relativeTimes ? ago(maker.created_at, this.io.now()) : maker.created_at;
    return `- by ${printable(whoOf(maker))}, ${when}`;
  }
}

/**
 * Words instead of the signs of a plan: there `+` marks what an apply would add, here it would mark what an apply
 * removes.
 */
const words = { create: "extra:  ", update: "changed:", delete: "missing:" } as const;
const drifts = { create: "extra", update: "changed", delete: "missing" } as const;

const whoOf = ({ actor_full_name, actor_email, actor_token, svc_initiated }: Activity): string => {
  if (svc_initiated) return "svc itself";
  const name = actor_full_name ?? actor_email ?? "a deleted user";
  return actor_token === undefined ? name : `${name} (token ${actor_token})`;
};
