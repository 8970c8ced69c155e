import * as Flags from "@oclif/core/flags";
import { type Activity, activitiesApi } from "../api/activities.ts";
import { configurationApi } from "../api/configuration.ts";
import { CliError } from "../cli/errors.ts";
import { filesFlags, GitopsCommand } from "../cli/gitops-command.ts";
import { ago, printable } from "../cli/text.ts";
import { ApiCallError } from "../client/errors.ts";
import type { Change } from "../gitops/diff.ts";
import { asDrift, attribute, typesFor } from "../gitops/drift.ts";
import { planJson, renderChange } from "../gitops/render.ts";

/** Entries of the feed that are searched, the newest: older ones are of no help to anybody. */
const MOST = 10_000;

export default class Drift extends GitopsCommand {
  static override summary = "Show what on the server is not as the files say, and who changed it.";
  static override description =
    "Fields are told as the files have them -> as they are. Who and when come from the activity feed, as far as it tells.";
  static override endpoints = [configurationApi.state, activitiesApi.list];
  static override flags = {
    ...filesFlags,
    "exit-code": Flags.boolean({ summary: "Exit with 9 when something has drifted." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> -f default.yml",
    "<%= config.bin %> <%= command.id %> -f default.yml -o json",
  ];

  async run() {
    const { flags } = await this.parse(Drift);
    const { changes } = await this.planned(flags);
    const makers = attribute(changes, await this.#activities(changes));
    await this.#print(changes.map(asDrift), makers);
    if (flags["exit-code"] && changes.length > 0) throw new CliError("changes", "");
  }

  async #activities(changes: readonly Change[]): Promise<Activity[]> {
    const types = typesFor(changes);
    if (types.length === 0) return [];
    const query = { activity_type: types.join(","), order_key: "created_at", order_direction: "desc" } as const;
    try {
      const { rows } = await (await this.client()).all(activitiesApi.list, { query }, "activities", MOST);
      return rows;
    } catch (error) {
      // Roles on teams alone do not see the feed.
      if (!(error instanceof ApiCallError) || error.status !== 403) throw error;
      this.remark("your role does not see the activity feed: who made the changes is unknown");
      return [];
    }
  }

  async #print(changes: readonly Change[], makers: readonly (Activity | null)[]): Promise<void> {
    const told = planJson(changes).changes.map(({ action, value: _, ...thing }, i) => ({
      drift: drifts[action],
      ...thing,
      changed_by: makers[i] ? whoOf(makers[i]) : null,
      changed_at: makers[i]?.created_at ?? null,
      activity_id: makers[i]?.id ?? null,
    }));
    if (this.format === "json" || this.format === "yaml") return this.printOne({ drifted: told.length, things: told });
    if (this.structured)
      return this.printList(told, {
        columns: ["drift", "kind", "team", "name", "fields", "changed_by", "changed_at", "activity_id"],
      });
    if (changes.length === 0) return this.log("No drift: the server is as the files say.");
    for (const [i, change] of changes.entries()) {
      const [first, ...rest] = renderChange(change, this.planPaint);
      this.log([`${first} ${this.#by(makers[i] ?? null)}`, ...rest].join("\n"));
    }
    this.log(`\nDrift: ${changes.length} ${changes.length === 1 ? "thing is" : "things are"} not as the files say.`);
  }

  #by(maker: Activity | null): string {
    if (maker === null) return this.planPaint.faint("- unknown by whom");
    const when = this.relativeTimes ? ago(maker.created_at, this.io.now()) : maker.created_at;
    return `- by ${printable(whoOf(maker))}, ${when}`;
  }
}

const drifts = { create: "extra", update: "changed", delete: "missing" } as const;

const whoOf = ({ actor_full_name, actor_email, actor_token, svc_initiated }: Activity): string => {
  if (svc_initiated) return "svc itself";
  const name = actor_full_name ?? actor_email ?? "somebody who is gone";
  return actor_token === undefined ? name : `${name} (token ${actor_token})`;
};
