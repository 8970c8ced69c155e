// kill -9 of the built server in the middle of applying thousands of changes: afterwards it has either the old or the
// new configuration.
//   npm run test:soak -- configuration --engine lowdb|postgres|both --cycles 100 --teams 20 --objects 100
import { isDeepStrictEqual } from "node:util";
import type { ConfigurationState, ThingChange } from "../../src/api/edge/configuration.ts";
import { change } from "../support/configuration.ts";
import { manyObjects, manyTeams } from "../support/many-things.ts";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { between, insist, numberOf, pause } from "./support/check.ts";
import { Door } from "./support/door.ts";

export interface KillOptions {
  readonly engine: "lowdb" | "postgres";
  readonly cycles: number;
  readonly teams: number;
  /** Per team. */
  readonly objects: number;
}

type State = Record<string, unknown>;

/** All objects in one of two forms, which differ in every object. */
const formOf = ({ teams, objects }: KillOptions, form: number): ThingChange[] => [
  change("update", "config", "org_info", {
    org_name: `Form ${form}`,
    org_logo_url: "",
    org_logo_url_light_background: "",
    contact_url: "",
  }),
  ...manyTeams(teams).map((one) => ({ ...one, action: "update" as const, value: { description: `form ${form}` } })),
  ...manyObjects(teams, objects, { action: "update", form }),
];

export async function killDuringApplies(options: KillOptions): Promise<string> {
  const { engine, cycles, teams, objects } = options;
  // Small, so that some kills happen during compactions.
  const bed = await Bed.make({ engine, env: { SVC_SNAPSHOT_BYTES: "1000000" } });
  try {
    const door = await Door.open(await bed.start());
    const stateNow = async (): Promise<State> => {
      const reply = await door.call("POST", "/spec/state", {});
      insist(reply?.status === 200, () => `the state could not be read: ${reply?.status}`);
      const { things } = reply.json as unknown as ConfigurationState;
      return Object.fromEntries(
        things.map(({ kind, owner, name, value, revision }) => [
          JSON.stringify([kind, owner, name]),
          [value, revision],
        ]),
      );
    };
    const apply = (changes: readonly ThingChange[]) => door.call("POST", "/spec/apply", { changes });
    const done = async (changes: readonly ThingChange[]): Promise<number> => {
      const started = performance.now();
      const reply = await apply(changes);
      insist(reply?.status === 200, () => `apply answered ${reply?.status}: ${JSON.stringify(reply?.json)}`);
      return performance.now() - started;
    };
    await done([...manyTeams(teams), ...manyObjects(teams, objects)]);
    const forms: State[] = [];
    let took = 0;
    for (const form of [1, 2]) {
      took = await done(formOf(options, form));
      forms.push(await stateNow());
    }
    insist(!isDeepStrictEqual(forms[0], forms[1]), "the two forms are the same");

    let at = 1;
    const counts = { old: 0, new: 0, acknowledged: 0 };
    for (let cycle = 1; cycle <= cycles; cycle++) {
      const to = 1 - at;
      const answer = apply(formOf(options, to + 1));
      await pause(between(0, took * 1.2));
      await bed.alive.stop("SIGKILL");
      const reply = await answer;
      await bed.start();
      const state = await stateNow();
      const isNew = isDeepStrictEqual(state, forms[to]);
      insist(
        isNew || isDeepStrictEqual(state, forms[at]),
        () => `cycle ${cycle}: ${mixed(state, forms[at]!, forms[to]!)}`,
      );
      const isAcknowledged = reply?.status === 200;
      insist(isNew || !isAcknowledged, `cycle ${cycle}: an apply that was acknowledged is lost`);
      counts[isNew ? "new" : "old"]++;
      if (isAcknowledged) counts.acknowledged++;
      if (isNew) at = to;
    }
    await bed.stop();
    await bed.dbCheck();
    return `${engine}: ${cycles} kills within applies of ${1 + teams + teams * objects} changes, ${counts.old} as before, ${counts.new} as they were to be (${counts.acknowledged} acknowledged), 0 mixed, db check sound`;
  } finally {
    await bed.dispose();
  }
}

function mixed(state: State, before: State, after: State): string {
  const keys = [...new Set([...Object.keys(state), ...Object.keys(before), ...Object.keys(after)])];
  const as = (form: State) => keys.filter((key) => isDeepStrictEqual(state[key], form[key])).length;
  return `the state is a mix: of ${keys.length} things ${as(before)} are as before and ${as(after)} as they were to be`;
}

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const { engine = "both" } = args;
  const cycles = numberOf(args, "cycles", 100);
  const teams = numberOf(args, "teams", 20);
  const objects = numberOf(args, "objects", 100);
  const lines: string[] = [];
  for (const one of ["lowdb", "postgres"] as const)
    if (engine === one || engine === "both")
      lines.push(await killDuringApplies({ engine: one, cycles, teams, objects }));
  insist(lines.length > 0, "--engine is lowdb, postgres or both");
  return lines.join("; ");
}
