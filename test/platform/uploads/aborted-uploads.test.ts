// Clients that close the connection in the middle of a body cause no log lines above debug level.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { gzipSync } from "node:zlib";
import { toNodeHandler } from "h3/node";
import { pino } from "pino";
import { afterEach, expect, it } from "vitest";
import { createApp } from "../../../src/server/app.ts";
import { agentHandler } from "../../../src/server/edge/agent/http/node-handler.ts";
import { startApp } from "../../support/app.ts";

let close = async () => {};
afterEach(() => close());

const json = "Content-Type: application/json\r\n";
const zipped = gzipSync("x".repeat(5_000));

it.each([
  ["POST", "/api/v1/svc/login", json, "{"],
  ["POST", "/api/v1/svc/login", `${json}Content-Encoding: gzip\r\n`, zipped.subarray(0, 12)],
  ["POST", "/api/v1/svc/login", `${json}Transfer-Encoding: chunked\r\n`, "1\r\n{\r\n"],
  ["POST", "/api/v1/svc/device/token/debug/errors", json, "{"],
  ["POST", "/api/svc/device/enroll", json, "{"],
  ["POST", "/api/svc/orbit/enroll", json, "{"],
  ["POST", "/login", "Content-Type: application/x-www-form-urlencoded\r\n", "email=x"],
  ["POST", "/mdm/scep/proxy/x?operation=PKIOperation", "", "x"],
  ["GET", "/api/v1/svc/queries/run", json, "{"],
  ["POST", "/api/v1/qengine/enroll", json, "{"],
  ["POST", "/api/v1/qengine/log", json, "x".repeat(20_000)],
])("%s %s that is aborted after %j", async (method, path, headers, start) => {
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  const t = await startApp({ log });
  const app = toNodeHandler(createApp(t.services, { agent: t.agent, stop: async () => {} })) as RequestListener;
  for (const agents of [agentHandler(t.agent, t.services), () => false]) {
    const handled: unknown[] = [];
    const server = createServer((req, res) => {
      if (!agents(req, res)) handled.push(app(req, res));
    }).listen(0, "127.0.0.1");
    close = async () => void server.close();
    await once(server, "listening");
    const received = once(server, "request");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const length = headers.includes("chunked") ? "" : "Content-Length: 30000\r\n";
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers}${length}\r\n`);
    socket.write(start);
    socket.on("error", () => {});
    const [req] = await received;
    if (!req.destroyed) {
      // Not `once` of node:events, which rejects for the parse error of the unfinished request.
      const gone = new Promise<void>((resolve) => req.socket.once("close", resolve));
      socket.destroy();
      await gone;
    }
    await Promise.all(handled);
    server.close();
    await once(server, "close");
  }
  expect(lines.map((line) => JSON.parse(line) as { level: number }).filter(({ level }) => level > 20)).toEqual([]);
});
