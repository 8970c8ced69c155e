import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../../src/server/platform/store/store.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { enroll, enrollment, makeSecret, type Reply, type Send, throughApp, throughSocket } from "./agents.ts";

const Q = "/api/v1/qengine/";
const ENDPOINTS = ["enroll", "config", "log", "distributed/read", "distributed/write"];
const KEYED = ENDPOINTS.slice(1);

const isFailure = ({ text, json }: Reply) => {
  expect(text).not.toBe("");
  expect(json).toHaveProperty("error");
};
const isSuccess = ({ status, json }: Reply) => {
  expect(status).toBe(200);
  expect(json).toBeTypeOf("object");
  expect(json).not.toHaveProperty("error");
  expect(json.node_invalid).not.toBe(true);
};
const bodyFor = (endpoint: string, node_key: unknown) =>
  endpoint === "log" ? { node_key, log_type: "result", data: [] } : { node_key };

describe.each(["app", "socket"] as const)("agent routes through the %s", (way) => {
  let t: TestApp;
  let send: Send;
  let close = async () => {};
  beforeEach(async () => {
    t = await startApp();
    if (way === "app") send = throughApp(t);
    else ({ send, close } = await throughSocket(t));
    await makeSecret(t);
  });
  afterEach(() => close());

  test.each(KEYED)("%s: an unknown key gets a reply with error and node_invalid", async (endpoint) => {
    for (const key of ["no-such-key", "", undefined, 7, null, "x".repeat(5000)]) {
      const reply = await send(Q + endpoint, bodyFor(endpoint, key));
      expect(reply.status).toBe(401);
      expect(reply.json).toEqual({ error: expect.any(String), node_invalid: true });
    }
  });

  test.each(KEYED)(
    "%s: while the store fails, an unknown key only gets error; a known one is served",
    async (endpoint) => {
      const known = await enroll(send);
      await send(`${Q}config`, { node_key: known });
      const list = t.store.hosts.list;
      Object.assign(t.store.hosts, { list: () => Promise.reject(new StoreUnavailable("away")) });
      const reply = await send(Q + endpoint, bodyFor(endpoint, "no-such-key"));
      Object.assign(t.store.hosts, { list });
      expect(reply.status).toBe(503);
      expect(Object.keys(reply.json)).toEqual(["error"]);
      expect((await send(`${Q}config`, { node_key: known })).json.error).toBeUndefined();
    },
  );

  test.each(KEYED)(
    "%s: a key in the header is equivalent to one in the body; two that differ only get error",
    async (endpoint) => {
      const key = await enroll(send);
      const { node_key: _none, ...bare } = bodyFor(endpoint, key);
      isSuccess(await send(Q + endpoint, bare, { authorization: `NodeKey ${key}` }));
      isSuccess(await send(Q + endpoint, bodyFor(endpoint, key), { authorization: `NodeKey ${key}` }));
      const differing = await send(Q + endpoint, bodyFor(endpoint, key), { authorization: "NodeKey other" });
      expect(Object.keys(differing.json)).toEqual(["error"]);
    },
  );

  test.each(ENDPOINTS)("%s is available below each prefix, and accepts a query string", async (endpoint) => {
    for (const prefix of ["/api/v1/qengine/", "/api/qengine/", "/api/osquery/", "/api/v1/osquery/"])
      for (const query of ["", "?a=b"])
        expect((await send(prefix + endpoint + query, bodyFor(endpoint, "x"))).json.node_invalid).toBe(true);
  });

  test("wrong methods and unknown paths below the prefixes are errors", async () => {
    for (const path of ["config", "distributed", "distributed/read/", "carve/other", "", "x/../config"])
      isFailure(await send(`${Q}nothing-${path}`, {}));
    isFailure(await send(`${Q}config/`, {}));
    for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const reply = await send(`${Q}config`, "", {}, method);
      expect(reply.status).toBe(405);
      isFailure(reply);
    }
  });

  test.each(ENDPOINTS)("%s: a body that is not a JSON object only gets error", async (endpoint) => {
    for (const body of [
      "",
      "{",
      "null",
      "[]",
      "7",
      '"x"',
      "<html>",
      '{"node_key":"a"',
      "\ufeff{}",
      Buffer.from([0xff, 0xfe, 0]),
    ]) {
      const reply = await send(Q + endpoint, body);
      isFailure(reply);
      expect(reply.status).toBe(400);
      expect(reply.json.node_invalid).toBeUndefined();
    }
  });

  test.each(ENDPOINTS)("%s accepts gzip; damaged gzip and other codings are errors", async (endpoint) => {
    const key = await enroll(send);
    const body = endpoint === "enroll" ? enrollment({ host_identifier: "zipped" }) : bodyFor(endpoint, key);
    const zipped = gzipSync(JSON.stringify(body));
    isSuccess(await send(Q + endpoint, zipped, { "content-encoding": "gzip" }));
    isFailure(await send(Q + endpoint, zipped.subarray(0, zipped.length - 9), { "content-encoding": "gzip" }));
    isFailure(await send(Q + endpoint, "not gzip", { "content-encoding": "gzip" }));
    isFailure(await send(Q + endpoint, zipped, { "content-encoding": "br" }));
  });

  test.each([
    ["enroll", 64 * 1024],
    ["config", 16 * 1024],
    ["distributed/read", 16 * 1024],
  ])("%s: a body over its limit gets 413, before or after decompression", async (endpoint, cap) => {
    const key = await enroll(send);
    const fits = JSON.stringify({ node_key: key }).padEnd(cap, " ");
    expect((await send(Q + endpoint, fits)).status).not.toBe(413);
    for (const [body, headers] of [
      [`${fits} `, {}],
      [gzipSync(`${fits} `), { "content-encoding": "gzip" }],
    ] as const) {
      const reply = await send(Q + endpoint, body, headers);
      expect(reply.status).toBe(413);
      isFailure(reply);
    }
    isSuccess(await send(`${Q}config`, { node_key: key }));
  });

  test("a write over its limit is read to its end and acknowledged", async () => {
    const key = await enroll(send);
    const body = Buffer.alloc(100 * 1024 * 1024 + 1, " ");
    body.write(JSON.stringify({ node_key: key }));
    expect(await send(`${Q}distributed/write`, body)).toMatchObject({ status: 200, text: "{}" });
    const log = await send(`${Q}log`, body);
    expect(log.status).toBe(413);
    isFailure(log);
    isSuccess(await send(`${Q}config`, { node_key: key }));
  });

  test("a gzip bomb is detected without keeping its decompressed content", async () => {
    const bomb = gzipSync(Buffer.alloc(1024 * 1024 * 1024));
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 2);
    const gzip = { "content-encoding": "gzip" };
    expect((await send(`${Q}log`, bomb, gzip)).status).toBe(413);
    expect((await send(`${Q}enroll`, bomb.subarray(0, 60_000), gzip)).status).toBe(413);
    expect(await send(`${Q}distributed/write`, bomb, gzip)).toMatchObject({ status: 200, text: "{}" });
    clearInterval(timer);
    // Less than the limit of these bodies, with room for memory that was not collected yet.
    expect(most - before).toBeLessThan(80 * 1024 * 1024);
  });
});

