// The order in which hosts install the software of their setup: an object of every owner with several.
import { z } from "zod";
import { recordActivity } from "../../../../platform/activities/record.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import type { Step } from "../../changes.ts";
import type { Kind } from "../../kind.ts";
import { parsed } from "../../parse.ts";
import type { Thing } from "../../values.ts";
import { count, differs, type Work } from "../../work.ts";
import { type SetupSoftware, setupSoftware } from "./rows.ts";

const KIND = "setup_order";
const NAME = "software";

/** Names of packages and store apps, as their objects have them. */
const Value = z.strictObject({ software: z.array(z.string().min(1).max(1024)).max(10_000) });
type Value = z.output<typeof Value>;
type Rows = Awaited<ReturnType<typeof setupSoftware>>;

function* things(rows: Rows): Generator<Thing> {
  for (const [owner, all] of rows)
    if (all.length > 1) yield { kind: KIND, owner, name: NAME, value: { software: all.map(({ name }) => name) } };
}

/** Written under the lock of policies, as packages are. */
export const setupOrder: Kind<Rows, Value> = {
  name: KIND,
  owners: ["team", "no_team"],
  per: "many",
  action: () => "packages:write",
  load: setupSoftware,
  things,
  read(_, { name, value }) {
    if (name !== NAME) throw invalid("change.name", `must be ${NAME}`);
    return parsed(Value, value);
  },
  async write(work, { steps, gone }) {
    const changed = steps.filter((step) => differs(work, step, step.desired));
    if (changed.length > 0) {
      // This apply may have added packages and teams.
      const now = await setupSoftware(work.ctx, { teams: [...work.teams.values()] });
      for (const step of changed) await order(work, step, now.get(step.owner!) ?? []);
    }
    count(work, changed);
    count(work, gone);
  },
};

/** What the list does not name comes last. It may name what a dry run has not downloaded. */
async function order({ ctx }: Work, { owner, desired }: Step<Value>, all: readonly SetupSoftware[]): Promise<void> {
  const placeOf = new Map(desired.software.map((name, place) => [name, place]));
  const placed = all.toSorted((a, b) => (placeOf.get(a.name) ?? all.length) - (placeOf.get(b.name) ?? all.length));
  const platforms = new Set<string>();
  for (const [position, software] of placed.entries())
    for (const platform of await software.place(position)) platforms.add(platform);
  const team_id = all[0]?.team_id ?? null;
  const team = { team_id: team_id ?? 0, team_name: team_id === null ? "" : owner! };
  for (const platform of platforms)
    await recordActivity(ctx, "edited_setup_experience_software", { platform, ...team });
}
