// kill -9 with agents and API writers, on each store: acknowledged data exists exactly once. The long form is a soak
// test.
import { beforeAll, expect, it } from "vitest";
import { killCycles } from "../soak/serve-kill.ts";
import { amount, killedEngines } from "../support/engines.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

it.each(killedEngines)(
  "loses no acknowledged data (%s)",
  async (engine) => {
    const summary = await killCycles({ engine, cycles: amount(1, 2), hosts: 15, upMs: 1_500 });
    expect(summary).toContain("0 lost, 0 doubled");
  },
  600_000,
);
