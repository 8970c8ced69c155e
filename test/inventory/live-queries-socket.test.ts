import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { withGetBody } from "../../src/server/inventory/live-queries/get-body.ts";
import { liveQueries } from "../../src/server/inventory/live-queries/hub.ts";
import type { SocketTimes } from "../../src/server/inventory/live-queries/websocket/connection.ts";
import { Sockets } from "../../src/server/inventory/live-queries/websocket/sockets.ts";
import { unknownSockets } from "../../src/server/inventory/live-queries/websocket/unknown-sockets.ts";
import { BodyRoom } from "../../src/server/platform/core/http/body-room.ts";
import { strangerBudgets } from "../../src/server/platform/core/http/strangers.ts";
import { chooseAddress, type Listening, listen } from "../../src/server/platform/process/listen.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { eventsOf, isRunning, makeLiveHost, readUntil } from "../support/live.ts";
import { makeUser } from "../support/make.ts";
import { requestFrom } from "../support/strangers.ts";

// biome-ignore lint/suspicious/noExplicitAny: messages of many shapes
type Message = { type: string; data: any };

let t: TestApp;
let sockets: Sockets;
let listening: Listening;
let port: number;
let asked: string[];
const open: Client[] = [];

async function startSockets(
  engine: "lowdb" | "postgres" = "lowdb",
  { trusted_proxies = [], ...times }: SocketTimes & { readonly trusted_proxies?: string[] } = {},
): Promise<void> {
  t = await startApp({ engine, settings: { trusted_proxies } });
  sockets = new Sockets(t.services, times);
  asked = [];
  const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: null });
  port = address.port;
  const plain = withGetBody((req, res) => {
    asked.push(decodeURIComponent(req.url ?? ""));
    res.end("plain");
  }, new BodyRoom());
  listening = await listen(plain, address, { upgrade: (req, socket, head) => sockets.upgrade(req, socket, head) });
}
afterEach(async () => {
  for (const client of open.splice(0)) client.socket.terminate();
  sockets.close();
  await listening.close({ graceMs: 0, limitMs: 0 });
});

class Client {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  closed: number | null = null;
  #wake = () => {};
  #read = 0;

