// The carver's two endpoints (docs/protocols/agent.md, Carves): requests of a stock agent, and of a hostile one.
import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Carve } from "../../../src/api/checks/carves.ts";
import { readBlock } from "../../../src/server/checks/carves/block-body.ts";
import { CarveIntake } from "../../../src/server/checks/carves/intake.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { Dice } from "../../support/request-fuzz.ts";
import { enroll, makeSecret, type Reply, type Send, throughApp, throughSocket } from "./agents.ts";

const BEGIN = "/api/v1/qengine/carve/begin";
const BLOCK = "/api/v1/qengine/carve/block";

describe.each(bothEngines)("carves of agents on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  let key: string;
  let hosts = 0;

  beforeAll(async () => {
    t = await startApp({ engine, shared: true, settings: { carve_max_open: 3 } });
    await makeSecret(t.services);
    send = throughApp(t);
  });
  afterAll(() => t.close());
  beforeEach(async () => {
    key = await newHost();
  });

  const newHost = () => {
    const host = { osquery_info: { uuid: `U-${++hosts}`, version: "5.12.1" }, system_info: { hostname: `h${hosts}` } };
    return enroll(send, { host_identifier: `host-${hosts}`, host_details: host });
  };
  const plan = (more: Record<string, unknown> = {}) => ({
    block_count: 3,
    block_size: 4,
    carve_size: 10,
    carve_id: "c917163d-1111-4222-8333-944455556666",
    request_id: "request-1",
    node_key: key,
    ...more,
  });
  const begin = (more: Record<string, unknown> = {}) => send(BEGIN, plan(more));
  const started = async (more: Record<string, unknown> = {}) => {
    const { json } = await begin(more);
    expect(json).toEqual({ session_id: expect.stringMatching(/^[0-9a-f-]{36}$/), success: true });
    return json.session_id as string;
  };
  const block = (session: string, id: unknown, data: string | Buffer, more: Record<string, unknown> = {}) =>
    send(BLOCK, {
      block_id: id,
      session_id: session,
      request_id: "request-1",
      data: Buffer.from(data).toString("base64"),
      ...more,
    });
  const carve = async (session: string): Promise<Carve> => {
    const reply = await t.get("/carves?expired=true&order_key=id&order_direction=desc");
    const { carves } = (await reply.json()) as { carves: Carve[] };
    return carves.find(({ session_id }) => session_id === session)!;
  };
  const isJson = ({ json }: Reply) => json !== undefined;
  /** Agents treat any JSON body as a success, whatever it contains. */
  const refused = (reply: Reply, text: string) => {
    expect(isJson(reply)).toBe(false);
    expect(reply.text).toContain(text);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
  };

  it("stores the blocks of a carve and returns them", async () => {
    const session = await started();
    const [one] = await t.store.carves.list({ order: [{ column: "id", direction: "desc" }], limit: 1 });
    expect(one).toMatchObject({ max_block: -1, error: null, expires_at: null, expired: false });
    expect(one!.name).toBe(`h${hosts}-2026-03-01T12:00:00Z-request-1`);
    for (const [id, data] of ["abcd", "efgh", "ij"].entries()) {
      const reply = await block(session, id, data);
      expect(reply.status).toBe(200);
      expect(reply.json).toEqual({ success: true });
    }
    const done = await carve(session);
    expect(done).toMatchObject({
      block_count: 3,
      block_size: 4,
      carve_size: 10,
      max_block: 2,
      request_id: "request-1",
    });
    expect(done).not.toHaveProperty("error");
    for (const [id, data] of ["abcd", "efgh", "ij"].entries()) {
      const got = await (await t.get(`/carves/${done.id}/block/${id}`)).json();
      expect(got).toEqual({ data: Buffer.from(data).toString("base64") });
    }
  });

  it("limits the open carves of a host, without those that have ended or stalled", async () => {
    const first = await started({ carve_id: "c1", block_count: 1, carve_size: 4 });
    await started({ carve_id: "c2" });
    await started({ carve_id: "c3" });
    expect((await begin({ carve_id: "c4" })).json).toEqual({ error: "too many open carves" });
    await block(first, 0, "abcd");
    const second = await started({ carve_id: "c4" });
    expect((await begin({ carve_id: "c5" })).json).toHaveProperty("error");
    await block(second, 3, "no");
    await started({ carve_id: "c5" });
    expect((await begin({ carve_id: "c6" })).json).toHaveProperty("error");
    t.clock.advance(3_600_000);
    await started({ carve_id: "c6" });
  });

  it("accepts the last block again if it is the same, and fails if it is not", async () => {
    const session = await started();
    for (const id of [0, 0, 0]) expect(isJson(await block(session, id, "abcd"))).toBe(true);
    expect(isJson(await block(session, 1, "efgh"))).toBe(true);
    expect(isJson(await block(session, 1, "efgh"))).toBe(true);
    expect(await carve(session)).toMatchObject({ max_block: 1 });
    expect(await carve(session)).not.toHaveProperty("error");
    refused(await block(session, 1, "EFGH"), "block_id does not match expected block (2): 1");
    const { id } = await carve(session);
    expect(await (await t.get(`/carves/${id}/block/1`)).json()).toEqual({ data: "ZWZnaA==" });
    const other = await started({ carve_id: "2" });
    for (const [n, data] of ["abcd", "efgh", "ij", "ij"].entries())
      expect(isJson(await block(other, Math.min(n, 2), data))).toBe(true);
    expect(await carve(other)).toMatchObject({ max_block: 2 });
    expect(await carve(other)).not.toHaveProperty("error");
  });

  it("accepts any earlier block again if it is the same", async () => {
    const session = await started();
    for (const [id, data] of ["abcd", "efgh"].entries()) expect(isJson(await block(session, id, data))).toBe(true);
    const { id } = await carve(session);
    expect((await t.get(`/carves/${id}/block/2`)).status).toBe(404);
    expect((await t.get(`/carves/${id}/download`)).status).toBe(409);
    for (const [again, data] of [
      [1, "efgh"],
      [0, "abcd"],
      [2, "ij"],
      [0, "abcd"],
    ] as const)
      expect(isJson(await block(session, again, data))).toBe(true);
    expect(await carve(session)).toMatchObject({ max_block: 2 });
    expect(await carve(session)).not.toHaveProperty("error");
    expect(await (await t.get(`/carves/${id}/download`)).text()).toBe("abcdefghij");
  });

  it("accepts blocks of one carve that several servers receive in turn, and the same block at both at once", async () => {
    const count = 24;
    const session = await started({ carve_id: "many", block_count: count, carve_size: 4 * count });
    const servers = [0, 1].map(() => new CarveIntake(t.services, async () => null));
    const send = async (block_id: number, server: number) => {
      const body = { block_id, session_id: session, request_id: "request-1", data: btoa(String(1000 + block_id)) };
      for (;;) {
        const { status } = await servers[server]!.block(Buffer.from(JSON.stringify(body)), undefined);
        if (status !== 503) return status;
      }
    };
    for (let id = 0; id < count; id++)
      expect(await Promise.all(id % 3 === 0 ? [send(id, 0), send(id, 1)] : [send(id, id % 2)])).not.toContain(400);
    const { id } = await carve(session);
    const whole = Array.from({ length: count }, (_, i) => String(1000 + i)).join("");
    expect(await (await t.get(`/carves/${id}/download`)).text()).toBe(whole);
  });

  it("refuses a block beyond the next one at once, and everything after it", async () => {
    for (const beyond of [2, 1_500]) {
      const session = await started({ carve_id: `gap ${beyond}`, block_count: 2_000, carve_size: 8_000 });
      await block(session, 0, "abcd");
      const error = `block_id does not match expected block (1): ${beyond}`;
      refused(await block(session, beyond, "abcd"), error);
      const { id, ...lost } = await carve(session);
      expect(lost).toMatchObject({ max_block: 0, error });
      const download = await t.get(`/carves/${id}/download`);
      expect([download.status, await download.text()]).toEqual([409, expect.stringContaining(error)]);
      refused(await block(session, 1, "efgh"), error);
      expect(await t.store.carves.get(id)).toMatchObject({ error, max_block: 0 });
    }
  });

  it("stores large blocks without a difference, also from gzipped bodies", async () => {
    const bytes = randomBytes(300_000);
    const session = await started({ block_size: 200_000, block_count: 2, carve_size: 300_000 });
    await block(session, 0, bytes.subarray(0, 200_000));
    const rest = {
      block_id: 1,
      session_id: session,
      request_id: "request-1",
      data: bytes.subarray(200_000).toString("base64"),
    };
    const reply = await send(BLOCK, gzipSync(JSON.stringify(rest)), { "content-encoding": "gzip" });
    expect(reply.json).toEqual({ success: true });
    const { id } = await carve(session);
    const download = await t.get(`/carves/${id}/download`);
    expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it("accepts one of two concurrent uploads, completely", async () => {
    const session = await started();
    const upload = async (data: string[]) => {
      const replies: Reply[] = [];
      for (const [id, part] of data.entries()) replies.push(await block(session, id, part));
      return replies;
    };
    await Promise.all([upload(["abcd", "efgh", "ij"]), upload(["ABCD", "EFGH", "IJ"])]);
    const after = await carve(session);
    expect(after.error).toMatch(/^block_id does not match expected block/);
    const { data } = (await (await t.get(`/carves/${after.id}/block/0`)).json()) as { data: string };
    expect(["abcd", "ABCD"]).toContain(Buffer.from(data, "base64").toString());
  });

  it("treats two concurrent copies of a block as one", async () => {
    const session = await started();
    const replies = await Promise.all([0, 0, 0, 0].map((id) => block(session, id, "abcd")));
    expect(replies.every(isJson)).toBe(true);
    expect(await carve(session)).toMatchObject({ max_block: 0 });
    expect(await carve(session)).not.toHaveProperty("error");
  });

  it("treats copies of a block on two servers as one, and fails if they differ", async () => {
    const servers = [0, 1].map(() => new CarveIntake(t.services, async () => null));
    const sent = (session_id: string, data: string) =>
      Buffer.from(JSON.stringify({ block_id: 0, session_id, request_id: "request-1", data: btoa(data) }));
    for (let round = 0; round < 5; round++) {
      const same = await started({ carve_id: `same ${round}` });
      const replies = await Promise.all(servers.map((server) => server.block(sent(same, "abcd"), undefined)));
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      expect(await carve(same)).toMatchObject({ max_block: 0 });
      expect(await carve(same)).not.toHaveProperty("error");
      const other = await started({ carve_id: `other ${round}` });
      const both = await Promise.all(
        servers.map((server, i) => server.block(sent(other, i ? "abcd" : "ABCD"), undefined)),
      );
      expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
      expect((await carve(other)).error).toBe("block_id does not match expected block (1): 0");
      await block(same, 2, "x");
    }
  });

  if (!rulesEngines.includes(engine)) return;

  it.each([
    [{ carve_size: 0 }, "carve_size must be greater than 0"],
    [{ block_size: 256 * 1024 ** 2 + 1, carve_size: 5, block_count: 1 }, "block_size exceeds max"],
    [{ block_size: 0 }, "block_size must be greater than 0"],
    [{ block_size: 12_582_912, carve_size: 12_582_912, block_count: 1 }, "block_size exceeds max"],
    [{ carve_size: 8 * 1024 ** 3 + 1, block_size: 2_000_000, block_count: 4295 }, "carve_size exceeds max"],
    [{ carve_size: 12.5 }, "carve_size must be a whole number"],
    [{ carve_size: 1e300, block_size: 2_000_000 }, "carve_size exceeds max"],
    [{ carve_size: "9223372036854775807" }, "carve_size exceeds max"],
    [{ carve_size: -1 }, "carve_size must be greater than 0"],
    [{ block_count: 4 }, "carve_size does not match block_size and block_count"],
    [{ block_count: 2 }, "carve_size does not match block_size and block_count"],
    [{ block_count: 0 }, "carve_size does not match block_size and block_count"],
    [{ block_count: -3 }, "carve_size does not match block_size and block_count"],
    [{ block_count: null }, "block_count must be a whole number"],
    [{ block_size: 1, carve_size: 2_000_000, block_count: 2_000_000 }, "block_count exceeds max"],
    [{ carve_id: "" }, "carve_id must not be empty"],
    [{ request_id: 7 }, "request_id must not be empty"],
    [{ carve_id: "x".repeat(256) }, "carve_id is longer than 255 characters"],
  ])("refuses to start %j", async (more, text) => {
    const reply = await begin(more);
    expect(reply.json).toEqual({ error: text });
    expect(reply.status).toBe(400);
  });

  it("accepts the largest block that fits into a request, and numbers as text", async () => {
    await started({ block_size: 12_582_144, carve_size: 12_582_144, block_count: 1, carve_id: "big" });
    await started({ block_size: "4", carve_size: "10", block_count: "3", carve_id: "old" });
  });

  it("starts only for known hosts", async () => {
    const reply = await begin({ node_key: "nobody's" });
    expect(reply.json).toEqual({ error: expect.any(String), node_invalid: true });
    for (const body of ["", "[]", "null", '"x"', "{", '{"node_key":1}', "\u0000"])
      expect((await send(BEGIN, body)).json).toHaveProperty("error");
  });

  it("accepts a key in the header, and refuses two that differ", async () => {
    const { node_key: _, ...rest } = plan();
    expect((await send(BEGIN, rest, { authorization: `NodeKey ${key}` })).json).toHaveProperty("session_id");
    expect((await send(BEGIN, plan(), { authorization: "NodeKey other" })).json).toHaveProperty("error");
  });

  it("returns the same session if a start is sent again", async () => {
    const session = await started();
    expect(await started()).toBe(session);
    expect(await started({ carve_id: "another" })).not.toBe(session);
  });

  it.each([
    [3, "x", "block_id exceeds expected max (2): 3"],
    [1, "x", "block 1 is shorter than block size 4: 1"],
    [2, "x", "carve_size 10 does not match received size: 9"],
    [-1, "x", "block_id does not match expected block (0): -1"],
    [0, "abcde", "exceeded declared block size 4: 5"],
    [0, "abc", "block 0 is shorter than block size 4: 3"],
    [0, "", "block 0 is shorter than block size 4: 0"],
    [1e300, "x", "block_id exceeds expected max (2): Infinity"],
    ["0x1", "x", "block_id must be a whole number"],
    [null, "x", "block_id must be a whole number"],
  ])("fails the carve for block %j with %j", async (id, data, text) => {
    const session = await started();
    const before = id === 1 || id === 2 ? ["abcd", "efgh"].slice(0, id) : [];
    for (const [n, whole] of before.entries()) expect(isJson(await block(session, n, whole))).toBe(true);
    refused(await block(session, id, data), text);
    const max_block = before.length - 1;
    expect(await carve(session)).toMatchObject({ error: text, max_block });
    refused(await block(session, before.length, "abcd"), text);
    expect((await carve(session)).max_block).toBe(max_block);
  });

  it.each([
    ["longer", "ijkl", "carve_size 10 does not match received size: 12"],
    ["shorter", "i", "carve_size 10 does not match received size: 9"],
  ])("detects that the file is %s than declared", async (_, last, text) => {
    const session = await started();
    await block(session, 0, "abcd");
    await block(session, 1, "efgh");
    refused(await block(session, 2, last), text);
    expect(await carve(session)).toMatchObject({ error: text, max_block: 1 });
  });

  it("reports an upload that has stopped, until it continues", async () => {
    const session = await started({ carve_id: "stopped" });
    await block(session, 0, "abcd");
    t.clock.advance(59 * 60_000);
    expect(await carve(session)).not.toHaveProperty("error");
    t.clock.advance(60_000);
    expect(await carve(session)).toMatchObject({ error: "block 1 is missing: the host has sent nothing for an hour" });
    // A host that was asleep continues sending.
    await block(session, 1, "efgh");
    expect(await carve(session)).not.toHaveProperty("error");
    await block(session, 2, "ij");
    t.clock.advance(2 * 3_600_000);
    expect(await carve(session)).not.toHaveProperty("error");

    const silent = await started({ carve_id: "silent" });
    t.clock.advance(25 * 3_600_000);
    expect(await carve(silent)).toMatchObject({ expired: true, error: expect.stringContaining("block 0 is missing") });
  });

  it("accepts blocks only with the right session and request, and otherwise does not change the carve", async () => {
    const session = await started();
    refused(await block(session, 0, "abcd", { request_id: "request-2" }), "request_id does not match");
    refused(await block(session, 0, "abcd", { request_id: 1 }), "request_id does not match");
    for (const session_id of ["", "other", null, 7, {}, "x".repeat(300)])
      refused(await block(session, 0, "abcd", { session_id }), "");
    const mine = key;
    const other = await newHost();
    const asOther = { block_id: 0, session_id: session, request_id: "request-1", data: "YWJjZA==" };
    refused(await send(BLOCK, asOther, { authorization: `NodeKey ${other}` }), "not found");
    refused(await send(BLOCK, asOther, { authorization: "NodeKey nobody" }), "not found");
    expect(await carve(session)).toMatchObject({ max_block: -1 });
    expect(await carve(session)).not.toHaveProperty("error");
    expect((await send(BLOCK, asOther, { authorization: `NodeKey ${mine}` })).json).toEqual({ success: true });
  });

  it.each([
    "",
    "{",
    "[]",
    "null",
    '"data"',
    "{}",
    '{"a":{"b":1}}',
    '{"data":"YWJj',
    "\u0000\u0001",
    '{"data":"a",}',
    "{} {}",
  ])("refuses the body %j", async (body) => refused(await send(BLOCK, body), ""));

  it.each(["YWJjZA", "YWJj!A==", "YW=jZA==", "YWJj ZA==", "====", "YWJjZA=\n", "é".repeat(4), "YWJjZA==YWJjZA=="])(
    "fails the carve for data that is not padded base64: %j",
    async (data) => {
      const session = await started();
      refused(await block(session, 0, "", { data }), "data is not base64");
      expect(await carve(session)).toMatchObject({ error: "data is not base64", max_block: -1 });
    },
  );

  it.each([7, null, ["a"], true, undefined])("fails or refuses data that is %j", async (data) => {
    const session = await started();
    refused(await block(session, 0, "", { data }), "");
    expect((await carve(session)).max_block).toBe(-1);
  });

  it("parses escaped slashes, and members in any order with blanks", async () => {
    const bytes = Buffer.alloc(4, 0xff);
    const session = await started({ block_count: 1, carve_size: 4 });
    const data = bytes.toString("base64").replaceAll("/", "\\/");
    const body = ` {\n"data" : "${data}",\t"request_id":"request-1" , "x":null,"session_id":"${session}","block_id":0 } `;
    expect((await send(BLOCK, body)).json).toEqual({ success: true });
    const { id } = await carve(session);
    expect(await (await t.get(`/carves/${id}/block/0`)).json()).toEqual({ data: bytes.toString("base64") });
  });

  it("accepts no block after 24 hours, counted from the first one", async () => {
    const session = await started();
    t.clock.advance(3_600_000);
    await block(session, 0, "abcd");
    t.clock.advance(23.9 * 3_600_000);
    expect(isJson(await block(session, 1, "efgh"))).toBe(true);
    expect((await carve(session)).expired).toBe(false);
    t.clock.advance(0.1 * 3_600_000);
    refused(await block(session, 2, "ij"), "expired");
    expect(await carve(session)).toMatchObject({ expired: true, max_block: 1 });
    expect(await carve(session)).not.toHaveProperty("error");
  });

  it("refuses blocks of a host that was deleted", async () => {
    const session = await started();
    const { host_id } = await carve(session);
    await t.delete(`/hosts/${host_id}`);
    refused(await block(session, 0, "abcd"), "not found");
  });

  it("does not treat a block as a sign of life, but a start", async () => {
    const session = await started();
    await t.agent.flush();
    const { host_id } = await carve(session);
    const seen = (await t.store.hostSeen.get(host_id))?.seen_time;
    expect(seen).toBe(t.clock.iso());
    t.clock.advance(5000);
    await block(session, 0, "abcd");
    await t.agent.flush();
    expect((await t.store.hostSeen.get(host_id))?.seen_time).toBe(seen);
  });

  it("replies the same through a socket, under every prefix", async () => {
    const socket = await throughSocket(t);
    try {
      for (const [n, prefix] of ["/api/v1/qengine", "/api/osquery", "/api/v1/osquery"].entries()) {
        const { json } = await socket.send(
          `${prefix}/carve/begin`,
          plan({ carve_id: `p${n}`, carve_size: 4, block_count: 1 }),
        );
        const body = { block_id: 0, session_id: json.session_id, request_id: "request-1", data: "YWJjZA==" };
        expect((await socket.send(`${prefix}/carve/block`, body)).json).toEqual({ success: true });
        const wrong = await socket.send(`${prefix}/carve/block`, { ...body, block_id: 1 });
        refused(wrong, "block_id exceeds expected max (0): 1");
        expect(wrong.headers["content-type"]).toMatch(/^text\/plain/);
      }
      refused(await socket.send(BLOCK, `{"data":"${"A".repeat(17 * 1024 * 1024)}"}`), "the body is larger than");
      expect((await socket.send(BEGIN, plan({ pad: "x".repeat(9000) }))).status).toBe(413);
      expect((await socket.send(BLOCK, "", {}, "GET")).json).toHaveProperty("error");
    } finally {
      await socket.close();
    }
  });

  it("does not record a block whose blob cannot be stored, and accepts it later", async () => {
    const session = await started();
    const { put } = t.services.blobs;
    const { StoreUnavailable } = await import("../../../src/server/platform/store/store.ts");
    t.services.blobs.put = async () => {
      throw new StoreUnavailable("disk full");
    };
    const reply = await block(session, 0, "abcd");
    t.services.blobs.put = put;
    expect(reply.status).toBe(503);
    expect(isJson(reply)).toBe(false);
    expect(await carve(session)).toMatchObject({ max_block: -1 });
    expect(isJson(await block(session, 0, "abcd"))).toBe(true);
    const key = `carves/${(await carve(session)).id}/0`;
    expect((await buffer(await t.services.blobs.get(key))).toString()).toBe("abcd");
  });
});

describe("a block request's bytes", () => {
  const dice = new Dice(20_260_301);
  const space = () => dice.pick(["", "", " ", "\n\t", "\r\n  "]);
  const text = () => dice.pick(["", "a", 'é\u0000"\\', "x".repeat(200), "\ud800", "data", "}{,:"]);
  const member = (name: string, value: string) =>
    `${space()}${JSON.stringify(name)}${space()}:${space()}${value}${space()}`;

  function bodyOf(): { body: string; data: Buffer } {
    const data = randomBytes(dice.pick([0, 1, 2, 3, 48 * 1024, 48 * 1024 + 1, 49_149, 100_000]));
    const base64 = data.toString("base64");
    const written = dice.chance(0.3) ? base64.replaceAll("/", "\\/") : base64;
    const members = [
      member("block_id", String(dice.int(5))),
      member("session_id", JSON.stringify(text())),
      member("request_id", JSON.stringify(text())),
      member("data", `"${written}"`),
      member(text(), dice.pick(["null", "true", "-1.5e3", '"x"'])),
    ].sort(() => dice.int(3) - 1);
    return { body: `${space()}{${members.join(",")}}${space()}`, data };
  }

  it("are parsed like JSON.parse does", () => {
    for (let round = 0; round < 300; round++) {
      const { body, data } = bodyOf();
      const parsed = JSON.parse(body) as Record<string, unknown>;
      const read = readBlock(Buffer.from(body))!;
      // Another member of the same name followed it.
      if (parsed.data !== data.toString("base64")) continue;
      expect(read.blockId).toBe(parsed.block_id);
      expect(Buffer.from(read.sessionId)).toEqual(Buffer.from(parsed.session_id as string));
      expect(read.data && Buffer.from(read.data).equals(data)).toBe(true);
    }
  });

  it("never cause an exception or wrong data, however they are damaged", () => {
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.from(bodyOf().body);
      for (let i = dice.int(4); i >= 0; i--) {
        const at = dice.int(bytes.length);
        bytes[at] = dice.pick([0x22, 0x5c, 0x7b, 0x7d, 0x2c, 0x3a, 0x00, 0xff, 0x3d, 0x20]);
      }
      const cut = Buffer.from(bytes.subarray(0, dice.chance(0.3) ? dice.int(bytes.length) : bytes.length));
      const before = Buffer.from(cut);
      const read = readBlock(cut);
      if (read?.data && read.data.length > 0)
        expect(
          before.includes(Buffer.from(Buffer.from(read.data).toString("base64").slice(0, 200).split("/")[0]!)),
        ).toBe(true);
    }
  });
});
