import { expect, test } from "vitest";
import { fuzzAgents } from "../../support/agent-fuzz.ts";
import { startApp } from "../../support/app.ts";
import { amount, bothEngines } from "../../support/engines.ts";
import { makeSecret, throughApp } from "./agents.ts";

/** The long form is the soak test `agent-fuzz`. */
const MESSAGES = { lowdb: amount(1_500, 3_000), postgres: amount(500, 1_500) };

test.each(bothEngines)("altered messages of agents with a valid key do no harm on %s", async (engine) => {
  const t = await startApp({ engine });
  await makeSecret(t);
  const { faults, byStatus } = await fuzzAgents({
    send: throughApp(t),
    messages: MESSAGES[engine],
    seed: 20_261_121,
    together: 10,
    async look() {
      const reply = await t.get("/hosts?populate_software=true&populate_users=true&populate_labels=true&per_page=20");
      expect(reply.status).toBe(200);
      for (const { id } of ((await reply.json()) as { hosts: { id: number }[] }).hosts)
        expect((await t.get(`/hosts/${id}`)).status).toBe(200);
    },
  });
  expect(faults).toEqual([]);
  expect(byStatus[200]).toBeGreaterThan(MESSAGES[engine] / 3);
  expect(byStatus[400]).toBeGreaterThan(MESSAGES[engine] / 50);
});
