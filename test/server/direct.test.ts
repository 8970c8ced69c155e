// Messages of devices that are answered without the router, on a real socket: they get what the router replies.
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { signData } from "../../src/pki/signed-data.ts";
import { writePlist } from "../../src/plist/write.ts";
import { directHandler } from "../../src/server/direct.ts";
import { protocolsOf } from "../../src/server/protocols.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { appleDevice, CHANNEL, newIdentity } from "../support/apple-device.ts";
import { makeManaged } from "../support/managed.ts";

const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => new Promise((closed) => server.close(closed)))));

const ROUTER = 299;

/** A server that answers only without the router; others get the status 299. */
async function listening(t: TestApp): Promise<number> {
  const handle = directHandler(t.services, protocolsOf(t.services.settings));
  const server = createServer((req, res) => {
    if (!handle(req, res)) res.writeHead(ROUTER).end();
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return (server.address() as AddressInfo).port;
}

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

async function send(port: number, { method, path, headers, body }: SentRequest) {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const req = request({ port, host: "127.0.0.1", method, path, headers, agent: false }, resolve);
    req.on("error", reject);
    req.end(body);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk as Buffer);
  return { status: reply.statusCode, headers: reply.headers, body: Buffer.concat(chunks).toString() };
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

async function viaRouter(t: TestApp, { method, path, headers, body }: SentRequest) {
  const reply = await t.raw(path, { method, headers, body: new Uint8Array(body) });
  return { status: reply.status, headers: Object.fromEntries(reply.headers), body: await reply.text() };
}

const SYNCML = "/api/mdm/windows/management";
const sync = (body: string): SentRequest => ({
  method: "POST",
  path: SYNCML,
  headers: { "content-type": "application/vnd.syncml.dm+xml", "content-length": String(Buffer.byteLength(body)) },
  body: Buffer.from(body),
});

const AGENT = "/api/v1/svc/agent";
function ofAgent(path: string, body: object, more: Record<string, string> = {}): SentRequest {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = { "content-type": "application/json", "content-length": String(bytes.length), ...more };
  return { method: "POST", path: `${AGENT}${path}`, headers, body: bytes };
}

describe("messages of managed agents without the router", () => {
  it("get the same replies: configurations, scripts and errors", async () => {
    const t = await startApp();
    const port = await listening(t);
    const agent = await makeManaged(t);
    const { id: host_id } = await agent.host();
    const contents = `#!/bin/sh\necho "é ${"x".repeat(20_000)}"\n`;
    const form = new FormData();
    form.set("script", new File([contents], "long.sh"));
    const { script_id } = (await (await t.post("/scripts", form)).json()) as { script_id: number };
    const run = await t.post("/scripts/run", { host_id, script_id });
    const { execution_id } = (await run.json()) as { execution_id: string };
    const key = { agent_node_key: agent.key };
    const requests: readonly (readonly [status: number, SentRequest])[] = [
      [200, ofAgent("/config", key)],
      [200, ofAgent("/scripts/request", { ...key, execution_id })],
      [404, ofAgent("/scripts/request", { ...key, execution_id: "another" })],
      [401, ofAgent("/config", { agent_node_key: "wrong" })],
      [422, ofAgent("/scripts/result", { ...key, execution_id })],
      [422, ofAgent("/scripts/request", { ...key, execution_id: 7 })],
      [400, { ...ofAgent("/config", key), headers: { "content-length": "1" }, body: Buffer.from("{") }],
      [400, { ...ofAgent("/config", key), headers: { "content-length": "0" }, body: Buffer.alloc(0) }],
      [400, ofAgent("/config", key, { "content-digest": `sha-256=:${"A".repeat(43)}=:` })],
      [415, ofAgent("/config", key, { origin: "https://evil.example", "content-type": "text/plain" })],
      [200, ofAgent("/scripts/result", { ...key, execution_id, output: "done", runtime: 1, exit_code: 0 })],
    ];
    for (const [status, sent] of requests) {
      const [direct, router] = [await send(port, sent), await viaRouter(t, sent)];
      expect([direct.status, direct.body.replace(ID, "id")]).toEqual([status, router.body.replace(ID, "id")]);
      expect(router.status).toBe(status);
      for (const name of ["content-type", "x-svc-capabilities", "cache-control"])
        expect(direct.headers[name]).toBe(router.headers[name]);
      if (sent.path.endsWith("/scripts/request") && status === 200) {
        expect(JSON.parse(direct.body)).toMatchObject({ host_id, execution_id, script_contents: contents });
        expect(direct.headers["content-length"]).toBe(String(Buffer.byteLength(direct.body)));
      }
    }
    expect((await send(port, ofAgent("/software_install/package?alt=media", key))).status).toBe(ROUTER);
  });
});

describe("messages of devices without the router", () => {
  it("get the same replies: commands, refusals, faults and errors", async () => {
    const t = await startApp();
    const port = await listening(t);
    const identity = await newIdentity(t);
    const device = appleDevice(t, identity);
    await device.authenticate();
    await device.tokenUpdate();
    const signed = (message: Parameters<typeof writePlist>[0], more: Record<string, string> = {}): SentRequest => {
      const body = Buffer.from(writePlist(message));
      const signature = signData(body, { ...identity, digest: "sha256" }, {}, { detached: true }).toString("base64");
      const headers = { "content-type": "application/xml", "mdm-signature": signature, ...more };
      return { method: "PUT", path: CHANNEL, headers: { "content-length": String(body.length), ...headers }, body };
    };
    const idle = signed({ UDID: device.udid, Status: "Idle" });
    const requests: readonly (readonly [status: number, SentRequest])[] = [
      [200, idle],
      [403, { ...idle, headers: { ...idle.headers, "mdm-signature": "AAAA" } }],
      [403, signed({ UDID: "another", Status: "Idle" })],
      [400, signed({ UDID: device.udid })],
      [
        415,
        signed({ UDID: device.udid, Status: "Idle" }, { origin: "https://evil.example", "content-type": "text/plain" }),
      ],
      [400, sync("no message")],
      [400, { ...sync("no message"), path: `${SYNCML}?mode=Maintenance` }],
      [400, { ...sync("{}"), path: "/api/v1/svc/android_enterprise/pubsub?token=wrong" }],
      [400, { ...sync("no message"), path: "/EnrollmentServer/Discovery.svc" }],
    ];
    for (const [status, sent] of requests) {
      const [direct, router] = [await send(port, sent), await viaRouter(t, sent)];
      const same = ({ status, body }: { status: number | undefined; body: string }) => [status, body.replace(ID, "id")];
      expect(same(direct)).toEqual(same(router));
      expect(direct.status).toBe(status);
      const { connection, date, "transfer-encoding": _, "x-request-id": id, ...headers } = direct.headers;
      expect([connection, date !== undefined, id !== undefined]).toEqual(["close", true, true]);
      const { "x-request-id": other, ...expected } = router.headers;
      expect({ ...headers, "content-length": undefined }).toEqual({ ...expected, "content-length": undefined });
      expect(other).not.toBe(id);
    }
    const log = await t.raw("/metrics");
    expect(await log.text()).toContain('route="/mdm/vendora/mdm",status="403"');
  });

  it("leave everything that is not usual to the router, unread", async () => {
    const t = await startApp();
    const port = await listening(t);
    const usual = sync("no message");
    const left: readonly SentRequest[] = [
      { ...usual, method: "PUT" },
      { ...usual, headers: { "content-type": "application/xml", "transfer-encoding": "chunked" } },
      { ...usual, headers: { ...usual.headers, "content-encoding": "gzip" } },
      { ...usual, headers: { ...usual.headers, "dry-run": "true" } },
      { ...usual, body: Buffer.alloc(9_000), headers: { "content-length": "9000" } },
      { ...usual, path: "/api/v1/svc/login" },
      { ...usual, path: "/api/v1/svc/hosts", method: "GET", headers: {}, body: Buffer.alloc(0) },
    ];
    expect((await send(port, usual)).status).toBe(400);
    for (const sent of left) expect((await send(port, sent)).status, JSON.stringify(sent.headers)).toBe(ROUTER);
  });
});
