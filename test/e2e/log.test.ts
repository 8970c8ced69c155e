// The server's stderr on a full disk, closed, or without a reader: the server still serves and stops normally.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { cleanEnv } from "../../bench/support/serve.ts";
import { freePort } from "../support/free-port.ts";
import { agentCall } from "./support/agents.ts";
import { build, newFolder, watch } from "./support/svc.ts";

beforeAll(build);

const binary = fileURLToPath(new URL("../../bin/run.js", import.meta.url));

interface StartedServer {
  readonly process: ChildProcess;
  send(path: string, init?: RequestInit): Promise<Response>;
}

async function start(stderr: number | "pipe", args: readonly string[] = []): Promise<StartedServer> {
  const port = await freePort();
  const child = spawn(process.execPath, [binary, "serve", "--port", String(port), ...args], {
    stdio: ["ignore", "ignore", stderr],
    env: { ...cleanEnv(), SVC_DATA_DIR: newFolder(), SVC_LOG_LEVEL: "trace", SVC_SHUTDOWN_GRACE: "0s" },
  });
  watch(child);
  return { process: child, send: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init) };
}

const isReady = (server: StartedServer) =>
  expect
    .poll(
      () =>
        server.send("/healthz").then(
          (reply) => reply.status,
          () => 0,
        ),
      { timeout: 120_000 },
    )
    .toBe(200);

/** Each of these produces a line in the log. */
async function makeLines(server: StartedServer, count: number): Promise<void> {
  // The limit is 64 KiB.
  const body = JSON.stringify({ enroll_secret: "x".repeat(70_000) });
  const one = async () => expect((await agentCall(server as never, "enroll", body)).status).toBe(413);
  for (let made = 0; made < count; made += 10) await Promise.all(Array.from({ length: 10 }, one));
}

async function lost(server: StartedServer): Promise<number> {
  const text = await (await server.send("/metrics")).text();
  return Number(/^svc_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
}

async function endsWith(server: StartedServer, code: number): Promise<void> {
  const ended = new Promise((resolve) => server.process.once("exit", (exit, signal) => resolve(exit ?? signal)));
  server.process.kill("SIGTERM");
  expect(await ended).toBe(code);
}

it.skipIf(!existsSync("/dev/full")).each(["json", "pretty"])(
  "serves and stops while the disk under its %s log is full, and counts lost lines",
  async (format) => {
    const full = openSync("/dev/full", "w");
    const server = await start(full, ["--log-format", format]);
    closeSync(full);
    await isReady(server);
    await makeLines(server, 20);
    await expect.poll(() => lost(server)).toBeGreaterThanOrEqual(20);
    await endsWith(server, 0);
  },
);

it("serves and stops while nobody reads the pipe of its log", async () => {
  const fifo = join(newFolder(), "pipe");
  expect(spawnSync("mkfifo", [fifo]).status).toBe(0);
  // Open for reading too, so that it counts as having a reader; a pipe buffers 64 KB.
  const pipe = openSync(fifo, "r+");
  const server = await start(pipe);
  await isReady(server);
  await makeLines(server, 600);
  expect((await server.send("/healthz")).status).toBe(200);
  await endsWith(server, 0);
  closeSync(pipe);
});

it("serves and stops while nobody reads the socket of its log", async () => {
  const server = await start("pipe");
  server.process.stderr!.pause();
  await isReady(server);
  await makeLines(server, 1_200);
  await endsWith(server, 0);
});

it("serves and stops after the reader of its log has exited, and counts lost lines", async () => {
  const server = await start("pipe");
  await isReady(server);
  server.process.stderr!.destroy();
  await makeLines(server, 20);
  await expect.poll(() => lost(server)).toBeGreaterThanOrEqual(20);
  await endsWith(server, 0);
});

it("starts, serves and stops with a stderr that was closed from the start", async () => {
  const port = await freePort();
  const command = `exec "$0" "$1" serve --port ${port} 2>&-`;
  const child = spawn("sh", ["-c", command, process.execPath, binary], {
    stdio: "ignore",
    env: { ...cleanEnv(), SVC_DATA_DIR: newFolder(), SVC_SHUTDOWN_GRACE: "0s" },
  });
  watch(child);
  const server = { process: child, send: (path: string) => fetch(`http://127.0.0.1:${port}${path}`) };
  await isReady(server);
  await endsWith(server, 0);
});
