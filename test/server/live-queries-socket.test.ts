import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { chooseAddress, type Listening, listen } from "../../src/server/listen.ts";
import { withGetBody } from "../../src/server/live-queries/get-body.ts";
import { liveOf } from "../../src/server/live-queries/hub.ts";
import { createSockets, type Sockets } from "../../src/server/live-queries/socket.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { isRunning, makeLiveHost } from "../support/live.ts";
import { makeUser } from "../support/make.ts";

// biome-ignore lint/suspicious/noExplicitAny: messages of many shapes
type Message = { type: string; data: any };

let t: TestApp;
let sockets: Sockets;
let listening: Listening;
let port: number;
let asked: string[];
const open: Client[] = [];

beforeEach(async () => {
  t = await startApp();
  sockets = createSockets(t.services);
  asked = [];
  const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: null });
  port = address.port;
  const plain = withGetBody((req, res) => {
    asked.push(decodeURIComponent(req.url ?? ""));
    res.end("plain");
  });
  listening = await listen(plain, address, sockets.upgrade);
});
afterEach(async () => {
  for (const client of open.splice(0)) client.socket.terminate();
  sockets.close();
  await listening.close(0);
});

class Client {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  closed: number | null = null;
  private wake = () => {};

  constructor(path = "/api/v1/svc/results/websocket") {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
    this.socket.on("message", (raw) => {
      this.messages.push(JSON.parse(String(raw)) as Message);
      this.wake();
    });
    this.socket.on("close", (code) => {
      this.closed = code;
      this.wake();
    });
    this.socket.on("error", () => this.wake());
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
        this.wake = resolve;
      });
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

describe("the websocket of results", () => {
  it("sends totals, status and results, says when it is finished, and closes", async () => {
    const host = await makeLiveHost(t, { hostname: "h", display_name: "H" });
    const off = await makeLiveHost(t, {}, { online: false });
    const id = await campaign([host, off]);
    const client = await connected();
    client.say("auth", { token: t.token }).say("select_campaign", { campaign_id: id });
    await client.until(() => client.messages.length >= 2);
    expect(client.messages).toMatchObject([
      { type: "totals", data: { count: 2, online: 1, offline: 1, missing_in_action: 0 } },
      { type: "status", data: { expected_results: 1, actual_results: 0, status: "pending" } },
    ]);
    await host.serve({ rows: [{ a: "1" }] });
    expect(await client.ended()).toBe(1000);
    const result = client.messages.find(({ type }) => type === "result");
    expect(result?.data).toMatchObject({
      distributed_query_execution_id: id,
      host: { id: host.id, hostname: "h", display_name: "H" },
      rows: [{ a: "1", host_hostname: "h", host_display_name: "H" }],
      error: null,
    });
    expect(client.messages.at(-1)).toMatchObject({
      type: "status",
      data: { status: "finished", expected_results: 1, actual_results: 1, count_of_hosts_with_results: 1 },
    });
  });

  it("keeps the limits of API tokens", async () => {
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

  it("refuses tokens that are none, others' campaigns and messages out of turn", async () => {
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

  it("speaks in the frames of SockJS where they are asked for", async () => {
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

  it("takes no more than a few small messages", async () => {
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

  it("counts as a reader while it is open, and no longer", async () => {
    const host = await makeLiveHost(t);
    const id = await campaign([host]);
    const client = await connected();
    client.say("auth", { token: t.token }).say("select_campaign", { campaign_id: id });
    await client.until(() => client.messages.length >= 2);
    t.clock.advance(10 * 60_000);
    await liveOf(t.services).tick();
    expect((await t.store.campaigns.get(id))?.status).toBe(1);
    client.socket.close();
    await client.ended();
    await expect
      .poll(async () => {
        t.clock.advance(61_000);
        await liveOf(t.services).tick();
        return (await t.store.campaigns.get(id))?.ended_by;
      })
      .toBe("unread");
  });

  it("closes when the server stops", async () => {
    const host = await makeLiveHost(t);
    const id = await campaign([host]);
    const idle = await connected("/api/latest/svc/results/websocket");
    const reading = await connected();
    reading.say("auth", { token: t.token }).say("select_campaign", { campaign_id: id });
    await reading.until(() => reading.messages.length >= 2);
    liveOf(t.services).endStreams();
    sockets.close();
    expect([1000, 1001]).toContain(await reading.ended());
    expect(await idle.ended()).toBe(1001);
  });
});

describe("other upgrades", () => {
  it("are answered as the plain requests that they are too", async () => {
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

describe("the body of GET /queries/run", () => {
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

  it("becomes the query that the endpoint reads", async () => {
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
