// The two servers that windows-idle compares, each in its own process: `bare` is plain node:http that parses the message,
// and replies one of the same length; `lowdb` and `postgres` are complete servers with enrolled devices, which
// authenticate with the certificates that a proxy passes on.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { fetch } from "undici";
import { newKey } from "../../src/pki/x509.ts";
import { startServer } from "../../src/server/main.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { Web } from "../../src/simulator/web.ts";
import { machineOf, WindowsAgents } from "../../src/simulator/windows/agent.ts";
import { enrollDevice, type Post, userToken } from "../../src/simulator/windows/enrollment.ts";
import { alerts, statuses } from "../../src/syncml/codes.ts";
import { type SyncCommand, syncCommand } from "../../src/syncml/value.ts";
import { writeSyncml } from "../../src/syncml/write.ts";
import { parseXml } from "../../src/xml/xml.ts";
import { type IdleReady, serveIdle } from "./idle.ts";
import { adminOf, makePlace } from "./place.ts";

const DEVICES = 200;
const PATH = "/api/mdm/windows/management";
const IDENTITY = "x-device-identity";
const SECRET = "secret of the benchmark";

const start: readonly SyncCommand[] = [
  syncCommand("Alert", "2", { data: alerts.clientStart }),
  syncCommand("Alert", "3", {
    data: alerts.clientEvent,
    items: [{ type: "com.microsoft/MDM/LoginStatus", data: "user" }],
  }),
  syncCommand("Replace", "4", { items: [{ source: "./DevInfo/DevId", data: "x" }] }),
];
const end: readonly SyncCommand[] = [
  syncCommand("Status", "2", { msgRef: "1", cmdRef: "0", cmd: "SyncHdr", data: statuses.ok }),
];

const messageOf = (source: string, msgId: string, commands: readonly SyncCommand[]): string =>
  writeSyncml({
    header: { sessionId: "1", msgId, target: PATH, source, credentials: null, maxMsgSize: null },
    commands,
    isFinal: true,
  });

async function bare(): Promise<IdleReady> {
  const reply = messageOf("svc", "1", [
    ...end,
    syncCommand("Status", "3", { msgRef: "1", cmdRef: "4", cmd: "Replace", data: statuses.ok }),
  ]);
  const server = createServer({ keepAliveTimeout: 120_000 }, (req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      parseXml(Buffer.concat(chunks).toString("utf8"), { most: 100_000, lenient: true });
      res.setHeader("content-type", "application/vnd.syncml.dm+xml");
      res.setHeader("content-length", Buffer.byteLength(reply));
      res.end(reply);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, requests: [] };
}

async function complete(engine: "lowdb" | "postgres"): Promise<IdleReady> {
  const place = await makePlace(engine);
  process.on("disconnect", () => void place.remove().finally(() => process.exit(0)));
  const { trusted_proxies } = Settings.parse({ trusted_proxies: "127.0.0.1" });
  const settings = { ...place.settings, trusted_proxies, mdm_identity_header: IDENTITY };
  const server = await startServer(settings, pino({ level: "silent" }));
  const { url } = server;
  const { token, close } = await adminOf(server, { connections: 1 });
  const send = async (method: string, path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const reply = await fetch(`${url}/api/v1/svc${path}`, { method, headers, body: JSON.stringify(body) });
    if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  };
  const mdm = { windows_enabled_and_configured: true };
  await send("PATCH", "/config", { server_settings: { server_url: url }, mdm });
  await send("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
  await close();
  const web = new Web({ maxConnections: 4 });
  const post: Post = (to, type, body) =>
    web.call({ method: "POST", url: to, headers: { "content-type": type }, body: Buffer.from(body) });
  const key = await newKey();
  const requests: string[] = [];
  for (let i = 0; i < DEVICES; i++) {
    const agents = new WindowsAgents({ web, url, enrollSecret: SECRET }, machineOf(1, i, 2));
    const facts = {
      DeviceID: `DEVICE-${i}`,
      HWDevID: `HARDWARE-${i}`,
      EnrollmentType: "Device",
      DeviceName: `PC-${i}`,
    };
    const discoveryUrl = `${url}/api/mdm/windows/discovery`;
    const { certificate } = await enrollDevice(post, {
      discoveryUrl,
      token: userToken(await agents.enroll()),
      facts,
      key,
    });
    for (const [at, commands] of [start, end].entries()) {
      const body = messageOf(facts.DeviceID, String(at + 1), commands);
      const headers = {
        "content-type": "application/vnd.syncml.dm+xml",
        "content-length": String(Buffer.byteLength(body)),
        [IDENTITY]: `:${certificate.toString("base64")}:`,
      };
      const reply = await web.call({ method: "POST", url: `${url}${PATH}`, headers, body: Buffer.from(body) });
      if (reply.status !== 200 || !reply.body.includes("<Data>200</Data>"))
        throw new Error(`a device is answered with ${reply.status}: ${reply.body}`);
      const lines = Object.entries(headers).map((line) => line.join(": "));
      requests.push(`POST ${PATH} HTTP/1.1\r\nhost: localhost\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
    }
  }
  await web.close();
  await place.analyze();
  return { port: Number(new URL(url).port), requests };
}

await serveIdle({ complete, bare });
