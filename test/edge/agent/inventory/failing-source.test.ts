import { pino } from "pino";
import { expect, it } from "vitest";
import type { InventorySource } from "../../../../src/server/hosts/hosts/inventory/source.ts";
import { startApp } from "../../../support/app.ts";
import { makeSecret, SimulatedAgent, throughApp } from "../agents.ts";

const query = (name: string) => ({ name, sql: "SELECT 1 AS one;", platforms: "all" }) as const;
const fail = () => {
  throw new Error("not what was expected");
};

it("a source that throws is logged and counted, and the rest of the host's report is stored", async () => {
  const lines: string[] = [];
  const inventory: InventorySource[] = [
    { queries: [query("toy_read")], read: fail },
    { queries: [query("toy_fields")], read: () => 1, hostFields: fail },
    { queries: [query("toy_details")], read: () => 1, hostFields: () => ({ hostname: "wrong" }), details: fail },
  ];
  const t = await startApp({ inventory, log: pino({ level: "error" }, { write: (line) => void lines.push(line) }) });
  await makeSecret(t);
  const agent = new SimulatedAgent(throughApp(t), "linux");
  await agent.enroll();
  await agent.poll();
  const [host] = await t.store.hosts.list();
  expect(host).toMatchObject({ hostname: agent.machine.hostname, detail_updated_at: t.clock.iso() });
  expect(await t.store.hostSoftware.count()).toBe(1);
  expect(host?.refetch_requested).toBe(false);

  const metrics = await t.services.metrics.registry.metrics();
  for (const name of ["toy_read", "toy_fields", "toy_details"])
    expect(metrics).toContain(`svc_inventory_failures_total{query="${name}"} 1`);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject(
    ["toy_read", "toy_fields", "toy_details"].map((name) => ({ query: name, host_id: host!.id })),
  );
});
