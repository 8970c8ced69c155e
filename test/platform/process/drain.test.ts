// How a listener ends: nobody who sent a request loses the answer, and nobody can hold it up.
import { mkdtemp, rm } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { loadTls, type TlsFiles } from "../../../src/server/platform/core/security/tls.ts";
import type { Drain } from "../../../src/server/platform/process/drain.ts";
import { type Address, chooseAddress, type Listening, listen } from "../../../src/server/platform/process/listen.ts";
import { render, Wire } from "../../e2e/support/raw.ts";

let waiting: (() => void)[] = [];
/** `/slow` is answered by `answerSlow`, `/stuck` never. */
const handler: RequestListener = (req, res) => {
  if (req.url === "/slow") waiting.push(() => res.end("slow"));
  else if (req.url !== "/stuck") res.end("fast");
};
const answerSlow = () => {
  for (const answer of waiting.splice(0)) answer();
};

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  waiting = [];
  for (const one of opened.splice(0)) await one.close();
});

async function start(tls: TlsFiles | null = null): Promise<{ listening: Listening; address: Address }> {
  const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls });
  const listening = await listen(handler, address);
  opened.push({ close: () => listening.close({ graceMs: 0, limitMs: 0 }) });
  return { listening, address };
}

async function open({ port }: Address): Promise<Wire> {
  const wire = await Wire.open(`http://127.0.0.1:${port}`);
  opened.push(wire);
  return wire;
}

async function send(wire: Wire, target: string): Promise<Wire> {
  wire.write(render({ target }));
  return wire;
}

async function timed(listening: Listening, how: Drain) {
  const from = performance.now();
  const drained = await listening.close(how);
  return { ...drained, ms: performance.now() - from };
}

const isRefused = ({ port }: Address): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(false);
    });
    socket.on("error", () => resolve(true));
  });

describe("a listener that is closed", () => {
  it("announces it on every answer, also to requests in progress, and accepts connections for the grace", async () => {
    const { listening, address } = await start();
    const [before, kept] = [await send(await open(address), "/slow"), await send(await open(address), "/")];
    expect((await kept.next())?.headers.get("connection")).toBe("keep-alive");
    await expect.poll(() => waiting.length).toBe(1);
    const closing = listening.close({ graceMs: 400, limitMs: 60_000 });
    const during = await send(await open(address), "/");
    await send(kept, "/");
    for (const wire of [during, kept]) {
      const reply = await wire.next();
      expect([reply?.status, reply?.headers.get("connection")]).toEqual([200, "close"]);
    }
    answerSlow();
    expect((await before.next())?.headers.get("connection")).toBe("close");
    expect(await closing).toEqual({ answered: 3, idle: 0, cut: 0 });
    expect(await isRefused(address)).toBe(true);
  });

  it("answers requests that arrive while it looks for a quiet moment", async () => {
    const { listening, address } = await start();
    const wires: Wire[] = [];
    const closing = listening.close({ graceMs: 0, limitMs: 60_000 });
    // Each follows within the time that would be quiet.
    for (let i = 0; i < 4; i++) wires.push(await send(await open(address), "/"));
    for (const wire of wires) expect((await wire.next())?.status).toBe(200);
    expect(await closing).toMatchObject({ answered: 4, cut: 0 });
  });

  it("closes connections that are idle, and new ones on which nothing arrives, long before the limit", async () => {
    const { listening, address } = await start();
    const idle = await send(await open(address), "/");
    await idle.next();
    const silent = await open(address);
    const { ms, ...drained } = await timed(listening, { graceMs: 0, limitMs: 60_000 });
    expect(drained).toEqual({ answered: 0, idle: 2, cut: 0 });
    expect(ms).toBeLessThan(30_000);
    await expect.poll(() => [idle.isClosed, silent.isClosed]).toEqual([true, true]);
  });

  it("leaves no timer that would keep the process running", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const { listening } = await start();
    const before = timers();
    await listening.close({ graceMs: 0, limitMs: 60_000 });
    // Another timer of this process may have ended meanwhile.
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it("cuts requests that are unfinished or unanswered at the limit, and counts them", async () => {
    const { listening, address } = await start();
    const stuck = await send(await open(address), "/stuck");
    const partial = await open(address);
    partial.write("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    await pause(100);
    const { ms, ...drained } = await timed(listening, { graceMs: 0, limitMs: 700 });
    expect(drained).toEqual({ answered: 0, idle: 0, cut: 1 });
    expect(ms).toBeGreaterThan(600);
    expect(ms).toBeLessThan(30_000);
    expect(await stuck.next()).toBeNull();
  });

  it("ends at once when it is hurried", async () => {
    const { listening, address } = await start();
    await send(await open(address), "/stuck");
    await pause(50);
    const hurry = new AbortController();
    const closing = timed(listening, { graceMs: 600_000, limitMs: 600_000, hurry: hurry.signal });
    await pause(50);
    hurry.abort();
    expect(await closing).toMatchObject({ cut: 1 });
    expect(await isRefused(address)).toBe(true);
  });

  it("ends streams when nobody can connect any more: their clients connect elsewhere", async () => {
    const { listening, address } = await start();
    const stream = await send(await open(address), "/slow");
    await expect.poll(() => waiting.length).toBe(1);
    const refused: Promise<boolean>[] = [];
    const endStreams = () => {
      refused.push(isRefused(address));
      answerSlow();
    };
    expect(await listening.close({ graceMs: 0, limitMs: 60_000, endStreams })).toMatchObject({ answered: 1, cut: 0 });
    expect(await Promise.all(refused)).toEqual([true]);
    expect((await stream.next())?.status).toBe(200);
  });

  it("answers a TLS client whose handshake begins only after that", async () => {
    const dir = await mkdtemp(join(tmpdir(), "svc-drain-"));
    opened.push({ close: () => rm(dir, { recursive: true }) });
    const where = { data_dir: dir, host: "127.0.0.1" };
    const tls = await loadTls({ ...where, tls_cert: undefined, tls_key: undefined, tls_self_signed: true });
    const { listening, address } = await start(tls);
    const socket = connect(address.port, "127.0.0.1");
    await new Promise((done) => socket.once("connect", done));
    let closing: Promise<unknown> = Promise.resolve();
    await new Promise<void>((closed) => {
      closing = listening.close({ graceMs: 0, limitMs: 60_000, endStreams: closed });
    });
    expect(await isRefused(address)).toBe(true);
    const secure = connectTls({ socket, ca: tls!.cert, servername: "localhost" });
    opened.push({ close: () => secure.destroy() });
    secure.write(render({ target: "/" }));
    let received = "";
    for await (const chunk of secure) received += chunk;
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(await closing).toMatchObject({ answered: 1, cut: 0 });
  });
});
