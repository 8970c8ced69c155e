// Addresses without budget are refused on plain Node, in front of the router.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { toNodeHandler } from "h3/node";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createApp } from "../../src/server/app.ts";
import { agentHandler } from "../../src/server/edge/agent/http/node-handler.ts";
import { apiDescription } from "../../src/server/edge/web/api-description.ts";
import { EACH, strangerBudgets } from "../../src/server/platform/core/http/strangers.ts";
import { protocolsOf } from "../../src/server/protocols.ts";
import { routes } from "../../src/server/routes.ts";
import { StrangerRefusals } from "../../src/server/stranger-refusals.ts";
import { ADMIN, startApp } from "../support/app.ts";
import { makeManaged, SECRET } from "../support/managed.ts";
import { requestFrom } from "../support/strangers.ts";

const stranger = "203.0.113.9";
const IMMEDIATE = 20;
const MAX_DELAYED = 32;

let server: Server | undefined;
afterEach(() => {
  server?.close();
  vi.restoreAllMocks();
});

/** No budget is refilled meanwhile. */
const stopTime = () => vi.spyOn(performance, "now").mockReturnValue(performance.now());

type Init = Omit<RequestInit, "headers"> & { readonly from?: string; readonly headers?: Record<string, string> };

/** The handlers in the order of a real server, behind a proxy on this machine that is trusted or not. */
async function serving(trusted_proxies = ["127.0.0.1"]) {
  const t = await startApp({ settings: { trusted_proxies } });
  const app = toNodeHandler(createApp(t.services, { agent: t.agent, stop: async () => {} })) as RequestListener;
  const agents = agentHandler(t.agent, t.services);
  const refusals = new StrangerRefusals(t.services, [{ routes }, ...protocolsOf(t.services.settings)]);
  const routed: string[] = [];
  server = createServer((req, res) => {
    if (refusals.handle(req, res) || agents(req, res)) return;
    routed.push(req.url!);
    app(req, res);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const send = (path: string, init: Init = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      headers: { "x-forwarded-for": init.from ?? stranger, ...init.headers },
    });
  stopTime();
  const budgets = t.services.running.of(strangerBudgets);
  const post = (path: string, body: object, from = stranger) =>
    send(path, { method: "POST", from, body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  return { t, port, send, post, budgets, refusals, routed };
}

const LOGIN = "/api/v1/svc/login";

describe("an address without budget", () => {
  it("is refused in the form of the API, whatever it calls without proof of identity, and not by the router", async () => {
    const { send, budgets, routed } = await serving();
    budgets.charge(requestFrom(stranger), 120);
    for (const path of [LOGIN, "/login", "/api/v1/svc/hosts", "/no/such/path", "/api/v1/svc/openapi.json"]) {
      const res = await send(path);
      expect([path, res.status, Number(res.headers.get("retry-after")) > 0]).toEqual([path, 429, true]);
      expect(res.headers.get("connection")).toBe("close");
      expect(await res.json()).toMatchObject({ message: expect.stringContaining("limit exceeded") });
    }
    expect(routed).toEqual([]);
    expect((await send("/healthz")).status).toBe(200);
    expect((await send("/api/v1/svc/hosts", { from: "198.51.100.1" })).status).toBe(401);
  });

  it("gets the refusal before it has sent a body", async () => {
    const { port, budgets } = await serving();
    budgets.charge(requestFrom(stranger), 10_000);
    const req = request({
      port,
      host: "127.0.0.1",
      method: "POST",
      path: LOGIN,
      headers: { "x-forwarded-for": stranger, "content-length": "5000000" },
    });
    req.on("error", () => {});
    req.write("{");
    const [res] = (await once(req, "response")) as [import("node:http").IncomingMessage];
    expect([res.statusCode, await text(res)]).toEqual([429, expect.stringContaining("limit exceeded")]);
    req.destroy();
  });

  it("is served if a user's token came from anywhere before, by header or cookie", async () => {
    const { t, send, budgets } = await serving();
    const authorization = `Bearer ${t.token}`;
    expect((await send("/api/v1/svc/me", { from: "198.51.100.1", headers: { authorization } })).status).toBe(200);
    budgets.charge(requestFrom(stranger), 10_000);
    expect((await send("/api/v1/svc/me", { headers: { authorization } })).status).toBe(200);
    const cookie = `svc_form=x; svc_session=${t.token}`;
    expect((await send("/hosts", { headers: { cookie }, redirect: "manual" })).status).not.toBe(429);
    expect((await send("/api/v1/svc/me", { headers: { authorization: "Bearer made-up" } })).status).toBe(429);
  });

  it("is served with the key of a host as long as it is not deep in debt, and always where hosts call from", async () => {
    const { t, post, budgets } = await serving();
    await makeManaged(t);
    const enroll = { enroll_secret: SECRET, host_identifier: "a" };
    const home = "198.51.100.1";
    const { node_key } = (await (await post("/api/v1/qengine/enroll", enroll, home)).json()) as { node_key: string };
    budgets.charge(requestFrom(stranger), 90);
    expect((await post(LOGIN, {})).status).toBe(429);
    expect((await post("/api/v1/qengine/config", { node_key })).status).toBe(200);
    // Now the address is one of hosts.
    budgets.charge(requestFrom(stranger), 10_000);
    expect((await post("/api/v1/qengine/config", { node_key })).status).toBe(200);
    const other = "198.51.100.2";
    budgets.charge(requestFrom(other), 10_000);
    expect((await post("/api/v1/qengine/config", { node_key }, other)).status).toBe(429);
  });

  it("does not stay out for longer, however many of its requests are refused", async () => {
    const { budgets } = await serving();
    budgets.charge(requestFrom(stranger), 60);
    for (let i = 0; i < 10_000; i++) budgets.chargeRefusal(stranger);
    expect(budgets.wait(requestFrom(stranger))).toBeLessThanOrEqual(3);
  });
});

describe("the budget of an address", () => {
  it.each([
    // A token may be that of a user whom this server does not know yet: it is looked up as long as that is affordable.
    {
      name: "wrong tokens",
      path: "/api/v1/svc/hosts",
      authorization: "Bearer made-up",
      spent: 99,
    },
    { name: "requests without a token", path: "/api/v1/svc/hosts", authorization: null, spent: 49 },
    {
      name: "missing parameters",
      path: "/api/v1/svc/enrollment_profiles/ota",
      authorization: null,
      spent: 49,
    },
    { name: "pages", path: "/login", authorization: null, spent: 49 },
    { name: "unknown paths", path: "/no/such/path", authorization: null, spent: 49 },
  ])("is used up by $name", async ({ path, authorization, spent }) => {
    const { send, budgets } = await serving();
    budgets.charge(requestFrom(stranger), spent);
    const headers: Record<string, string> = authorization === null ? {} : { authorization };
    const call = async () => (await send(path, { headers, redirect: "manual" })).status;
    expect(await call()).not.toBe(429);
    expect(await call()).toBe(429);
  });

  it("is used up by results that are acknowledged and dropped, because they are too large", async () => {
    const { send, budgets } = await serving();
    const body = new Uint8Array(gzipSync(JSON.stringify({ padding: "x".repeat(2 * 1024 * 1024) })));
    const headers = { "content-encoding": "gzip" };
    const call = async () =>
      (await send("/api/v1/qengine/distributed/write", { method: "POST", headers, body })).status;
    budgets.charge(requestFrom(stranger), 50 - EACH / 2);
    expect([await call(), await call()]).toEqual([200, 429]);
  });

  it("is not used up by users", async () => {
    const { t, send, budgets } = await serving();
    budgets.charge(requestFrom(stranger), 50 - EACH);
    const headers = { authorization: `Bearer ${t.token}` };
    for (let i = 0; i < 5; i++) expect((await send("/api/v1/svc/me", { headers })).status).toBe(200);
    expect(budgets.wait(requestFrom(stranger))).toBe(0);
  });
});

describe("strangers of many networks who use up the budget of all", () => {
  const newcomer = "198.51.100.77";

  /** With all other kinds of requests, or also with enrollments and sign-ins. */
  async function exhausted({ alsoReserves = false } = {}) {
    const server_ = await serving();
    const purposes = alsoReserves ? (["other", "sign-in", "enrollment"] as const) : (["other"] as const);
    for (const purpose of purposes)
      for (let i = 0; i < 20; i++)
        server_.budgets.charge({ ...requestFrom(`2001:db8:${purpose.length}:${i}`), purpose }, 2_000);
    expect((await server_.send("/api/v1/svc/openapi.json", { from: newcomer })).status).toBe(429);
    return server_;
  }

  it("keep nobody from signing in, in a browser or elsewhere", async () => {
    const { send, post } = await exhausted();
    expect((await send("/login", { from: newcomer })).status).toBe(200);
    const { email, password } = ADMIN;
    expect((await post(LOGIN, { email, password }, newcomer)).status).toBe(200);
    expect((await post(LOGIN, { email, password: "wrong" }, newcomer)).status).toBe(401);
  });

  it("keep no agent with a right secret from enrolling, also with wrong secrets of their own", async () => {
    const { t, post } = await exhausted({ alsoReserves: true });
    await makeManaged(t);
    const enroll = (enroll_secret: string, from: string) =>
      post("/api/v1/qengine/enroll", { enroll_secret, host_identifier: "a" }, from);
    expect((await enroll("wrong", "198.51.100.1")).status).toBe(429);
    expect((await enroll(SECRET, "198.51.100.1")).status).toBe(200);
    const enrollManaged = (enroll_secret: string, from: string) =>
      post("/api/svc/orbit/enroll", { enroll_secret, hardware_uuid: randomUUID(), platform: "ubuntu" }, from);
    expect((await enrollManaged("wrong", "198.51.100.2")).status).toBe(429);
    expect((await enrollManaged(SECRET, "198.51.100.2")).status).toBe(200);
  });

  it("have a reserve for enrollments of devices too", async () => {
    const { post } = await exhausted();
    expect((await post("/api/mdm/windows/enroll", {}, newcomer)).status).not.toBe(429);
  });
});

describe("the description of the API", () => {
  it("costs its first reader nothing but the reply, however long it takes to build", async () => {
    const { t, send, budgets } = await serving();
    const building = await t.services.running.of(apiDescription).get();
    const now = vi.spyOn(performance, "now");
    vi.spyOn(t.services.running.of(apiDescription), "get").mockImplementation(async () => {
      now.mockReturnValue(performance.now() + 1_000);
      return building;
    });
    budgets.charge(requestFrom(stranger), 40);
    for (const path of ["/api/docs", "/api/v1/svc/openapi.json"])
      expect((await send(path, { from: path === "/api/docs" ? stranger : "198.51.100.1" })).status).toBe(200);
    expect(budgets.wait(requestFrom(stranger))).toBe(0);
  });
});

describe("callers on the server's machine", () => {
  const call = (port: number, headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}/api/v1/svc/hosts`, { headers });

  it("have no limit, unless any header shows that a proxy forwarded the request", async () => {
    const { port, budgets } = await serving([]);
    budgets.charge(requestFrom("127.0.0.1"), 10_000);
    expect((await call(port, {})).status).toBe(401);
    for (const name of ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via", "CF-Connecting-IP", "X-Forwarded-Proto"])
      expect([name, (await call(port, { [name]: "203.0.113.9" })).status]).toEqual([name, 429]);
  });

  it("can sign in through an untrusted proxy, whatever others behind it do", async () => {
    const { post, budgets } = await serving([]);
    budgets.charge(requestFrom("127.0.0.1"), 10_000);
    const { email, password } = ADMIN;
    expect((await post(LOGIN, { email, password })).status).toBe(200);
  });
});

describe("a flood of refused requests", () => {
  it("is slowed down, and its further connections are closed unless they come through a trusted proxy", async () => {
    // An untrusted proxy on this machine counts as an address of its own, as any other direct caller does.
    const { port, budgets, refusals, send } = await serving([]);
    budgets.charge(requestFrom("127.0.0.1"), 10_000);
    for (let i = 0; i < IMMEDIATE; i++) expect((await send("/api/v1/svc/hosts")).status).toBe(429);
    expect(refusals.refusesConnection("127.0.0.1")).toBe(false);
    const sockets = Array.from({ length: MAX_DELAYED + 1 }, () => {
      const socket = connect(port, "127.0.0.1");
      socket.write(`GET /api/v1/svc/hosts HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${stranger}\r\n\r\n`);
      return text(socket).catch(() => "");
    });
    await expect.poll(() => refusals.refusesConnection("127.0.0.1"), { interval: 1 }).toBe(true);
    expect(refusals.refusesConnection("::ffff:127.0.0.1")).toBe(true);
    expect(refusals.refusesConnection("198.51.100.1")).toBe(false);
    const replies = await Promise.all(sockets);
    expect(replies.filter((reply) => reply.startsWith("HTTP/1.1 429"))).toHaveLength(MAX_DELAYED);
    expect(replies.filter((reply) => reply === "")).toHaveLength(1);
    expect(refusals.refusesConnection("127.0.0.1")).toBe(false);
  });
});
