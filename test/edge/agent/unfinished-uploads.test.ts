import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agents } from "../../../src/server/edge/agent/start.ts";
import { bodyRoom } from "../../../src/server/platform/core/http/body-room.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { enroll, makeSecret, type Send, throughSocket } from "./agents.ts";

const Q = "/api/v1/qengine/";
const MiB = 1024 * 1024;

describe("uploads that do not end", () => {
  let t: TestApp;
  let send: Send;
  let port: number;
  let close: () => Promise<void>;
  const strangers: Socket[] = [];
  beforeEach(async () => {
    t = await startApp();
    ({ send, port, close } = await throughSocket(t));
    await makeSecret(t);
  });
  afterEach(async () => {
    for (const socket of strangers.splice(0)) socket.destroy();
    await close();
  });

  /** Sends this much of a body of 100 MB, and then nothing more. */
  function upload(path: string, bytes: number, start = ""): void {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    strangers.push(socket);
    socket.write(`POST ${Q}${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${100 * MiB}\r\n\r\n${start}`);
    for (let sent = 0; sent < bytes; sent += MiB) socket.write(Buffer.alloc(MiB, 0x20));
  }

  const room = () => t.services.running.of(bodyRoom);

  test("of unknown senders use little memory, and honest agents are served, before and after they are known", async () => {
    for (let i = 0; i < 4; i++) upload(i % 2 ? "log" : "distributed/write", 6 * MiB);
    // One upload fits, and stays; which of the others are cut off before depends on the order of their bytes.
    await expect.poll(() => room().taken("stranger")).toBeGreaterThanOrEqual(6 * MiB);
    expect(room().taken("stranger")).toBeLessThanOrEqual(12 * MiB);

    const key = await enroll(send);
    const lines = Array.from({ length: 2_000 }, (_, i) => ({ name: "q", snapshot: [{ i, text: "x".repeat(1_000) }] }));
    const log = { node_key: key, log_type: "result", data: lines };
    expect((await send(`${Q}log`, log)).status).toBe(200);
    // The key last, as older agents send results.
    const write = { queries: { svc_detail_query_users: lines.map(({ snapshot }) => snapshot[0]) }, node_key: key };
    expect((await send(`${Q}distributed/write`, write)).json).toEqual({});
    expect((await send(`${Q}distributed/read`, { node_key: key })).status).toBe(200);
  });

  test("with a host's key count for that host, and release their memory when they are interrupted", async () => {
    const key = await enroll(send);
    upload("log", 10 * MiB, `{"node_key":"${key}","log_type":"result","data":[`);
    await expect.poll(() => room().taken("proved")).toBeGreaterThan(9 * MiB);
    expect([room().taken("stranger"), room().taken("familiar")]).toEqual([0, 0]);
    for (const socket of strangers) socket.destroy();
    await expect.poll(() => room().taken("proved")).toBe(0);
  });

  test("with a key that is not in memory cause a look-up", async () => {
    const key = await enroll(send);
    await t.agent.stop();
    const again = await throughSocket(await restarted());
    port = again.port;
    upload("log", 10 * MiB, `{"node_key":"${key}","log_type":"result","data":[`);
    await expect.poll(() => room().taken("proved")).toBeGreaterThan(9 * MiB);
    for (const socket of strangers) socket.destroy();
    await again.close();
  });

  /** The server with an empty cache on its agent side. */
  async function restarted(): Promise<TestApp> {
    return { ...t, services: t.services, agent: await agents.start(t.services) };
  }
});
