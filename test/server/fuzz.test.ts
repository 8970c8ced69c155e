// `FUZZ_REQUESTS=5000 FUZZ_SEED=7 npx vitest run test/server/fuzz` runs more requests, or others.
import { describe, expect, it } from "vitest";
import { everything } from "../../src/server/platform/store/query.ts";
import { softwareCounts } from "../../src/server/software/software/counts.ts";
import { startApp } from "../support/app.ts";
import { amount, comparedEngines } from "../support/engines.ts";
import { runFuzz } from "../support/fuzz-run.ts";
import { fuzzWorld } from "../support/fuzz-world.ts";
import type { FuzzRequest } from "../support/request-fuzz.ts";

const requests = Number(process.env.FUZZ_REQUESTS ?? amount(700, 1500));
const seed = Number(process.env.FUZZ_SEED ?? 20_260_301);

const answers: string[][] = [];

describe.each(comparedEngines)("generated requests on %s", (engine) => {
  it("get declared replies, or errors in the API's format", { timeout: 600_000 }, async () => {
    const t = await startApp({ engine });
    const world = fuzzWorld(t);
    const target = {
      ...world,
      send: ({ method, path, body, headers }: FuzzRequest, token: string | null) =>
        t.as(token).request(method, path, body, headers),
      tokens() {
        // Sign-ins are limited by the minute.
        t.clock.advance(60_000);
        return world.tokens();
      },
      async ids() {
        // Titles are only found once they are counted, which otherwise happens some time later.
        await t.services.running.of(softwareCounts).flush();
        return world.ids();
      },
    };
    const { faults, byStatus, byKind, replies } = await runFuzz(target, requests, seed);
    console.log(JSON.stringify({ engine, requests, seed, byStatus, byKind }));
    expect(faults.join("\n")).toBe("");
    // Without valid requests nothing was tested.
    expect(byKind.valid?.["2xx"]).toBeGreaterThan(requests / 40);
    expect(byStatus[400]! + byStatus[422]!).toBeGreaterThan(requests / 10);
    expect(await t.store.users.count(everything)).toBeGreaterThan(0);
    answers.push(replies);
  });
});

it("get the same replies with both stores", () => {
  expect(answers).toHaveLength(2);
  expect(answers[1]).toEqual(answers[0]);
});