  constructor(path = "/api/v1/svc/results/websocket") {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
    this.socket.on("message", (raw) => {
      this.messages.push(JSON.parse(String(raw)) as Message);
      this.#wake();
    });
    this.socket.on("close", (code) => {
      this.closed = code;
      this.#wake();
    });
    this.socket.on("error", () => this.#wake());
    open.push(this);
  }

  async opened(): Promise<this> {
    if (this.socket.readyState !== WebSocket.OPEN) await new Promise((done) => this.socket.once("open", done));
    return this;
  }

  say(type: string, data: unknown): this {
    this.socket.send(JSON.stringify({ type, data }));
    return this;
  }

  async until(fits: () => boolean): Promise<void> {
    while (!fits())
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  /** Waits for a message of that kind with matching data, after those of the last call; returns the data. */
  async next(type: string, fits: (data: Message["data"]) => boolean = () => true): Promise<Message["data"]> {
    let found = -1;
    await this.until(() => {
      found = this.messages.findIndex((one, at) => at >= this.#read && one.type === type && fits(one.data));
      return found >= 0 || this.closed !== null;
    });
    if (found < 0) throw new Error(`closed (${this.closed}) after ${JSON.stringify(this.messages)}`);
    this.#read = found + 1;
    return this.messages[found]!.data;
  }

  async ended(): Promise<number> {
    await this.until(() => this.closed !== null);
    return this.closed!;
  }
}

const connected = (path?: string) => new Client(path).opened();

async function campaign(hosts: readonly { id: number }[]): Promise<number> {
  const res = await t.post("/queries/run", { query: "SELECT 1", selected: { hosts: hosts.map(({ id }) => id) } });
  const { campaign } = (await res.json()) as { campaign: { id: number } };
  await isRunning(t, campaign.id);
  return campaign.id;
}

async function reading(id: number): Promise<Client> {
  const client = await connected();
  return client.say("auth", { token: t.token }).say("select_campaign", { campaign_id: id });
}

const rowOf = async (id: number) => (await t.store.campaigns.get(id))!;
const isFinished = ({ status }: { status: string }) => status === "finished";

describe.each(rulesEngines)("a live query with a websocket as its reader, on %s", (engine) => {
  beforeEach(() => startSockets(engine));

  it("continues after all online hosts have answered, and includes hosts that come online until its reader closes", async () => {
    const host = await makeLiveHost(t, { hostname: "h", display_name: "H" });
    const late = await makeLiveHost(t, {}, { online: false });
    const never = await makeLiveHost(t, {}, { online: false });
    const id = await campaign([host, late, never]);
    const client = await reading(id);
    expect(await client.next("totals")).toEqual({ count: 3, online: 1, offline: 2, missing_in_action: 0 });
    expect(await client.next("status")).toMatchObject({ expected_results: 1, actual_results: 0, status: "pending" });
    await host.serve({ rows: [{ a: "1" }] });
    expect(await client.next("result")).toMatchObject({
      distributed_query_execution_id: id,
      host: { id: host.id, hostname: "h", display_name: "H" },
      rows: [{ a: "1", host_hostname: "h", host_display_name: "H" }],
      error: null,
    });
    expect(await client.next("status", isFinished)).toMatchObject({
      expected_results: 1,
      actual_results: 1,
      count_of_hosts_with_results: 1,
      counts: { waiting: 2 },
    });
    await t.services.running.of(liveQueries).tick();
    expect((await rowOf(id)).status).toBe(1);

    expect(await late.asked()).toEqual([id]);
    await t.agent.flush();
    expect(await client.next("totals")).toMatchObject({ count: 3, online: 2, offline: 1 });
    expect(await client.next("status")).toMatchObject({ expected_results: 2, actual_results: 1, status: "pending" });
    await late.answer(id, { rows: [] });
    expect(await client.next("result")).toMatchObject({ host: { id: late.id }, rows: [] });
    expect(await client.next("status", isFinished)).toMatchObject({
      expected_results: 2,
      actual_results: 2,
      count_of_hosts_with_no_results: 1,
    });

    client.socket.close(1000);
    await client.ended();
    await expect.poll(async () => (await rowOf(id)).status).toBe(2);
    expect(await rowOf(id)).toMatchObject({ ended_by: "answered", offline_count: 1, answered_count: 2 });
    await expect.poll(() => never.asked()).toEqual([]);
  });

  it("waits for its reader if no target is online, and is finished until one is", async () => {
    const off = await makeLiveHost(t, {}, { online: false });
    const id = await campaign([off]);
    const client = await reading(id);
    expect(await client.next("totals")).toMatchObject({ count: 1, online: 0, offline: 1 });
    expect(await client.next("status")).toMatchObject({ expected_results: 0, actual_results: 0, status: "finished" });
    expect(await off.serve({ rows: [{ a: "1" }] })).toBe(id);
    expect(await client.next("result")).toMatchObject({ host: { id: off.id } });
    expect(await client.next("status", isFinished)).toMatchObject({ expected_results: 1, actual_results: 1 });
  });

  it("is cancelled if its reader closes before the hosts have answered", async () => {
    const host = await makeLiveHost(t);
    const id = await campaign([host]);
    const client = await reading(id);
    await client.next("status");
    client.socket.close();
    await expect.poll(async () => (await rowOf(id)).ended_by).toBe("cancelled");
    await expect.poll(() => host.asked()).toEqual([]);
  });

  it("continues for a minute after the connection broke, for a reader who comes back", async () => {
    const [host, late] = [await makeLiveHost(t), await makeLiveHost(t, {}, { online: false })];
    const id = await campaign([host, late]);
    const broken = await reading(id);
    await host.serve({ rows: [{ a: "1" }] });
    await broken.next("status", isFinished);
    broken.socket.terminate();
    await broken.ended();
    t.clock.advance(59_000);
    await t.services.running.of(liveQueries).tick();
    expect((await rowOf(id)).status).toBe(1);

    const back = await reading(id);
    expect(await back.next("result")).toMatchObject({ host: { id: host.id } });
    await late.serve({});
    expect(await back.next("result")).toMatchObject({ host: { id: late.id } });
    await back.next("status", isFinished);
    back.socket.terminate();
    await back.ended();
    await expect
      .poll(async () => {
        t.clock.advance(61_000);
        await t.services.running.of(liveQueries).tick();
        return (await rowOf(id)).ended_by;
      })
      .toBe("answered");
  });

  it("ends after a day, even while it is read", async () => {
    const host = await makeLiveHost(t);
    const id = await campaign([host]);
    const client = await reading(id);
    await host.serve({});
    await client.next("status", isFinished);
    t.clock.advance(24 * 3_600_000);
    await t.services.running.of(liveQueries).tick();
    expect(await client.ended()).toBe(1000);
    expect((await rowOf(id)).ended_by).toBe("time");
  });

  it("ends like a query of a stream if a stream reads it first, or nobody", async () => {
    const [host, off] = [await makeLiveHost(t), await makeLiveHost(t, {}, { online: false })];
    const streamed = await campaign([host, off]);
    await host.serve({});
    expect((await rowOf(streamed)).status).toBe(0);
    const events = eventsOf(await t.get(`/queries/live/${streamed}/stream`));
    const last = (await readUntil(events, ({ data }) => isFinished(data))).at(-1)!;
    expect(last.data.counts).toMatchObject({ answered: 1, offline: 1, waiting: 0 });

    const unread = await campaign([off]);
    t.clock.advance(60_000);
    await t.services.running.of(liveQueries).tick();
    expect(await rowOf(unread)).toMatchObject({ status: 2, ended_by: "answered", offline_count: 1 });
  });
});

describe("the websocket of results", () => {
  beforeEach(() => startSockets());

  it("applies the limits of API tokens", async () => {
    const id = await campaign([await makeLiveHost(t)]);
    const tokenFor = async (name: string, endpoints: string[]) =>
      ((await (await t.post("/tokens", { name, endpoints })).json()) as { token: string }).token;
    const refused = await connected();
    refused.say("auth", { token: await tokenFor("other", ["GET /hosts"]) });
    expect(await refused.ended()).toBe(1008);
    expect(refused.messages).toEqual([{ type: "error", data: "unauthorized" }]);
    const allowed = await connected();
    const token = await tokenFor("live", ["GET /queries/live/:id/stream"]);
    allowed.say("auth", { token }).say("select_campaign", { campaign_id: id });
    await allowed.until(() => allowed.messages.length >= 1);
    expect(allowed.messages[0]).toMatchObject({ type: "totals" });
  });

  it("refuses invalid tokens, other users' campaigns and unexpected messages", async () => {
    const host = await makeLiveHost(t);
    const id = await campaign([host]);
    const other = await makeUser(t, "admin");
    const gitops = await makeUser(t, "gitops");
    const cases: [(client: Client) => void, string][] = [
      [(client) => client.say("auth", { token: "nonsense" }), "unauthorized"],
      [(client) => client.say("auth", {}), "unauthorized"],
      [(client) => client.say("auth", null), "unauthorized"],
      [(client) => client.say("select_campaign", { campaign_id: id }), "unauthorized"],
      [(client) => client.socket.send("not json"), "unauthorized"],
      [(client) => client.say("auth", { token: gitops.token }), "unauthorized"],
      [(client) => client.say("auth", { token: t.token }).say("hello", {}), "expected select_campaign"],
      [
        (client) => client.say("auth", { token: t.token }).say("select_campaign", { campaign_id: "1" }),
        "expected select_campaign",
      ],
      [
        (client) => client.say("auth", { token: t.token }).say("select_campaign", { campaign_id: 99_999 }),
        "cannot find campaign for ID 99999",
      ],
      [
        (client) => client.say("auth", { token: other.token }).say("select_campaign", { campaign_id: id }),
        `cannot find campaign for ID ${id}`,
      ],
    ];
    for (const [speak, text] of cases) {
      const client = await connected();
      speak(client);
      expect(await client.ended(), text).toBe(1008);
      expect(client.messages).toEqual([{ type: "error", data: text }]);
    }
  });

  it("uses the frames of SockJS on request", async () => {
    expect(await (await t.as(null).get("/results/info")).json()).toMatchObject({
      websocket: true,
      cookie_needed: false,
    });
    const host = await makeLiveHost(t);
    const id = await campaign([host]);
    const frames: string[] = [];
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/svc/results/123/abc_d-9/websocket`);
    socket.on("message", (data) => frames.push(String(data)));
    const closed = new Promise<number>((resolve) => socket.on("close", resolve));
    await expect.poll(() => frames).toEqual(["o"]);
    const message = (type: string, data: unknown) => JSON.stringify({ type, data });
    socket.send(JSON.stringify([message("auth", { token: t.token }), message("select_campaign", { campaign_id: id })]));
    await expect.poll(() => frames.length).toBe(3);
    await host.serve({ rows: [{ a: "1" }] });
    await expect.poll(() => frames.some((frame) => frame.includes("finished"))).toBe(true);
    await t.post(`/queries/live/${id}/cancel`);
    expect(await closed).toBe(1000);
    const messages = frames
      .filter((frame) => frame.startsWith("a"))
      .flatMap((frame) => (JSON.parse(frame.slice(1)) as string[]).map((text) => JSON.parse(text) as Message));
    expect(messages.map(({ type }) => type).filter((type) => type !== "status")).toEqual(["totals", "result"]);
    expect(messages.at(-1)).toMatchObject({ type: "status", data: { status: "finished" } });
    expect(frames.at(-1)).toBe('c[1000,"finished"]');

    for (const bad of ["[7]", "{}", "[[]]", "not json", '["{"]']) {
      const said: string[] = [];
      const other = new WebSocket(`ws://127.0.0.1:${port}/api/latest/svc/results/1/2/websocket`);
      other.on("message", (data) => said.push(String(data)));
      const code = new Promise<number>((resolve) => other.on("close", resolve));
      await expect.poll(() => said.length).toBe(1);
      other.send(bad);
      expect(await code, bad).toBe(1008);
      expect(said.slice(1)).toEqual([
        `a${JSON.stringify([JSON.stringify({ type: "error", data: "unauthorized" })])}`,
        'c[1008,"unauthorized"]',
      ]);
    }
  });

  it("accepts only a few small messages", async () => {
    const large = await connected();
    large.socket.send("x".repeat(20_000));
    expect(await large.ended()).toBe(1009);
    const many = await connected();
    many.say("auth", { token: t.token });
    for (let i = 0; i < 50; i++) if (many.socket.readyState === WebSocket.OPEN) many.socket.send("{}");
    await many.ended();
    const binary = await connected();
    binary.socket.send(Buffer.of(1, 2));
    await binary.ended();
  });

  it("counts as a reader exactly while it is open", async () => {
    const host = await makeLiveHost(t);
    const id = await campaign([host]);
    const client = await connected();
    client.say("auth", { token: t.token }).say("select_campaign", { campaign_id: id });
    await client.until(() => client.messages.length >= 2);
    t.clock.advance(10 * 60_000);
    await t.services.running.of(liveQueries).tick();
    expect((await t.store.campaigns.get(id))?.status).toBe(1);
    client.socket.terminate();
    await client.ended();
    await expect
      .poll(async () => {
        t.clock.advance(61_000);
        await t.services.running.of(liveQueries).tick();
        return (await t.store.campaigns.get(id))?.ended_by;
      })
      .toBe("answered");
  });

  it("closes when the server stops", async () => {
    const host = await makeLiveHost(t);
    const id = await campaign([host]);
    const idle = await connected("/api/latest/svc/results/websocket");
    const reading = await connected();
    reading.say("auth", { token: t.token }).say("select_campaign", { campaign_id: id });
    await reading.until(() => reading.messages.length >= 2);
    t.services.running.of(liveQueries).endStreams();
    sockets.close();
    expect(await reading.ended()).toBe(1001);
    expect(await idle.ended()).toBe(1001);
    expect((await rowOf(id)).status).toBe(1);
  });
});

describe("other upgrades", () => {
  beforeEach(() => startSockets());

  it("get the replies of plain requests", async () => {
    for (const [path, upgrade] of [
      ["/api/v1/svc/hosts", "websocket"],
      ["/", "h2c"],
    ]) {
      const reply = await new Promise<string>((resolve, reject) => {
        const socket = connect(port, "127.0.0.1", () =>
          socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`),
        );
        let text = "";
        socket.on("data", (chunk) => {
          text += chunk;
        });
        socket.on("error", reject);
        socket.on("close", () => resolve(text));
      });
      expect(reply).toMatch(/^HTTP\/1\.1 200 OK/);
      expect(reply).toContain("plain");
    }
  });
});

describe("places of websockets", () => {
  beforeEach(() => startSockets());

  /** A client that never closes its side. Sends one frame with this text (RFC 6455, 5.2; a mask of zeros). */
  const stubborn = (text: string | null) =>
    new Promise<string>((resolve, reject) => {
      const key = "dGhlIHNhbXBsZSBub25jZQ==";
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () =>
        socket.write(
          "GET /api/v1/svc/results/websocket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
            `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
        ),
      );
      raw.push(socket);
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1");
        const isOpen = received.startsWith("HTTP/1.1 101");
        if (!isOpen || text === null) return resolve(received);
        if (received.includes("unauthorized")) return resolve(received);
        if (!received.includes("\r\n\r\n") || socket.bytesWritten > 300) return;
        const payload = Buffer.from(text);
        socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]));
      });
      socket.on("error", reject);
    });
  const raw: Socket[] = [];
  afterEach(() => {
    for (const socket of raw.splice(0)) socket.destroy();
  });

