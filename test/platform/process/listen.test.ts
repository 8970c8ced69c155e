import { request as httpRequest, type RequestListener } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { generate } from "selfsigned";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allowLong } from "../../../src/server/platform/core/http/long-request.ts";
import { type Address, chooseAddress, type Listening, listen } from "../../../src/server/platform/process/listen.ts";

describe("the listener", () => {
  let listening: Listening;
  let address: Address;
  beforeEach(async () => {
    address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: null });
    listening = await listen((_req, res) => void res.end("fine"), address);
  });
  afterEach(() => listening.close({ graceMs: 0, limitMs: 0 }));

  const answerTo = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(address.port, "127.0.0.1", () => socket.write(text));
      let got = "";
      socket.on("data", (chunk) => {
        got += chunk;
      });
      socket.on("error", reject);
      socket.on("close", () => resolve(got));
    });

  test.each([
    ["no HTTP", "HELLO\r\n\r\n", 400],
    ["headers beyond bounds", `GET / HTTP/1.1\r\nHost: x\r\nA: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["a length that is none", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400],
  ])("replies to %s with a body that neither an agent nor a client treats as success", async (_what, text, status) => {
    const [head, body] = (await answerTo(text)).split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(JSON.parse(body!)).toEqual({
      message: expect.any(String),
      errors: [{ name: "base", reason: expect.any(String) }],
      error: expect.any(String),
    });
  });
});

describe("a request that arrives slowly", () => {
  const begin = async (handler: RequestListener) => {
    const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: null });
    const listening = await listen(handler, address, { limitMs: 200 });
    const socket = connect(address.port, "127.0.0.1");
    let got = "";
    socket.on("data", (chunk) => {
      got += chunk;
    });
    const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(got)));
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345");
    return { listening, socket, closed };
  };

  test("is answered with 408 when its time is over", async () => {
    const { listening, closed } = await begin((req) => void req.resume());
    expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
    await listening.close({ graceMs: 0, limitMs: 0 });
  });

  test("may take longer if its handler allows that", async () => {
    const { listening, socket, closed } = await begin((req, res) => {
      allowLong(req);
      req.resume();
      req.on("end", () => res.end("fine"));
    });
    const other = await begin((req) => void req.resume());
    // The other request began later, and its time is over.
    expect(await other.closed).toMatch(/ 408 /);
    await other.listening.close({ graceMs: 0, limitMs: 0 });
    expect(socket.destroyed).toBe(false);
    socket.write("67890");
    socket.end();
    expect(await closed).toMatch(/fine$/);
    await listening.close({ graceMs: 0, limitMs: 0 });
  });
});

describe("a connection from an address that is refused", () => {
  const certificate = async () => {
    const { cert, private: key } = await generate([{ name: "commonName", value: "localhost" }]);
    return { cert, key };
  };

  test.each([
    ["http", async () => null],
    ["https", certificate],
  ])("is closed at once, before any %s, and others are served", async (_, tls) => {
    const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: await tls() });
    let isRefused = true;
    let requests = 0;
    const listening = await listen(
      (_req, res) => {
        requests++;
        res.end("fine");
      },
      address,
      { refuses: (peer) => isRefused && peer === "127.0.0.1" },
    );
    const status = () =>
      new Promise<number>((resolve, reject) => {
        const send = address.tls === null ? httpRequest : httpsRequest;
        const options = { port: address.port, host: "127.0.0.1", rejectUnauthorized: false, agent: false };
        send(options, (res) => resolve(res.resume().statusCode!))
          .on("error", reject)
          .end();
      });
    await expect(status()).rejects.toThrow();
    expect(requests).toBe(0);
    isRefused = false;
    expect(await status()).toBe(200);
    await listening.close({ graceMs: 0, limitMs: 0 });
  });
});
