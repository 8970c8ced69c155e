// Replies that are sent before the request's body was read, on a real socket.
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { toNodeHandler } from "h3/node";
import { afterEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/server/app.ts";
import { agentHandler } from "../../../src/server/edge/agent/http/node-handler.ts";
import { closeWhenUnread } from "../../../src/server/platform/core/http/unread-bodies.ts";
import { startApp } from "../../support/app.ts";

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(
    servers.splice(0).map((server) => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    }),
  );
});

const serve = (handler: RequestListener): Promise<number> =>
  listening((req, res) => {
    closeWhenUnread(req, res);
    handler(req, res);
  });

async function listening(handler: RequestListener): Promise<number> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return (server.address() as AddressInfo).port;
}

interface Exchange {
  readonly socket: Socket;
  readonly received: () => string;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  readonly isClosed: () => boolean;
}

function send(port: number, text: string): Exchange {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  sockets.push(socket);
  let received = "";
  let closed = false;
  socket.on("data", (chunk) => {
    received += chunk;
  });
  socket.on("error", () => {});
  const over = new Promise<void>((resolve) => {
    socket.on("close", () => {
      closed = true;
      resolve();
    });
  });
  return { socket, received: () => received, closed: over, isClosed: () => closed };
}

const head = (path: string, length: number, more = "") =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}Content-Length: ${length}\r\n\r\n`;

describe("a reply that is sent before the body was read", () => {
  it.each([
    ["401", "/api/v1/svc/labels", 100_000_000, "Authorization: Bearer none\r\n"],
    ["404", "/api/v1/svc/nothing-here", 100_000_000, ""],
    ["413", "/api/v1/svc/login", 100_000_000, ""],
  ])("of %s closes the connection, and the rest of the body is read", async (status, path, length, more) => {
    const t = await startApp();
    const { services } = t;
    const app = createApp(services, { agent: t.agent, stop: async () => {} });
    const port = await serve(toNodeHandler(app) as RequestListener);
    const { socket, received, closed } = send(port, head(path, length, more));
    // Writes as long as the server accepts it: if the server stopped reading, the client would wait here.
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    const push = () => {
      while (!socket.destroyed && socket.writable && socket.bytesWritten < 12_000_000) if (!socket.write(chunk)) return;
      // The client reads the reply after it has written, and then sees the end.
      socket.end();
    };
    socket.on("drain", push);
    push();
    await closed;
    expect(received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received().toLowerCase()).toContain("connection: close");
  });

  it.each([
    ["413", "/api/v1/qengine/enroll", "{"],
    ["413", "/api/v1/qengine/log", "{"],
    ["413", "/api/osquery/config", '{"node_key":"unknown",'],
    ["200", "/api/v1/qengine/distributed/write", '{"node_key":"unknown",'],
    ["404", "/api/v1/qengine/nothing-here", "{"],
  ])("of %s closes the connection of an agent, and only part of the body is read: %s", async (status, path, start) => {
    const t = await startApp();
    const handle = agentHandler(t.agent, t.services);
    const port = await listening((req, res) => void handle(req, res));
    const { socket, received, closed } = send(port, head(path, 400_000_000) + start);
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    const push = () => {
      while (!socket.destroyed && socket.writable && socket.bytesWritten < 300_000_000)
        if (!socket.write(chunk)) return;
      socket.end();
    };
    socket.on("drain", push);
    push();
    await closed;
    expect(received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received().match(/^HTTP/gm)).toHaveLength(1);
    expect(received().toLowerCase()).toContain("connection: close");
    expect(socket.bytesWritten).toBeLessThan(100_000_000);
  });

  it("of 503 closes the connection of an agent if there is no room for its body", async () => {
    const t = await startApp();
    const handle = agentHandler(t.agent, t.services);
    const port = await listening((req, res) => void handle(req, res));
    const { socket, received, closed } = send(port, `${head("/api/v1/qengine/log", 90_000_000)}{`);
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    const push = () => {
      while (!socket.destroyed && socket.writable && socket.bytesWritten < 20_000_000) if (!socket.write(chunk)) return;
      socket.end();
    };
    socket.on("drain", push);
    push();
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 503 /);
    expect(received().toLowerCase()).toContain("connection: close");
  });

  it("does not read forever", async () => {
    const port = await serve((_req, res) => void res.writeHead(401).end("no"));
    const { socket, closed } = send(port, head("/", 2_000_000_000));
    const chunk = Buffer.alloc(1024 * 1024);
    const push = () => {
      while (!socket.destroyed && socket.writable) if (!socket.write(chunk)) return;
    };
    socket.on("drain", push);
    push();
    await closed;
    // The part that is read, and the buffers of both sides.
    expect(socket.bytesWritten).toBeLessThan(100_000_000);
  });

  it("leaves the connection open if the body was read, or if there is none", async () => {
    const port = await serve((req, res) => {
      req.resume();
      req.on("end", () => res.writeHead(401).end("no"));
    });
    const { socket, received, isClosed } = send(port, `${head("/", 2)}{}`);
    await expect.poll(() => received().match(/HTTP\/1\.1 401/g)?.length).toBe(1);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await expect.poll(() => received().match(/HTTP\/1\.1 401/g)?.length).toBe(2);
    expect(isClosed()).toBe(false);
    expect(received()).not.toMatch(/connection: close/i);
  });
});