  it("are limited for clients whose user is not known yet, before they are opened", async () => {
    for (let i = 0; i < unknownSockets.address.max; i++) expect(await stubborn(null)).toContain(" 101 ");
    expect(await stubborn(null)).toContain(" 503 ");
    for (const socket of raw.splice(0)) socket.destroy();
    await expect.poll(async () => (await stubborn(null)).includes(" 101 ")).toBe(true);
  });

  it("are free as soon as a client is refused, also if it never closes the connection", async () => {
    const auth = JSON.stringify({ type: "auth", data: { token: "wrong" } });
    for (let i = 0; i < 2 * unknownSockets.address.max; i++) expect(await stubborn(auth)).toContain("unauthorized");
    expect(await stubborn(null)).toContain(" 101 ");
  });
});

describe("websockets of strangers", () => {
  const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
  const raw: Socket[] = [];
  afterEach(() => {
    for (const socket of raw.splice(0)) socket.destroy();
  });

  /** The first line of the reply. */
  const upgraded = (from: string | null, key: string | null = KEY): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      raw.push(socket);
      socket.on("error", reject);
      socket.once("data", (data) => resolve(data.toString("latin1").split("\r\n", 1)[0]!));
      const head = [
        "GET /api/v1/svc/results/websocket HTTP/1.1",
        "Host: x",
        "Upgrade: websocket",
        "Connection: Upgrade",
      ];
      const more = ["Sec-WebSocket-Version: 13", ...(from === null ? [] : [`X-Forwarded-For: ${from}`])];
      socket.write([...head, ...more, ...(key === null ? [] : [`Sec-WebSocket-Key: ${key}`]), "", ""].join("\r\n"));
    });
  const closed = () => raw.filter((socket) => socket.closed).length;

  it("free their places if the handshake fails", async () => {
    await startSockets();
    for (let i = 0; i < unknownSockets.address.max + 5; i++) expect(await upgraded(null, null)).toContain(" 400 ");
    expect(await upgraded(null)).toContain(" 101 ");
  });

  it("take no places from others: of many addresses, the one with most loses its oldest", async () => {
    await startSockets("lowdb", { trusted_proxies: ["127.0.0.1"] });
    const { address, all } = unknownSockets;
    // Addresses whose budgets of processor time are never used up.
    t.services.running.of(strangerBudgets).charge = ({ place }) => ({ place, milliseconds: 0, shared: null });
    for (let i = 0; i < all.max; i++)
      expect(await upgraded(`203.0.113.${Math.floor(i / address.max)}`)).toContain(" 101 ");
    expect(closed()).toBe(0);
    for (let i = 0; i < 10; i++) expect(await upgraded(`198.51.100.${i}`)).toContain(" 101 ");
    await expect.poll(closed).toBe(10);
    const client = await connected();
    client.say("auth", { token: t.token }).say("select_campaign", { campaign_id: 999_999 });
    expect(await client.next("error")).toContain("cannot find campaign");
  });

  it("are refused while the address is deep in debt for processor time", async () => {
    await startSockets("lowdb", { trusted_proxies: ["127.0.0.1"] });
    t.services.running.of(strangerBudgets).charge(requestFrom("203.0.113.1"), 10_000);
    expect(await upgraded("203.0.113.1")).toContain(" 503 ");
    expect(await upgraded("203.0.113.2")).toContain(" 101 ");
  });

  it("are closed unless a token arrives soon", async () => {
    await startSockets("lowdb", { tokenMs: 300 });
    const user = (await connected()).say("auth", { token: t.token });
    const stranger = await connected();
    expect(await stranger.next("error")).toBe("no token arrived in time");
    expect(await stranger.ended()).toBe(1008);
    user.say("select_campaign", { campaign_id: 999_999 });
    expect(await user.next("error")).toContain("cannot find campaign");
  });
});

