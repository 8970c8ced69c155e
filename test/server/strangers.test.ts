import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { toNodeHandler } from "h3/node";
import { afterEach, describe, expect, it, vi } from "vitest";
import { allEndpoints, protocols } from "../../src/api/all.ts";
import { createApp } from "../../src/server/app.ts";
import { directHandler } from "../../src/server/direct.ts";
import { agentHandler } from "../../src/server/edge/agent/http/node-handler.ts";
import { StrangerBudgets, StrangerCost, strangerBudgets } from "../../src/server/platform/core/http/strangers.ts";
import { protocolsOf } from "../../src/server/protocols.ts";
import { parseXml, XmlProblem } from "../../src/xml/xml.ts";
import { startApp } from "../support/app.ts";
import { makeManaged, SECRET } from "../support/managed.ts";

const KiB = 1024;

describe("the budget of strangers", () => {
  const at = (now: { ms: number }) => new StrangerBudgets({ address: 50, all: 200 }, () => now.ms);

  it("gives an address 50 ms of each second, and lets it pay what it has overdrawn", () => {
    const now = { ms: 0 };
    const budgets = at(now);
    budgets.charge("203.0.113.1", 49);
    expect(budgets.wait("203.0.113.1", false)).toBe(0);
    budgets.charge("203.0.113.1", 90);
    expect(budgets.wait("203.0.113.1", false)).toBe(2);
    expect(budgets.wait("203.0.113.2", false)).toBe(0);
    now.ms = 1_700;
    expect(budgets.wait("203.0.113.1", false)).toBe(1);
    now.ms = 1_900;
    expect(budgets.wait("203.0.113.1", false)).toBe(0);
  });

  it("saves nothing for later", () => {
    const now = { ms: 0 };
    const budgets = at(now);
    now.ms = 3_600_000;
    budgets.charge("203.0.113.1", 51);
    expect(budgets.wait("203.0.113.1", false)).toBe(1);
  });

  it("gives all of them 200 ms, of which a quarter is kept for addresses of known hosts", () => {
    const now = { ms: 0 };
    const budgets = at(now);
    for (let i = 0; i < 155; i++) budgets.charge(`203.0.113.${i}`, 1);
    expect([budgets.wait("198.51.100.1", false), budgets.wait("198.51.100.1", true)]).toEqual([1, 0]);
    for (let i = 0; i < 50; i++) budgets.charge(`203.0.113.${i}`, 1);
    expect(budgets.wait("198.51.100.1", true)).toBe(1);
  });

  it("is bounded for any number of addresses, of which none gets more by that", () => {
    const now = { ms: 0 };
    const budgets = at(now);
    for (let i = 0; i < 50_000; i++) budgets.charge(`2001:db8:${i.toString(16)}`, 1);
    expect(budgets.wait("198.51.100.1", true)).toBeGreaterThan(200);
  });

  it("is given back to callers who prove who they are", () => {
    const now = { ms: 0 };
    const budgets = at(now);
    const cost = new StrangerCost(budgets, "203.0.113.1", false);
    cost.admit();
    cost.charge(500);
    expect(() => new StrangerCost(budgets, "203.0.113.1", false).admit()).toThrow(/limit exceeded/);
    cost.prove();
    expect(cost.wait()).toBe(0);
    expect(budgets.wait("203.0.113.1", false)).toBe(0);
    cost.charge(500);
    expect(budgets.wait("203.0.113.1", false)).toBe(0);
  });
});

describe("the XML parser", () => {
  const reason = (text: string, most: number, lenient = true): string => {
    try {
      parseXml(text, { most, lenient });
      return "";
    } catch (error) {
      if (error instanceof XmlProblem) return error.message;
      throw error;
    }
  };

  it.each(["<?x y?>", "<!--x-->", "<![CDATA[x]]>", "<b/>"])("counts %s", (part) => {
    expect(reason(`<a>${part.repeat(99)}</a>`, 100)).toBe("");
    expect(reason(`<a>${part.repeat(100)}</a>`, 100)).toBe("it has too many parts");
  });

  it.each(["&#65;", "&lt;"])("limits references like %s", (part) => {
    expect(reason(`<a>${part.repeat(500)}</a>`, 100)).toBe("");
    expect(reason(`<a>${part.repeat(501)}</a>`, 100)).toBe("it has too many references");
    expect(reason(`<a b="${part.repeat(501)}"/>`, 100)).toBe("it has too many references");
  });
});

/** Lists of groups, and sign-in requests. */
const LARGER: Readonly<Record<string, number>> = { callback: 512 * KiB, sso: 192 * KiB };

const open = [
  ...allEndpoints.map(({ group, name, endpoint }) => ({ group, name: name.split(".")[1]!, endpoint })),
  ...Object.entries(protocols).flatMap(([group, all]) =>
    Object.entries(all).map(([name, endpoint]) => ({ group, name, endpoint })),
  ),
].filter(({ endpoint }) => endpoint.access === "none" && endpoint.hasBody);

