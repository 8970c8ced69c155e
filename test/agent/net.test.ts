// How the agent reaches its server, and what it remembers of it.
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer as createHttp } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";
import { afterEach, describe, expect, it, vi } from "vitest";
import { RequestRefused } from "../../src/agent/managed.ts";
import { Connection } from "../../src/agent/net/connection.ts";
import { backoff, loop } from "../../src/agent/net/waits.ts";
import { Keys } from "../../src/agent/state/keys.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  vi.unstubAllEnvs();
});

async function listen(server: ReturnType<typeof createHttp>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function httpsServer() {
  const made = await generate([{ name: "commonName", value: "localhost" }], {
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
  });
  const server = createServer({ key: made.private, cert: made.cert }, (_, reply) => reply.end("{}"));
  const der = Buffer.from(made.cert.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
  return { port: await listen(server), cert: made.cert, pin: createHash("sha256").update(der).digest("hex") };
}

function connection(
  options: Omit<ConstructorParameters<typeof Connection>[0], "version" | "pins"> & { pins?: string[] },
) {
  const made = new Connection({ version: "1", pins: [], ...options });
  ends.push(() => made.close());
  return made;
}

describe("a connection", () => {
  it("trusts a private authority, and nothing else then", async () => {
    const { port, cert } = await httpsServer();
    const serverUrl = `https://localhost:${port}`;
    expect(await connection({ serverUrl, ca: cert }).post("/x", {})).toEqual({ status: 200, text: "{}" });
    await expect(connection({ serverUrl }).post("/x", {})).rejects.toThrow(/self-signed/);
    const other = await httpsServer();
    await expect(connection({ serverUrl, ca: other.cert }).post("/x", {})).rejects.toThrow(/self-signed/);
  });

  it("refuses a server whose certificate is not a pinned one, even if it is trusted", async () => {
    const { port, cert, pin } = await httpsServer();
    const serverUrl = `https://localhost:${port}`;
    const withColons = pin.toUpperCase().replace(/(..)(?=.)/g, "$1:");
    for (const pins of [[pin], ["0".repeat(64), withColons]])
      expect((await connection({ serverUrl, ca: cert, pins }).post("/x", {})).status).toBe(200);
    await expect(connection({ serverUrl, ca: cert, pins: ["0".repeat(64)] }).post("/x", {})).rejects.toThrow(
      /not a pinned one/,
    );
  });

  it("goes through the proxy of the environment, with the same checks", async () => {
    const { port, cert, pin } = await httpsServer();
    const tunnels: string[] = [];
    const proxy = createHttp();
    proxy.on("connect", (request, socket) => {
      tunnels.push(request.url!);
      const [host, to] = request.url!.split(":");
      const onward = connect(Number(to), host, () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        onward.pipe(socket).pipe(onward);
      });
      for (const one of [onward, socket]) one.on("error", () => onward.destroy());
    });
    vi.stubEnv("https_proxy", `http://127.0.0.1:${await listen(proxy)}`);
    vi.stubEnv("no_proxy", "");
    const serverUrl = `https://localhost:${port}`;
    expect((await connection({ serverUrl, ca: cert, pins: [pin] }).post("/x", {})).status).toBe(200);
    expect(tunnels).toEqual([`localhost:${port}`]);
    await expect(connection({ serverUrl, ca: cert, pins: ["0".repeat(64)] }).post("/x", {})).rejects.toThrow(/pinned/);
    vi.stubEnv("no_proxy", "localhost");
    await connection({ serverUrl, ca: cert }).post("/x", {});
    expect(tunnels).toHaveLength(2);
  });

  it("notices that the clocks differ", async () => {
    const server = createHttp((_, reply) => {
      reply.setHeader("date", new Date(Date.now() + 86_400_000).toUTCString());
      reply.end("{}");
    });
    const reply = await connection({ serverUrl: `http://127.0.0.1:${await listen(server)}` }).post("/x", {});
    expect(reply).toMatchObject({ status: 200, aheadS: expect.any(Number) });
    expect(Math.abs(reply.aheadS! + 86_400)).toBeLessThan(60);
    expect(new RequestRefused("enroll", { status: 401, text: '{"message":"no"}', aheadS: -86_400 }).message).toBe(
      "enroll: status 401: no. This machine's clock is wrong by 1440 minutes",
    );
    expect(new RequestRefused("enroll", { status: 404, text: '{"message":"no"}', aheadS: 90 }).message).toBe(
      "enroll: status 404: no",
    );
  });

  it("reports why there was no reply", async () => {
    const { port } = await httpsServer();
    await ends.pop()!();
    await expect(connection({ serverUrl: `https://127.0.0.1:${port}` }).post("/x", {})).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe("waits", () => {
  it("grow with failures, at random, up to five minutes", () => {
    expect(backoff(1, 5_000, () => 0)).toBe(2_500);
    expect(backoff(1, 5_000, () => 1)).toBe(5_000);
    expect(backoff(3, 5_000, () => 1)).toBe(20_000);
    expect(backoff(50, 5_000, () => 1)).toBe(300_000);
  });

  it("of a loop end with the signal, and a series of failures is reported once", async () => {
    const stop = new AbortController();
    const changes: string[] = [];
    let turns = 0;
    const turn = async () => {
      if (++turns <= 3) throw new Error(`failure ${turns}`);
      setImmediate(() => stop.abort());
      return 3600;
    };
    const onChange = (error: unknown) => changes.push(error === null ? "works" : (error as Error).message);
    await loop(turn, { signal: stop.signal, scale: 0.0001, onChange });
    expect([turns, changes]).toEqual([4, ["failure 1", "works"]]);
  });
});

describe("keys", () => {
  const open = async (dir: string, url = "https://a", uuid = "U1") => Keys.open(dir, url, uuid);

  it("are in a file that only its owner can read, and survive a restart", async () => {
    const dir = await mkdtemp(join(tmpdir(), "svc-keys-"));
    ends.push(() => rm(dir, { recursive: true }));
    const keys = await open(dir);
    await Promise.all([keys.set("node_key", "n"), keys.set("agent_node_key", "a")]);
    expect((await stat(join(dir, "agent.json"))).mode & 0o777).toBe(0o600);
    const again = await open(dir);
    expect([again.get("node_key"), again.get("agent_node_key"), again.instanceId]).toEqual(["n", "a", keys.instanceId]);
    expect(JSON.parse(await readFile(join(dir, "agent.json"), "utf8"))).toMatchObject({ node_key: "n" });
  });

  it("are forgotten for another server, and on a machine that was cloned with them", async () => {
    const dir = await mkdtemp(join(tmpdir(), "svc-keys-"));
    ends.push(() => rm(dir, { recursive: true }));
    const first = await open(dir);
    await first.set("node_key", "n");
    const cloned = await open(dir, "https://a", "U2");
    expect(cloned.get("node_key")).toBeNull();
    expect(cloned.instanceId).not.toBe(first.instanceId);
    await cloned.set("node_key", "m");
    expect((await open(dir, "https://b", "U2")).get("node_key")).toBeNull();
  });

  it("are not written if they are the same, so that a full disk does not keep the agent from starting", async () => {
    const dir = await mkdtemp(join(tmpdir(), "svc-keys-"));
    ends.push(() => rm(dir, { recursive: true }));
    await (await open(dir)).set("node_key", "n");
    const file = async () => (await stat(join(dir, "agent.json"))).ino;
    const before = await file();
    expect((await open(dir)).get("node_key")).toBe("n");
    expect(await file()).toBe(before);
    await open(dir, "https://b");
    expect(await file()).not.toBe(before);
  });

  it("are dropped only if nobody has replaced them", async () => {
    const dir = await mkdtemp(join(tmpdir(), "svc-keys-"));
    ends.push(() => rm(dir, { recursive: true }));
    const keys = await open(dir);
    await keys.set("node_key", "new");
    await keys.drop("node_key", "old");
    expect(keys.get("node_key")).toBe("new");
    await keys.drop("node_key", "new");
    expect(keys.get("node_key")).toBeNull();
  });
});