describe("the body of GET /queries/run", () => {
  beforeEach(() => startSockets());

  const get = (path: string, body?: string) =>
    new Promise<void>((resolve, reject) => {
      const headers = body === undefined ? {} : { "content-type": "application/json", "content-length": body.length };
      const req = request({ port, path, method: "GET", headers }, (res) => {
        res.resume();
        res.on("end", resolve);
      });
      req.on("error", reject);
      req.end(body);
    });

  it("is used as the query", async () => {
    await get("/api/v1/svc/queries/run", JSON.stringify({ query_ids: [1, 2], host_ids: [3] }));
    await get("/api/latest/svc/queries/run?host_ids=7", JSON.stringify({ query_ids: [1] }));
    await get("/api/v1/svc/queries/run?query_ids=1&host_ids=7");
    await get("/api/v1/svc/queries/run", "not json");
    await get("/api/v1/svc/queries/run", "[1]");
    await get("/api/v1/svc/hosts", JSON.stringify({ query_ids: [1] }));
    expect(asked).toEqual([
      "/api/v1/svc/queries/run?query_ids=1,2&host_ids=3",
      "/api/latest/svc/queries/run?host_ids=7&query_ids=1",
      "/api/v1/svc/queries/run?query_ids=1&host_ids=7",
      "/api/v1/svc/queries/run",
      "/api/v1/svc/queries/run?",
      "/api/v1/svc/hosts",
    ]);
  });
});
