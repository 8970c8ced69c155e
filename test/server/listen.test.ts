import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Address, chooseAddress, type Listening, listen } from "../../src/server/process/listen.ts";

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