/** The server with its handlers on a socket, behind a trusted proxy on this machine. */
async function behindProxy() {
  const t = await startApp({ settings: { trusted_proxies: ["127.0.0.1"] } });
  const app = toNodeHandler(createApp(t.services, { agent: t.agent, stop: async () => {} })) as RequestListener;
  const agents = agentHandler(t.agent, t.services);
  const devices = directHandler(t.services, protocolsOf(t.services.settings));
  const server = createServer((req, res) => {
    if (!agents(req, res) && !devices(req, res)) app(req, res);
  }).listen(0, "127.0.0.1");
  close = async () => void server.close();
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const post = (path: string, from: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "x-forwarded-for": from, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : new Uint8Array(body),
    });
  /** As after expensive requests. */
  const overdraw = (from: string) => t.services.running.of(strangerBudgets).charge(from, 3_600_000);
  return { t, post, overdraw };
}

let close = async () => {};
afterEach(() => close());

/** What cost half a second of the only thread: 2 MiB that are 3 KB as gzip. */
const bombs = ["<?x y?>", "&#65;", "<!---->", "<![CDATA[]]>"].map((part) =>
  gzipSync(`<a>${part.repeat(Math.floor((2 * 1024 * KiB) / part.length))}</a>`),
);
const windows = [
  "/EnrollmentServer/Discovery.svc",
  "/api/mdm/windows/discovery",
  "/api/mdm/windows/policy",
  "/api/mdm/windows/enroll",
  "/api/mdm/windows/management",
];
const stranger = "203.0.113.9";

describe("a stranger", () => {
  it.each(open.map(({ group, name, endpoint }) => [`${group}.${name}`, name, endpoint] as const))(
    "sends %s only a small body",
    (_, name, endpoint) => {
      expect(endpoint.strangerLimit).toBeLessThanOrEqual(LARGER[name] ?? 64 * KiB);
    },
  );

  it("gets 413 for what inflates to megabytes, before it is parsed", async () => {
    const { post } = await behindProxy();
    const gzip = { "content-type": "application/soap+xml", "content-encoding": "gzip" };
    // Each from its own address, and with time for the budget of all.
    let address = 0;
    const now = vi.spyOn(performance, "now");
    for (const path of windows)
      for (const body of bombs) {
        now.mockReturnValue(++address * 1_000_000);
        expect([path, (await post(path, `203.0.113.${address}`, body, gzip)).status]).toEqual([path, 413]);
      }
    now.mockRestore();
  });

  it("is refused with 429 while its address has no budget, at every endpoint without sign-in", async () => {
    const { post, overdraw } = await behindProxy();
    const large = `{"data":${JSON.stringify("x".repeat(2_000))}}`;
    const paths = [
      ...windows,
      "/api/v1/svc/login",
      "/api/v1/svc/sso",
      "/api/svc/orbit/enroll",
      "/api/svc/orbit/config",
      "/mdm/vendora/scep",
      "/api/v1/qengine/enroll",
      "/api/v1/qengine/distributed/write",
    ];
    for (const path of paths) expect((await post(path, stranger, large)).status).not.toBe(429);
    overdraw(stranger);
    for (const path of paths) {
      const res = await post(path, stranger, large);
      expect([path, res.status, Number(res.headers.get("retry-after")) > 0]).toEqual([path, 429, true]);
    }
  });

  it("does not keep agents at the same address from calling", async () => {
    const { t, post, overdraw } = await behindProxy();
    const { key: managed } = await makeManaged(t);
    const enrolled = await post(
      "/api/v1/qengine/enroll",
      "203.0.113.20",
      JSON.stringify({ enroll_secret: SECRET, host_identifier: "a" }),
    );
    const { node_key } = (await enrolled.json()) as { node_key: string };
    overdraw(stranger);
    const results = { node_key, queries: { x: [{ y: "z".repeat(100_000) }] } };
    const last = { queries: results.queries, node_key };
    for (const body of [results, last])
      expect((await post("/api/v1/qengine/distributed/write", stranger, JSON.stringify(body))).status).toBe(200);
    const gzip = { "content-encoding": "gzip" };
    expect(
      (await post("/api/v1/qengine/distributed/write", stranger, gzipSync(JSON.stringify(results)), gzip)).status,
    ).toBe(200);
    const config = { orbit_node_key: managed, padding: "x".repeat(100_000) };
    expect((await post("/api/svc/orbit/config", stranger, JSON.stringify(config))).status).toBe(200);
  });

  it("with a large body is refused unless it names a host", async () => {
    const { post } = await behindProxy();
    const padding = "x".repeat(100_000);
    const unnamed = JSON.stringify({ padding });
    expect((await post("/api/svc/orbit/config", stranger, unnamed)).status).toBe(413);
    const named = JSON.stringify({ orbit_node_key: "made-up", padding });
    expect((await post("/api/svc/orbit/config", stranger, named)).status).toBe(401);
    expect((await post("/api/v1/qengine/log", stranger, unnamed)).status).toBe(413);
    expect(
      (await post("/api/v1/qengine/log", stranger, gzipSync(unnamed), { "content-encoding": "gzip" })).status,
    ).toBe(413);
  });
});
