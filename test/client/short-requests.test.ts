// Requests over a socket whose body is a text and whose reply is read whole.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { ApiClient } from "../../src/client/client.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new ApiClient({ serverUrl, timeout: 500, sleep: async () => {} });
}

describe("short requests", () => {
  it("send texts as UTF-8 with their length, and read replies in parts", async () => {
    const seen: { length?: string | undefined; body: string }[] = [];
    const client = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        seen.push({ length: request.headers["content-length"], body: Buffer.concat(chunks).toString() });
        const [first, second] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
        response.write(Buffer.concat([Buffer.from('{"name":"'), first]));
        setImmediate(() => response.end(Buffer.concat([second, Buffer.from('"}')])));
      });
    });
    for (const method of ["POST", "DELETE"]) {
      const reply = await client.raw(method, "/x", { body: { name: "é" } });
      expect(reply).toMatchObject({ status: 200, text: '{"name":"é"}' });
    }
    const sent = { length: "13", body: '{"name":"é"}' };
    expect(seen).toEqual([sent, sent]);
  });

  it("share a connection, one after the other", async () => {
    const ports = new Set<number | undefined>();
    const client = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end("{}");
    });
    for (let times = 0; times < 5; times++) await client.raw("GET", "/x");
    expect(ports.size).toBe(1);
  });

  it("fail if the server does not begin its reply, or does not go on with it", async () => {
    const silent = await serve(() => {});
    await expect(silent.raw("GET", "/x")).rejects.toThrow("does not respond in time");
    const stalling = await serve((_, response) => response.write("{"));
    await expect(stalling.raw("GET", "/x")).rejects.toThrow("does not respond in time");
  });

  it("are repeated if the connection breaks within the reply, unless that may change something twice", async () => {
    let count = 0;
    const client = await serve((_, response) => {
      count++;
      if (count === 2) return response.end("{}");
      response.writeHead(200, { "content-length": "100" });
      response.write("{", () => response.destroy());
    });
    expect(await client.raw("GET", "/x")).toMatchObject({ status: 200, text: "{}" });
    await expect(client.raw("POST", "/x", { body: {} })).rejects.toThrow("failed");
    expect(count).toBe(3);
  });

  it("end with the reason of the signal", async () => {
    const stop = new AbortController();
    const client = await serve(() => stop.abort(new Error("interrupted")));
    await expect(client.raw("GET", "/x", { signal: stop.signal })).rejects.toThrow("interrupted");
  });
});
