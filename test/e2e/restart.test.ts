// Restarts under load, with the built server: no connection is cut. The long form is a soak test.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { type BenchServer, tokenOf } from "../../bench/support/serve.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import { restarts } from "../soak/restarts.ts";
import { Pressure } from "../soak/support/pressure.ts";
import { roundRobin } from "../soak/support/round-robin.ts";
import { isWholeRun } from "../support/engines.ts";
import { freePort } from "../support/free-port.ts";
import { freshDatabase } from "../support/postgres.ts";
import { SECRET, withSecret } from "./support/agents.ts";
import { exchange, render, Wire } from "./support/raw.ts";
import { build, newFolder, serve, svc } from "./support/svc.ts";

beforeAll(build);

describe("under load", () => {
  it.each([{ tls: false, workers: 1 }, { tls: true, workers: 2 }, ...(isWholeRun ? [{ tls: true, workers: 1 }] : [])])(
    "SIGTERM cuts no request: TLS $tls, workers $workers",
    async ({ tls, workers }) => {
      const database = workers > 1 ? await freshDatabase() : null;
      const databaseUrl = database === null ? {} : { databaseUrl: database.url };
      const engine = database === null ? "lowdb" : "postgres";
      // Soak tests measure how long a stop takes; here one that hangs is ended.
      const times = { graceMs: 400, stopMs: 45_000 };
      const summary = await restarts({ engine, tls, workers, restarts: 1, clients: 3, ...times, ...databaseUrl });
      expect(summary).toContain(", 0 cut;");
      await database?.drop();
    },
    300_000,
  );

  it("one of two servers behind a proxy that asks for their health is restarted without a failed call of an agent", async () => {
    const database = await freshDatabase();
    const env = {
      SVC_DATABASE_URL: database.url,
      SVC_SERVER_PRIVATE_KEY: randomBytes(32).toString("base64"),
      SVC_TRUSTED_PROXIES: "127.0.0.0/8",
      // The proxy notices it within 100 ms, or within seconds on a busy machine.
      SVC_SHUTDOWN_GRACE: "6s",
    };
    const dataDir = newFolder();
    const start = (port: number) => serve({ dataDir, port, args: ["--dev-license"], env });
    const ports = [await freePort(), await freePort()];
    const servers = [await start(ports[0]!), await start(ports[1]!)];
    await withSecret(servers[0]!);
    const proxy = await roundRobin(
      servers.map(({ url }) => url),
      { probeMs: 100 },
    );
    const simulation = new Simulation({
      serverUrl: proxy.url,
      enrollSecret: SECRET,
      hosts: 20,
      scale: 0.05,
      spread: 1,
      softwarePerHost: 20,
      logLinesPerMinute: 6,
    });
    simulation.start();
    await expect.poll(() => simulation.stats.enrolled).toBe(20);
    const served = (count: number) => expect.poll(() => proxy.counts[0]).toBeGreaterThan(count);
    await served(20);
    expect(await servers[0]!.stop()).toBe(0);
    const before = proxy.counts[0]!;
    servers[0] = await start(ports[0]!);
    // The proxy has noticed that the server is there again.
    await served(before + 10);
    const report = await simulation.stop();
    expect(report.recentErrors).toEqual([]);
    expect(report).toMatchObject({ errors: 0, nodeInvalid: 0, reEnrolled: 0, lostResults: 0, pendingLines: 0 });
    await proxy.close();
    await Promise.all(servers.map((server) => server.stop()));
    await database.drop();
  }, 300_000);
});

const answerOf = async (server: BenchServer, target: string) => {
  const reply = await exchange(server.url, { target });
  return { status: reply?.status, connection: reply?.headers.get("connection"), body: reply?.body };
};

