// Ends of the server, requested and sudden, and the state of the disk afterwards.
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { amount } from "../support/engines.ts";
import { freePort } from "../support/free-port.ts";
import { enroll, SECRET, withSecret } from "./support/agents.ts";
import { Wire } from "./support/raw.ts";
import { build, newFolder, serve, svc } from "./support/svc.ts";

beforeAll(build);

describe("SIGTERM", () => {
  it("completes every accepted request, and exits with code 0", async () => {
    const dataDir = newFolder();
    const server = await serve({ dataDir });
    const call = await withSecret(server);
    const keys = await Promise.all(Array.from({ length: 10 }, (_, i) => enroll(server, `host-${i}`)));
    const answered: number[] = [];
    const cut: string[] = [];
    let isStopping = false;
    // Each on its own connection that stays open, like those of agents: an accepted request gets a reply.
    const clients = keys.map(async (key) => {
      const wire = await Wire.open(server.url);
      const body = JSON.stringify({ node_key: key, queries: {}, statuses: {}, messages: {} });
      for (;;) {
        // Data that is sent after the server has closed the connection was not accepted.
        if (wire.isClosed) return;
        const during = isStopping;
        wire.write(
          `POST /api/v1/qengine/distributed/write HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
        const reply = await wire.next();
        if (reply === null) {
          if (!during) cut.push("an answer is missing");
          return;
        }
        answered.push(reply.status);
        if (reply.headers.get("connection") === "close") return wire.close();
      }
    });
    let made = 0;
    const writers = Array.from({ length: 4 }, async (_, by) => {
      const own: string[] = [];
      for (let n = 0; !isStopping; n++) {
        const label = `secret-${by}-${n}`;
        await call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }, { secret: label }] } });
        own.push(label);
        made++;
      }
      return own;
    });
    await expect.poll(() => Math.min(answered.length / 20, made / 8)).toBeGreaterThan(1);
    const from = Date.now();
    isStopping = true;
    const ended = server.stop();
    const acknowledged = await Promise.all(writers);
    await Promise.all(clients);
    expect(await ended).toBe(0);
    expect(Date.now() - from).toBeLessThan(45_000);
    expect(cut).toEqual([]);
    expect(answered.length).toBeGreaterThan(20);
    expect(answered.filter((status) => status !== 200)).toEqual([]);
    expect(acknowledged.flat().length).toBeGreaterThan(4);
    expect(server.log()).not.toContain('"level":"error"');

    const again = await serve({ dataDir });
    const hosts = await (await withSecret(again))<{ count: number }>("GET", "/hosts/count");
    expect(hosts.count).toBe(10);
    await again.stop();
  });

  it("does not wait for idle connections", async () => {
    const server = await serve();
    await withSecret(server);
    const idle = await Promise.all(Array.from({ length: 20 }, () => Wire.open(server.url)));
    idle[0]!.write("GET /api/v1/svc/version HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    idle[1]!.write("POST /api/v1/qengine/config HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{");
    await pause(100);
    const from = Date.now();
    expect(await server.stop()).toBe(0);
    // A request has a minute to arrive.
    expect(Date.now() - from).toBeLessThan(45_000);
    for (const wire of idle) wire.close();
  });

  it("delivered twice, or as SIGINT, also stops the server", async () => {
    const server = await serve();
    server.process.kill("SIGTERM");
    server.process.kill("SIGTERM");
    expect(await server.stop("SIGINT")).toBe(0);
  });
});

describe("the journal of the embedded store", () => {
  const journalOf = (dataDir: string): string => {
    const names = readdirSync(join(dataDir, "db")).filter((name) => name.startsWith("journal-"));
    return join(dataDir, "db", names.sort().at(-1)!);
  };
  const start = async (dataDir: string) =>
    svc(["serve", "--port", String(await freePort())], { SVC_DATA_DIR: dataDir, SVC_LOG_FORMAT: "json" });

  it("opens without the incomplete end that a crash left", async () => {
    const dataDir = newFolder();
    const first = await serve({ dataDir });
    await withSecret(first);
    await enroll(first, "host-1");
    await first.stop("SIGKILL");
    const file = journalOf(dataDir);
    const whole = statSync(file).size;
    // Half a line at the end, as after a crash in the middle of a write.
    const handle = openSync(file, "a");
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    writeSync(handle, lines.at(-1)!.slice(0, 40));
    closeSync(handle);
    const second = await serve({ dataDir });
    await expect.poll(second.log).toContain("torn");
    const { count } = await (await withSecret(second))<{ count: number }>("GET", "/hosts/count");
    expect(count).toBe(1);
    await second.stop("SIGKILL");
    expect(statSync(file).size).toBeGreaterThan(whole);

    truncateSync(file, statSync(file).size - 7);
    const third = await serve({ dataDir });
    await third.stop();
  });

  it("is refused with file and offset if it is damaged elsewhere, also by the check", async () => {
    const dataDir = newFolder();
    const first = await serve({ dataDir });
    await withSecret(first);
    await enroll(first, "host-1");
    await enroll(first, "host-2");
    await first.stop();
    const file = journalOf(dataDir);
    const middle = Math.floor(statSync(file).size / 2);
    flipBit(file, middle);
    const [run, check] = [await start(dataDir), await svc(["db", "check", "--data-dir", dataDir])];
    for (const { code, stderr } of [run, check]) {
      expect(code).not.toBe(0);
      expect(stderr).toContain(file);
      const offset = Number(/damaged at byte (\d+)/.exec(stderr)?.[1]);
      expect(offset).toBeGreaterThan(0);
      expect(offset).toBeLessThanOrEqual(middle);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    // The check has changed nothing: with the bit flipped back, all data is there.
    flipBit(file, middle);
    const again = await serve({ dataDir });
    const { count } = await (await withSecret(again))<{ count: number }>("GET", "/hosts/count");
    expect(count).toBe(2);
    await again.stop();
  });

  it("is refused with the name of the file if it is zeroed, empty or missing, and the data is back when the file is back", async () => {
    const dataDir = newFolder();
    const first = await serve({ dataDir });
    await withSecret(first);
    await enroll(first, "host-1");
    await first.stop();
    const file = journalOf(dataDir);
    const whole = readFileSync(file);
    const ruins = [() => rmSync(file), () => writeFileSync(file, Buffer.alloc(whole.length)), () => truncateSync(file)];
    // Each of them, and others, in test/platform/store/missing-files.test.ts.
    for (const ruin of ruins.slice(0, amount(1, ruins.length))) {
      ruin();
      const left = readdirSync(join(dataDir, "db"));
      for (const { code, stderr } of [await start(dataDir), await svc(["db", "check", "--data-dir", dataDir])]) {
        expect(code).not.toBe(0);
        expect(stderr).toContain(file);
        expect(stderr).not.toMatch(/\n\s+at /);
      }
      expect(readdirSync(join(dataDir, "db"))).toEqual(left);
      writeFileSync(file, whole);
    }
    const again = await serve({ dataDir });
    const { count } = await (await withSecret(again))<{ count: number }>("GET", "/hosts/count");
    expect(count).toBe(1);
    await again.stop();
  });
});

function flipBit(file: string, offset: number): void {
  const handle = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  readSync(handle, byte, 0, 1, offset);
  byte[0]! ^= 1;
  writeSync(handle, byte, 0, 1, offset);
  closeSync(handle);
}
