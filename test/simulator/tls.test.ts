import { generate } from "selfsigned";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SimulationOptions } from "../../src/simulator/options.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import { FakeServer } from "./fake-server.ts";

let server: FakeServer;
let cert: string;

beforeEach(async () => {
  const names = { name: "subjectAltName" as const, altNames: [{ type: 7 as const, ip: "127.0.0.1" }] };
  const made = await generate([{ name: "commonName", value: "test" }], { keyType: "ec", extensions: [names] });
  cert = made.cert;
  server = await FakeServer.start({ key: made.private, cert });
});
afterEach(() => server.close());

async function run(tls: SimulationOptions["tls"], connections: "own" | "shared") {
  const options = {
    serverUrl: server.url,
    enrollSecret: "s",
    hosts: 5,
    spread: 0,
    tls,
    connections,
    logLinesPerMinute: 60,
  };
  const made = new Simulation(options, { wheel: server.wheel, wallClock: server.wallClock });
  made.start();
  server.wheel.stop();
  // Handshakes take real time, in which the test's clock does not advance.
  const settled = () => server.of("log").length >= 10 || made.stats.connectFailures >= 5;
  for (let turns = 0; !settled(); turns++) {
    if (turns > 3000) throw new Error("nothing happened");
    await new Promise((resolve) => setTimeout(resolve, 1));
    server.now += 40;
    server.wheel.advance();
  }
  let over = false;
  const report = made.stop().finally(() => {
    over = true;
  });
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    server.now += 40;
    server.wheel.advance();
  }
  return report;
}

describe("over TLS", () => {
  it.each(["own", "shared"] as const)("agents trust the given certificate (%s connections)", async (connections) => {
    const report = await run({ ca: cert }, connections);
    expect(report).toMatchObject({ enrolled: 5, errors: 0, connectFailures: 0, pendingLines: 0 });
  });

  it("agents refuse an unknown certificate, and never send their secret", async () => {
    const report = await run(undefined, "own");
    expect(report.enrolled).toBe(0);
    expect(report.connectFailures).toBeGreaterThanOrEqual(5);
    expect(server.seen).toEqual([]);
  });

  it("agents accept any certificate on request", async () => {
    expect(await run({ insecure: true }, "own")).toMatchObject({ enrolled: 5, errors: 0 });
  });
});