describe("a server that stops", () => {
  it("reports it to load balancers, and goes on answering for the grace", async () => {
    const server = await serve({ env: { SVC_SHUTDOWN_GRACE: "60s" } });
    server.process.kill("SIGTERM");
    await expect.poll(() => answerOf(server, "/healthz")).toMatchObject({ status: 503, connection: "close" });
    expect((await answerOf(server, "/healthz")).body).toContain("stopping");
    expect(await answerOf(server, "/api/v1/svc/version")).toMatchObject({ status: 401, connection: "close" });
    // Later than this, it is a second signal.
    await pause(300);
    expect(await server.stop()).toBe(0);
  });

  it.runIf(process.platform === "linux")("does so as several workers too, each of them", async () => {
    const database = await freshDatabase();
    const env = { SVC_SHUTDOWN_GRACE: "60s", SVC_DATABASE_URL: database.url };
    const server = await serve({ args: ["--workers", "2"], env });
    // When several connections in a row are answered, both workers serve.
    for (let i = 0; i < 4; i++) expect((await answerOf(server, "/healthz")).status).toBe(200);
    const workers = workersOf(server);
    expect(workers).toHaveLength(2);
    server.process.kill("SIGTERM");
    // systemd sends the signal to every process of the service.
    for (const worker of workers) process.kill(worker, "SIGTERM");
    await expect.poll(() => answerOf(server, "/healthz")).toMatchObject({ status: 503, connection: "close" });
    for (let i = 0; i < 4; i++) expect((await answerOf(server, "/api/v1/svc/version")).status).toBe(401);
    await pause(300);
    expect(await server.stop()).toBe(0);
    await database.drop();
  });

  it("waits for no client after a second signal", async () => {
    const server = await serve({ env: { SVC_SHUTDOWN_GRACE: "10m", SVC_SHUTDOWN_TIMEOUT: "10m" } });
    const hanging = await Wire.open(server.url);
    hanging.write("POST /api/v1/qengine/config HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{");
    server.process.kill("SIGTERM");
    await expect.poll(() => answerOf(server, "/healthz")).toMatchObject({ status: 503 });
    await pause(300);
    expect(await server.stop("SIGINT")).toBe(0);
    expect(await hanging.next()).toBeNull();
  });

  it("lets requests finish at Ctrl-C, without the grace", async () => {
    const server = await serve({ env: { SVC_SHUTDOWN_GRACE: "10m" } });
    const kept = await Wire.open(server.url);
    kept.write(render({ target: "/healthz" }));
    expect((await kept.next())?.status).toBe(200);
    expect(await server.stop("SIGINT")).toBe(0);
    expect(await kept.next()).toBeNull();
  });

  it("ends event streams when its grace is over", async () => {
    const server = await serve({ env: { SVC_SHUTDOWN_GRACE: "300ms" } });
    const token = await tokenOf(server);
    const stream = await server.send("/api/v1/svc/activities/stream", {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(stream.status).toBe(200);
    const ended = stream.text();
    expect(await server.stop()).toBe(0);
    await ended;
  });
});

describe.runIf(process.platform === "linux")("workers of one serve", () => {
  it("are replaced one by one without a failed request", async () => {
    const database = await freshDatabase();
    const server = await serve({ args: ["--workers", "2"], env: { SVC_DATABASE_URL: database.url } });
    const pressure = new Pressure(server, [{ method: "GET", path: "/api/docs" }]);
    pressure.add({ kind: "single", clients: 4 });
    const { tally } = pressure;
    const answered = (more: number) => expect.poll(() => tally.answered).toBeGreaterThan(tally.answered + more);
    await answered(40);
    const [worker] = workersOf(server);
    process.kill(worker!, "SIGTERM");
    await expect.poll(() => workersOf(server).filter((pid) => pid !== worker)).toHaveLength(2);
    await answered(40);
    await pressure.stop();
    expect([tally.refused, tally.failures]).toEqual([[], []]);
    expect(await server.stop()).toBe(0);
    await database.drop();
  });

  it("name a port that is in use, and end", async () => {
    const database = await freshDatabase();
    const owner = await serve();
    const run = await svc(["serve", "--workers", "2", "--port", new URL(owner.url).port], {
      SVC_DATA_DIR: newFolder(),
      SVC_DATABASE_URL: database.url,
    });
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("is in use")]);
    await owner.stop();
    await database.drop();
  });
});

/** The processes that a serve has started. */
function workersOf({ process: { pid } }: BenchServer): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.trim().split(" ").filter(Boolean).map(Number);
}
