import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { toNodeHandler } from "h3/node";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { allEndpoints, protocols } from "../../src/api/all.ts";
import type { Purpose } from "../../src/api/endpoint.ts";
import { createApp } from "../../src/server/app.ts";
import { directHandler } from "../../src/server/direct.ts";
import { agentHandler } from "../../src/server/edge/agent/http/node-handler.ts";
import { StrangerBudgets } from "../../src/server/platform/core/http/stranger-budgets.ts";
import { StrangerCost, strangerBudgets } from "../../src/server/platform/core/http/strangers.ts";
import { protocolsOf } from "../../src/server/protocols.ts";
import { parseXml, XmlProblem } from "../../src/xml/xml.ts";
import { startApp } from "../support/app.ts";
import { makeManaged, SECRET } from "../support/managed.ts";
import { requestFrom } from "../support/strangers.ts";

const KiB = 1024;

describe("the budget of strangers", () => {
  const rates = { address: 50, proxy: 100, all: 200, "sign-in": 40, enrollment: 40 };
  const at = (now: { ms: number }) => new StrangerBudgets(rates, () => now.ms);
  const wait = (budgets: StrangerBudgets, purpose: Purpose, place = "198.51.100.1") =>
    budgets.wait({ place, isFamiliar: false, purpose });
  const network = (i: number) => `2001:db8:0:${i.toString(16)}`;

  it("gives an address 50 ms of each second, and lets it pay what it has overdrawn", () => {
    const now = { ms: 0 };
    const budgets = at(now);
    budgets.charge(requestFrom("203.0.113.1"), 49);
    expect(budgets.wait(requestFrom("203.0.113.1"))).toBe(0);
    budgets.charge(requestFrom("203.0.113.1"), 90);
    expect(budgets.wait(requestFrom("203.0.113.1"))).toBe(2);
    expect(budgets.wait(requestFrom("203.0.113.2"))).toBe(0);
    now.ms = 1_700;
    expect(budgets.wait(requestFrom("203.0.113.1"))).toBe(1);
    now.ms = 1_900;
    expect(budgets.wait(requestFrom("203.0.113.1"))).toBe(0);
  });

  it("saves nothing for later", () => {
    const now = { ms: 0 };
    const budgets = at(now);
    now.ms = 3_600_000;
    budgets.charge(requestFrom("203.0.113.1"), 51);
    expect(budgets.wait(requestFrom("203.0.113.1"))).toBe(1);
  });

  it("gives all of them 200 ms, of which a quarter is kept for addresses of known hosts", () => {
    const now = { ms: 0 };
    const budgets = at(now);
    for (let i = 0; i < 155; i++) budgets.charge(requestFrom(`203.0.113.${i}`), 1);
    expect([budgets.wait(requestFrom("198.51.100.1")), budgets.wait(requestFrom("198.51.100.1", true))]).toEqual([
      1, 0,
    ]);
    for (let i = 0; i < 50; i++) budgets.charge(requestFrom(`203.0.113.${i}`), 1);
    expect(budgets.wait(requestFrom("198.51.100.1", true))).toBe(1);
  });

  it("of all is not used up by one request, however much it costs, nor by one address", () => {
    const now = { ms: 0 };
    const budgets = at(now);
    for (let i = 0; i < 10; i++) budgets.charge(requestFrom("203.0.113.1"), 2_000);
    expect(budgets.wait(requestFrom("203.0.113.1"))).toBe(399);
    expect(budgets.wait(requestFrom("198.51.100.1"))).toBe(0);
    now.ms = 1_000;
    budgets.charge(requestFrom("203.0.113.2"), 2_000);
    budgets.charge(requestFrom("203.0.113.3"), 2_000);
    expect(budgets.wait(requestFrom("198.51.100.1"))).toBe(0);
  });

  it("of all is not used up by refusals, from any number of networks", () => {
    const budgets = at({ ms: 0 });
    for (let i = 0; i < 10_000; i++) budgets.chargeRefusal(network(i), 2);
    expect(budgets.wait(requestFrom("198.51.100.1"))).toBe(0);
  });

  it("has a reserve for sign-ins and one for enrollments, which nothing else uses up", () => {
    const budgets = at({ ms: 0 });
    for (let i = 0; i < 100; i++) budgets.charge(requestFrom(network(i)), 2_000);
    expect(wait(budgets, "other")).toBeGreaterThan(0);
    expect([wait(budgets, "sign-in"), wait(budgets, "enrollment")]).toEqual([0, 0]);
    for (let i = 200; i < 210; i++) budgets.charge({ ...requestFrom(network(i)), purpose: "enrollment" }, 10);
    expect(wait(budgets, "enrollment")).toBeGreaterThan(0);
    expect(wait(budgets, "sign-in")).toBe(0);
    for (let i = 300; i < 310; i++) budgets.charge({ ...requestFrom(network(i)), purpose: "sign-in" }, 10);
    expect(wait(budgets, "sign-in")).toBeGreaterThan(0);
  });

  it("gives a reserve back to those who sign in", () => {
    const budgets = at({ ms: 0 });
    for (let i = 0; i < 100; i++) budgets.charge(requestFrom(network(i)), 2_000);
    for (let i = 0; i < 100; i++) {
      const cost = new StrangerCost(budgets, "203.0.113.1", false);
      cost.isFor("sign-in");
      cost.admit();
      cost.charge(30);
      cost.prove();
    }
    expect(wait(budgets, "sign-in", "203.0.113.1")).toBe(0);
    expect(wait(budgets, "other")).toBeGreaterThan(0);
  });

  it("of an untrusted proxy is twice that of an address, and does not concern sign-ins and enrollments", () => {
    const budgets = at({ ms: 0 });
    budgets.charge(requestFrom("127.0.0.1"), 99);
    expect(budgets.wait(requestFrom("127.0.0.1"))).toBe(0);
    budgets.charge(requestFrom("127.0.0.1"), 10_000);
    expect(budgets.wait(requestFrom("127.0.0.1"))).toBeGreaterThan(0);
    expect([wait(budgets, "sign-in", "127.0.0.1"), wait(budgets, "enrollment", "127.0.0.1")]).toEqual([0, 0]);
    expect(budgets.isDeep("127.0.0.1")).toBe(false);
  });

  it("is looked at again before work for which many requests were admitted at the same time", () => {
    const budgets = at({ ms: 0 });
    const costs = Array.from({ length: 20 }, () => new StrangerCost(budgets, "203.0.113.1", false));
    for (const cost of costs) cost.admit();
    costs[0]!.charge(40);
    const works = costs.slice(1).map((cost) => () => cost.measure(() => "worked"));
    for (const work of works) expect(work).toThrow(/limit exceeded/);
    expect(costs[0]!.measure(() => "worked")).toBe("worked");
  });

  it("is bounded for any number of addresses, of which none gets more by that", () => {
    const now = { ms: 0 };
    const budgets = at(now);
    for (let i = 0; i < 50_000; i++) budgets.charge(requestFrom(`2001:db8:${i.toString(16)}`), 1);
    expect(budgets.wait(requestFrom("198.51.100.1"))).toBe(2);
    now.ms = 2_000;
    expect(budgets.wait(requestFrom("198.51.100.1"))).toBe(0);
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
    expect(budgets.wait(requestFrom("203.0.113.1"))).toBe(0);
    cost.charge(500);
    expect(budgets.wait(requestFrom("203.0.113.1"))).toBe(0);
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
  /** Leaves the budget that expensive requests would leave. */
  const overdraw = (from: string) => t.services.running.of(strangerBudgets).charge(requestFrom(from), 3_600_000);
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
    // With time for the budget between them, and none afterwards.
    const now = vi.spyOn(performance, "now");
    onTestFinished(() => now.mockRestore());
    for (const [i, path] of paths.entries()) {
      now.mockReturnValue((i + 1) * 1_000_000);
      expect((await post(path, stranger, large)).status).not.toBe(429);
    }
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
