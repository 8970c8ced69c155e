import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startApp, type TestApp } from "../../support/app.ts";
import { enroll, makeSecret, type Send, throughSocket } from "./agents.ts";

const Q = "/api/v1/qengine/";
const GZIP = { "content-encoding": "gzip" };
const MiB = 1024 * 1024;

// Created before the server starts, because a blocked event loop makes the server refuse work.
const zipped = (text: string) => gzipSync(text, { level: 1 });
const many = (count: number, one: (i: number) => string) => Array.from({ length: count }, (_, i) => one(i)).join();
const rows = ["users", "software_deb", "software_npm", "certificates_darwin"];
const lines = zipped(`{"log_type":"result","data":[${"{},".repeat(20_000_000)}{}]}`);
const long = zipped(`{"node_key":"unknown","log_type":"result","data":["${"x".repeat(80 * MiB)}"]}`);
const writes = {
  rows: zipped(`{"queries":{${rows.map((name) => `"svc_detail_query_${name}":[${"{},".repeat(7_000_000)}{}]`)}}}`),
  names: zipped(`{"queries":{${many(3_000_000, (i) => `"q${i}":""`)}}}`),
  members: zipped(`{${many(3_000_000, (i) => `"q${i}":0`)}}`),
};

/** Bodies below their limits with so many small parts that their parsed values would fill the memory. */
describe("bodies that are small on the wire and large in memory", () => {
  let t: TestApp;
  let send: Send;
  let close: () => Promise<void>;
  let key: string;
  beforeEach(async () => {
    t = await startApp();
    ({ send, close } = await throughSocket(t));
    await makeSecret(t);
    key = await enroll(send);
  });
  afterEach(() => close());

  /** The increase of memory, at its highest, during the work. */
  const growth = async (work: () => Promise<unknown>): Promise<number> => {
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 5);
    await work();
    clearInterval(timer);
    return most - before;
  };
  test("a log of millions of empty lines is accepted, and its first 100,000 lines are read", async () => {
    let taken = 0;
    t.agent.onResults((_host, got) => {
      taken += got.length;
    });
    const grown = await growth(async () => {
      expect(await send(`${Q}log`, lines, { ...GZIP, authorization: `NodeKey ${key}` })).toMatchObject({
        status: 200,
        text: "{}",
      });
    });
    expect(taken).toBe(100_000);
    expect(grown).toBeLessThan(500 * MiB);
    expect(await t.services.metrics.registry.metrics()).toContain('svc_agent_bad_logs_total{reason="beyond"} 1');
  });

  test.each(Object.entries(writes))("a write of millions of %s gets a normal reply", async (_what, body) => {
    const grown = await growth(async () => {
      const write = () => send(`${Q}distributed/write`, body, { ...GZIP, authorization: `NodeKey ${key}` });
      let reply = await write();
      // On a busy machine it may wait longer than agents do: they send it again.
      for (let i = 0; i < 5 && reply.status === 503; i++) reply = await write();
      expect(reply).toMatchObject({ status: 200, text: "{}" });
    });
    expect(grown).toBeLessThan(600 * MiB);
    expect((await send(`${Q}config`, { node_key: key })).status).toBe(200);
  });

  test("many at once are decompressed a few at a time, and refused if memory is short", async () => {
    const sockets = await Promise.all(Array.from({ length: 10 }, () => throughSocket(t)));
    const grown = await growth(async () => {
      const replies = await Promise.all(sockets.map((socket) => socket.send(`${Q}log`, long, GZIP)));
      for (const { status, json } of replies) {
        expect([401, 413, 503]).toContain(status);
        expect(json).toHaveProperty("error");
      }
    });
    expect(grown).toBeLessThan(900 * MiB);
    expect((await send(`${Q}config`, { node_key: key })).status).toBe(200);
    for (const socket of sockets) await socket.close();
  });
});
