// kill -9 in the middle of the apply of a plan, on each store: either all of its changes are made and it is applied, or
// neither.
import { beforeAll, expect, it } from "vitest";
import type { Plan } from "../../src/api/edge/plans.ts";
import { Bed } from "../soak/support/bed.ts";
import { between, pause } from "../soak/support/check.ts";
import { Door } from "../soak/support/door.ts";
import { amount, killedEngines } from "../support/engines.ts";
import { build } from "./support/svc.ts";

const CHANGE_COUNT = 200;

beforeAll(build);

it.each(killedEngines)(
  "leaves the plan and its changes together (%s)",
  async (engine) => {
    const bed = await Bed.make({ engine });
    try {
      const door = await Door.open(await bed.start());
      const called = async <T>(method: string, path: string, body?: object): Promise<T> => {
        const reply = await door.call(method, path, body);
        expect(reply?.status, JSON.stringify(reply?.json)).toBe(200);
        return reply?.json as T;
      };
      for (let cycle = 1; cycle <= amount(2, 6); cycle++) {
        const changes = Array.from({ length: CHANGE_COUNT }, (_, i) => ({
          kind: "query",
          owner: null,
          name: `cycle ${cycle}, ${i}`,
          action: "set",
          value: { query: "SELECT 1" },
        }));
        const { plan } = await called<{ plan: Plan }>("POST", "/plans", { changes });
        const answer = door.call("POST", `/plans/${plan.id}/apply`, {});
        await pause(between(0, 400));
        await bed.alive.stop("SIGKILL");
        const reply = await answer;
        await bed.start();
        const after = (await called<{ plan: Plan }>("GET", `/plans/${plan.id}`)).plan;
        const { queries } = await called<{ queries: { name: string }[] }>("GET", "/queries");
        const queryCount = queries.filter(({ name }) => name.startsWith(`cycle ${cycle},`)).length;
        expect([after.state, queryCount]).toEqual(queryCount === 0 ? ["pending", 0] : ["applied", CHANGE_COUNT]);
        if (reply?.status === 200) expect(after.state).toBe("applied");
        // What was not done can be done afterwards.
        const again = (await called<{ plan: Plan }>("POST", `/plans/${plan.id}/apply`, {})).plan;
        expect(again.state).toBe("applied");
      }
      await bed.stop();
      await bed.dbCheck();
    } finally {
      await bed.dispose();
    }
  },
  600_000,
);
