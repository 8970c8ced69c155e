// Agents over TLS, as in practice: they verify the certificate, and use TLS 1.2 or 1.3.
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect, type SecureVersion } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import type { BenchServer } from "../../bench/support/serve.ts";
import { runSimulation } from "../../src/simulator/run.ts";
import { SECRET, withSecret } from "./support/agents.ts";
import { build, newFolder, serve } from "./support/svc.ts";

beforeAll(build);

const simulate = (server: BenchServer, caFile: string, duration: number) =>
  runSimulation({
    serverUrl: server.url,
    enrollSecret: SECRET,
    hosts: 15,
    scale: 0.1,
    spread: 1,
    softwarePerHost: 20,
    logLinesPerMinute: 6,
    enrollAttempts: 2,
    duration,
    tls: { caFile },
  });

/** The negotiated version and cipher, or the reason for the failure. */
const agree = (server: BenchServer, version: SecureVersion): Promise<string> =>
  new Promise((resolve) => {
    const { port } = new URL(server.url);
    // The lowest level, because this side would otherwise refuse old versions itself.
    const options = { ciphers: "DEFAULT@SECLEVEL=0", minVersion: version, maxVersion: version };
    const socket = connect({ host: "127.0.0.1", port: Number(port), rejectUnauthorized: false, ...options }, () => {
      resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
      socket.destroy();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });

describe("with --tls-self-signed", () => {
  it("agents that trust the certificate enroll, poll and log without errors", async () => {
    const dataDir = newFolder();
    const server = await serve({ dataDir, args: ["--tls-self-signed"] });
    const call = await withSecret(server);
    // Log lines are due after at most six seconds; a slow machine needs longer.
    const report = await simulate(server, join(dataDir, "tls", "cert.pem"), 12);
    expect(report.recentErrors).toEqual([]);
    expect(report).toMatchObject({ enrolled: 15, errors: 0, nodeInvalid: 0, pendingLines: 0, lostResults: 0 });
    expect(report.acknowledgedLines).toBeGreaterThan(0);
    const { hosts } = await call<{ hosts: { os_version: string }[] }>("GET", "/hosts");
    expect(hosts).toHaveLength(15);
    expect(hosts.filter(({ os_version }) => os_version === "")).toEqual([]);
    expect(await server.stop()).toBe(0);
  });

  it("agents that trust another certificate send nothing", async () => {
    const [server, otherDir] = [await serve({ args: ["--tls-self-signed"] }), newFolder()];
    const other = await serve({ dataDir: otherDir, args: ["--tls-self-signed"] });
    await other.stop();
    const call = await withSecret(server);
    const report = await simulate(server, join(otherDir, "tls", "cert.pem"), 4);
    expect(report).toMatchObject({ enrolled: 0, statuses: {} });
    expect(report.connectFailures).toBeGreaterThan(0);
    expect((await call<{ count: number }>("GET", "/hosts/count")).count).toBe(0);
    await server.stop();
  });

  it("supports TLS 1.2 and 1.3 with ciphers that agents have, and no older version", async () => {
    const server = await serve({ args: ["--tls-self-signed"] });
    expect(await agree(server, "TLSv1.3")).toMatch(/^TLSv1\.3 /);
    expect(await agree(server, "TLSv1.2")).toMatch(/^TLSv1\.2 ECDHE-ECDSA-AES\d+-(GCM|CCM|SHA(256|384))/);
    expect(await agree(server, "TLSv1.1")).toMatch(/^(ERR_SSL|ECONNRESET)/);
    await server.stop();
  });

  it("stops although a client has connected without starting a handshake", async () => {
    const server = await serve({ args: ["--tls-self-signed"] });
    const silent = Array.from({ length: 5 }, () => connectTcp(Number(new URL(server.url).port), "127.0.0.1"));
    for (const socket of silent) socket.on("error", () => {});
    await Promise.all(silent.map((socket) => new Promise((done) => socket.once("connect", done))));
    await pause(200);
    const from = Date.now();
    expect(await server.stop()).toBe(0);
    // A handshake has two minutes.
    expect(Date.now() - from).toBeLessThan(60_000);
    for (const socket of silent) socket.destroy();
  });
});