describe("the agents' socket", () => {
  test("keeps its connection, and passes requests that are not from agents to the app", async () => {
    const t = await startApp();
    const { send, close, port } = await throughSocket(t);
    await makeSecret(t);
    const key = await enroll(send);
    expect((await send("/api/v1/svc/version", "")).status).toBe(418);

    const socket = connect(port, "127.0.0.1");
    const body = JSON.stringify({ node_key: key });
    const one = `POST ${Q}config HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
    let got = "";
    socket.on("data", (chunk) => {
      got += chunk;
    });
    // In two pieces, then two requests at once.
    socket.write(one + body.slice(0, 5));
    await new Promise((done) => setImmediate(done));
    socket.write(body.slice(5) + one + body);
    await expect.poll(() => got.match(/HTTP\/1\.1 200 OK/g)?.length).toBe(2);
    expect(got).toMatch(/Connection: keep-alive/i);
    expect(got).not.toMatch(/transfer-encoding/i);
    socket.destroy();
    await close();
  });

  test("beyond the number of concurrent requests, further ones are refused, but polls are not", async () => {
    const t = await startApp({ settings: { max_agent_requests: 4 } });
    const { send, close } = await throughSocket(t);
    await makeSecret(t);
    const key = await enroll(send);
    const ask = (name: "enroll" | "config", value: unknown) =>
      t.agent.replyTo(name, {
        body: Buffer.from(JSON.stringify(value)),
        authorization: undefined,
        address: "127.0.0.1",
      });
    await ask("config", { node_key: key });
    const pending = Array.from({ length: 10 }, (_, i) => ask("enroll", enrollment({ host_identifier: `many-${i}` })));
    const config = ask("config", { node_key: key });
    expect(config).not.toBeInstanceOf(Promise);
    const replies = await Promise.all(pending);
    const shed = replies.filter(({ status }) => status === 503);
    expect(shed).toHaveLength(6);
    expect(shed[0]).toMatchObject({ retryAfter: 5, body: expect.stringContaining('"error"') });
    expect((await ask("enroll", enrollment({ host_identifier: "later" }))).status).toBe(200);
    await close();
  });
});
