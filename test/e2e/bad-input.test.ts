// Input that a careless or hostile client may send: the server replies or closes the connection, and continues to serve
// others.
import { setTimeout } from "node:timers/promises";
import { createGzip, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BenchServer, signIn } from "../../bench/support/serve.ts";
import { agentCall, enroll, enrollBody, withSecret } from "./support/agents.ts";
import { exchange, flood, render, Wire } from "./support/raw.ts";
import { build, serve } from "./support/svc.ts";

const MB = 1024 * 1024;
const API = "/api/v1/svc";
const AGENT = "/api/v1/qengine";
let server: BenchServer;
let token: string;
let nodeKey: string;

beforeAll(async () => {
  await build();
  server = await serve();
  await withSecret(server);
  nodeKey = await enroll(server, "host-1");
  const login = await server.send(`${API}/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: server.email, password: server.password }),
  });
  token = ((await login.json()) as { token: string }).token;
}, 600_000);

afterAll(async () => {
  // No test caused an internal error of the server, and it stops normally.
  expect(await server.stop()).toBe(0);
  const faults = server
    .log()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { level: number | string; msg: string })
    .filter(({ level }) => level === "error" || level === "fatal" || Number(level) >= 50);
  expect(faults).toEqual([]);
});

/** The increase of resident memory, at its highest, while the work runs. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const before = server.usage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, server.usage().rss);
  }, 5);
  await work();
  clearInterval(timer);
  return Math.max(most, server.usage().rss) - before;
}

describe("bodies over the limit", () => {
  const blank = Buffer.alloc(MB, " ");

  it("are refused by the API before they are read completely", async () => {
    const headers = { Authorization: `Bearer ${token}` };
    let reply = null as Awaited<ReturnType<typeof flood>>;
    const grown = await growth(async () => {
      reply = await flood(server.url, { method: "POST", target: `${API}/users/admin`, headers }, 100 * MB, blank);
    });
    expect(reply?.status).toBe(413);
    expect(JSON.parse(reply!.body)).toMatchObject({ message: expect.any(String), errors: [{ name: "base" }] });
    expect(grown).toBeLessThan(50 * MB);
  });

  it.each(["enroll", "config", "distributed/read"])("get an error as the reply to %s of agents", async (endpoint) => {
    let reply = null as Awaited<ReturnType<typeof flood>>;
    const grown = await growth(async () => {
      reply = await flood(server.url, { method: "POST", target: `${AGENT}/${endpoint}` }, 100 * MB, blank);
    });
    expect(reply?.status).toBe(413);
    expect(JSON.parse(reply!.body)).toEqual({ error: expect.any(String) });
    expect(grown).toBeLessThan(50 * MB);
  });

  it("get an error as the reply to logs, and are accepted and dropped as query results", async () => {
    const beyond = 101 * MB;
    const log = await flood(server.url, { method: "POST", target: `${AGENT}/log` }, beyond, blank);
    expect(log?.status).toBe(413);
    expect(JSON.parse(log!.body)).toEqual({ error: expect.any(String) });
    const write = await flood(server.url, { method: "POST", target: `${AGENT}/distributed/write` }, beyond, blank);
    expect([write?.status, write?.body]).toEqual([200, "{}"]);
  });
});

describe("gzip that decompresses to 1 GB", () => {
  let bomb: Buffer;
  beforeAll(async () => {
    bomb = await deflated(1024);
    // 1,030 times is the maximum ratio of one pass of deflate.
    expect(bomb.length).toBeLessThan(1.1 * MB);
  });

  const send = (target: string, body: Buffer, headers: Record<string, string> = {}) =>
    exchange(server.url, { method: "POST", target, body, headers: { "Content-Encoding": "gzip", ...headers } });

  it("is refused by the API", async () => {
    let reply = null as Awaited<ReturnType<typeof exchange>>;
    const grown = await growth(async () => {
      reply = await send(`${API}/users/admin`, bomb, { Authorization: `Bearer ${token}` });
    });
    expect(reply?.status).toBe(413);
    expect(grown).toBeLessThan(50 * MB);
  });

  it.each(["enroll", "config", "distributed/read", "log"])("gets an error as the reply at %s", async (endpoint) => {
    let reply = null as Awaited<ReturnType<typeof exchange>>;
    const grown = await growth(async () => {
      reply = await send(`${AGENT}/${endpoint}`, bomb);
    });
    expect(reply?.status).toBe(413);
    expect(JSON.parse(reply!.body)).toEqual({ error: expect.any(String) });
    expect(grown).toBeLessThan(50 * MB);
  });

  it("is dropped at distributed/write, so that the agent does not send it again", async () => {
    const grown = await growth(async () => {
      const reply = await send(`${AGENT}/distributed/write`, bomb);
      expect([reply?.status, reply?.body]).toEqual([200, "{}"]);
    });
    expect(grown).toBeLessThan(50 * MB);
  });

  it("of 10 KB with valid content is judged by its decompressed size", async () => {
    const small = gzipSync(Buffer.alloc(10 * MB, "a"));
    expect(small.length).toBeLessThan(12 * 1024);
    for (const endpoint of ["enroll", "config", "distributed/read"]) {
      const reply = await send(`${AGENT}/${endpoint}`, small);
      expect(JSON.parse(reply!.body)).toEqual({ error: expect.any(String) });
    }
    expect((await send(`${API}/users/admin`, small, { Authorization: `Bearer ${token}` }))?.status).toBe(413);
  });

  it("that is truncated or damaged is a client error", async () => {
    for (const body of [bomb.subarray(0, 5000), Buffer.from("not gzip at all")]) {
      const api = await send(`${API}/users/admin`, body, { Authorization: `Bearer ${token}` });
      expect([400, 413]).toContain(api?.status);
      const agent = await send(`${AGENT}/enroll`, body);
      expect(JSON.parse(agent!.body)).toEqual({ error: expect.any(String) });
    }
  });
});

describe("node keys", () => {
  it("are refused permanently only if no host has them", async () => {
    const stale = await enroll(server, "host-2");
    expect((await agentCall(server, "config", { node_key: stale })).body).not.toHaveProperty("node_invalid");
    // The host enrolls again: its old key becomes invalid immediately.
    const fresh = await enroll(server, "host-2");
    for (const endpoint of ["config", "distributed/read"]) {
      const old = await agentCall(server, endpoint, { node_key: stale });
      expect(old).toMatchObject({ status: 401, body: { error: expect.any(String), node_invalid: true } });
      const now = await agentCall(server, endpoint, { node_key: fresh });
      expect(now.body).not.toHaveProperty("error");
    }
  });

  it("that contradict each other, or bodies that are not JSON, do not invalidate a host's key", async () => {
    const both = await agentCall(server, "config", { node_key: nodeKey }, { authorization: "NodeKey another" });
    expect(both.body).toEqual({ error: expect.any(String) });
    for (const body of ["", "{", "[]", "null", '"text"', "\u0000", `{"node_key":`]) {
      const reply = await agentCall(server, "distributed/read", body);
      expect(reply.body).toEqual({ error: expect.any(String) });
    }
    const wrongSecret = await agentCall(server, "enroll", enrollBody("host-3", "wrong"));
    expect(wrongSecret.body).toMatchObject({ error: expect.any(String) });
    expect(wrongSecret.body).not.toHaveProperty("node_key");
  });
});

describe("requests on one connection", () => {
  it("are answered in order, also if agents' and API requests are mixed", async () => {
    const wire = await Wire.open(server.url);
    const read = JSON.stringify({ node_key: nodeKey });
    const bearer = { Authorization: `Bearer ${token}` };
    const kinds = [
      { request: { method: "POST", target: `${AGENT}/distributed/read`, body: read }, holds: "queries" },
      { request: { target: `${API}/hosts`, headers: bearer }, holds: '"hosts"' },
      { request: { method: "POST", target: `${AGENT}/config`, body: read }, holds: "{" },
      { request: { target: `${API}/version`, headers: bearer }, holds: '"version"' },
      { request: { target: "/healthz" }, holds: '"ok"' },
      { request: { method: "POST", target: `${AGENT}/config`, body: '{"node_key":"x"}' }, holds: "node_invalid" },
      { request: { target: `${API}/nothing-here`, headers: bearer }, holds: "errors" },
    ];
    const sent = Array.from({ length: 10 }, () => kinds).flat();
    wire.write(Buffer.concat(sent.map(({ request }) => render(request))));
    for (const { holds } of sent) expect((await wire.next())?.body).toContain(holds);
    wire.close();
  });

  it("do not wait for slow requests of others", async () => {
    const slow = await Promise.all(Array.from({ length: 300 }, () => Wire.open(server.url)));
    slow.forEach((wire, i) => {
      if (i % 3 === 0) wire.write(`GET ${API}/version HTTP/1.1\r\nHost: x\r\nX-Dribble: `);
      else if (i % 3 === 1)
        wire.write(`POST ${AGENT}/log HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{"node_key":`);
    });
    const times: number[] = [];
    for (let i = 0; i < 50; i++) {
      slow[i % 2]!.write("a");
      const from = performance.now();
      const reply = await agentCall(server, "distributed/read", { node_key: nodeKey });
      times.push(performance.now() - from);
      expect(reply.body).not.toHaveProperty("error");
    }
    // The slow requests have fifteen seconds for their headers.
    expect(times.sort((a, b) => a - b)[25]).toBeLessThan(5_000);
    for (const wire of slow) wire.close();
  });
});

describe("unusual requests", () => {
  const bearer = () => ({ Authorization: `Bearer ${token}` });

  it("with HEAD and OPTIONS have no body, or a refusal", async () => {
    const health = await exchange(server.url, { method: "HEAD", target: "/healthz" });
    expect(health).toMatchObject({ status: 200, body: "" });
    for (const method of ["HEAD", "OPTIONS", "PUT", "TRACE", "PROPFIND"]) {
      for (const target of [`${API}/hosts`, `${AGENT}/config`, "/", "/metrics"]) {
        const reply = await exchange(server.url, { method, target, headers: bearer() });
        expect(reply?.status, `${method} ${target}`).toBeLessThan(500);
        if (method !== "HEAD" && target !== "/metrics" && target !== "/")
          expect(reply?.status, `${method} ${target}`).toBeGreaterThanOrEqual(400);
      }
    }
    // A connection on which a HEAD was answered remains usable.
    const wire = await Wire.open(server.url);
    wire.write(render({ method: "HEAD", target: `${API}/version`, headers: bearer() }));
    wire.write(render({ method: "HEAD", target: `${AGENT}/config` }));
    wire.write(render({ target: "/healthz" }));
    await wire.next({ bodyless: true });
    await wire.next({ bodyless: true });
    expect((await wire.next())?.body).toContain('"ok"');
    wire.close();
  });

  it("in absolute form use the same paths", async () => {
    const reply = await exchange(server.url, { target: `http://svc.example.com${API}/version`, headers: bearer() });
    expect(reply?.status).toBe(200);
    const read = JSON.stringify({ node_key: nodeKey });
    const target = `http://svc.example.com${AGENT}/distributed/read`;
    const agent = await exchange(server.url, { method: "POST", target, body: read });
    expect(agent?.status).toBe(200);
    expect(JSON.parse(agent!.body)).toHaveProperty("queries");
  });

  it.each([
    ["an encoded slash", `${API}/hosts/identifier/a%2Fb`, [404]],
    ["an encoded NUL", `${API}/hosts/identifier/a%00b`, [400, 404, 422]],
    ["a broken escape", `${API}/hosts/identifier/%E0%A4%A`, [400, 404]],
    ["dots that climb", `${API}/../../../etc/passwd`, [400, 404]],
    ["encoded dots that climb", `${API}/%2e%2e/%2e%2e/etc/passwd`, [400, 404]],
    ["two slashes at the front", `//evil.example.com${API}/version`, [400, 404]],
    ["a long path", `${API}/hosts/identifier/${"a".repeat(10_000)}`, [400, 404, 414, 422]],
    ["a path longer than headers may be", `${API}/${"a".repeat(100_000)}`, [414, 431]],
    ["a long query", `${API}/hosts?query=${"a".repeat(10_000)}`, [200, 400, 414, 422]],
    ["a NUL in the query", `${API}/hosts?query=%00`, [200, 400, 422]],
    ["half a surrogate in the query", `${API}/hosts?query=%ED%A0%80`, [200, 400, 422]],
    ["an id beyond all numbers", `${API}/hosts/99999999999999999999`, [400, 404, 422]],
  ] as const)("with %s get a plain reply", async (_, target, allowed) => {
    const reply = await exchange(server.url, { target, headers: bearer() });
    expect(allowed).toContain(reply?.status);
    if (reply?.headers.get("content-type")?.includes("json")) JSON.parse(reply.body);
  });

  it("that violate HTTP are cut off, without an effect on others", async () => {
    const smuggled = [
      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
      "GET /\u0000 HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nX: a\u0000b\r\n\r\n",
      "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
      "SSH-2.0-OpenSSH_9.6\r\n",
      `GET / HTTP/1.1\r\nHost: x\r\n${"X-Many: 1\r\n".repeat(5000)}\r\n`,
    ];
    for (const bytes of smuggled) {
      const wire = await Wire.open(server.url);
      wire.write(Buffer.from(bytes, "latin1"));
      const reply = await wire.next();
      if (reply !== null) expect(reply.status).toBeGreaterThanOrEqual(400);
      wire.close();
    }
    expect((await server.send("/healthz")).status).toBe(200);
  });
});

describe("forwarding headers at login", () => {
  /** Hashing a password uses up the processor time of an address for a moment, which is not the limit of attempts. */
  const MOMENT_SECONDS = 5;
  const attempt = async (to: BenchServer, forwarded: string) => {
    for (;;) {
      const reply = await exchange(to.url, {
        method: "POST",
        target: `${API}/login`,
        headers: { "X-Forwarded-For": forwarded, Forwarded: `for=${forwarded}`, "X-Real-IP": forwarded },
        body: JSON.stringify({ email: `${forwarded}@example.com`, password: "wrong-password-1" }),
      });
      const wait = Number(reply?.headers.get("retry-after") ?? 0);
      if (reply?.status !== 429 || wait > MOMENT_SECONDS) return reply;
      await setTimeout(wait * 1000);
    }
  };

  it("from strangers do not bypass the limit", async () => {
    const own = await serve();
    const statuses: (number | undefined)[] = [];
    for (let i = 1; i <= 12; i++) {
      const reply = await attempt(own, `198.51.100.${i}`);
      statuses.push(reply?.status);
      if (reply?.status === 429) expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    await own.stop();
  });

  it("from trusted proxies distinguish callers", async () => {
    const own = await serve({ args: ["--trusted-proxies", "127.0.0.0/8"] });
    const statuses: (number | undefined)[] = [];
    // The addresses to the left of the one that the proxy added were invented by the caller.
    for (let i = 1; i <= 11; i++) statuses.push((await attempt(own, `203.0.113.${i}, 198.51.100.99`))?.status);
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    expect((await attempt(own, "198.51.100.98"))?.status).toBe(401);
    await own.stop();
  });
});

it("the first admin can still sign in after all this", async () => {
  const call = await signIn(server);
  const { hosts } = await call<{ hosts: { hostname: string }[] }>("GET", "/hosts");
  expect(hosts.map(({ hostname }) => hostname).sort()).toEqual(["host-1", "host-2"]);
});

/** Blanks of this many MB, compressed. */
async function deflated(megabytes: number): Promise<Buffer> {
  const gzip = createGzip({ level: 9 });
  const parts: Buffer[] = [];
  gzip.on("data", (part: Buffer) => parts.push(part));
  const done = new Promise((resolve) => gzip.once("end", resolve));
  const blank = Buffer.alloc(MB, " ");
  for (let i = 0; i < megabytes; i++) if (!gzip.write(blank)) await new Promise((go) => gzip.once("drain", go));
  gzip.end();
  await done;
  return Buffer.concat(parts);
}
