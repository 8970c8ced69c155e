// kill -9 in the middle of an apply, on each store: either all changes were made, or none. The long form is a soak
// test.
import { beforeAll, expect, it } from "vitest";
import { killDuringApplies } from "../soak/configuration.ts";
import { amount, killedEngines } from "../support/engines.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

it.each(killedEngines)(
  "leaves either the old or the new configuration (%s)",
  async (engine) => {
    const summary = await killDuringApplies({ engine, cycles: amount(2, 5), teams: 5, objects: 40 });
    expect(summary).toContain("0 mixed");
  },
  600_000,
);
