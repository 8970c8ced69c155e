// `svc api` and replies that are not JSON.
import { describe, expect, it } from "vitest";
import type { Send } from "../../src/client/transport.ts";
import { runCli } from "../support/cli.ts";

const env = { SVC_SERVER_URL: "http://svc.test", SVC_API_TOKEN: "t" };
const reply =
  (body: Uint8Array<ArrayBuffer> | string, type: string): Send =>
  () =>
    new Response(body, { headers: { "content-type": type } });
/** Not valid as UTF-8: decoding and encoding them would make them longer. */
const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
const argv = ["api", "GET", "/software/titles/1/package?alt=media"];

describe("api, for a reply that is not JSON", () => {
  it("writes its bytes unchanged to files and pipes", async () => {
    const binary = await runCli(argv, { env, send: reply(bytes, "application/octet-stream") });
    expect(binary).toMatchObject({ exitCode: 0, stderr: "" });
    expect([...Buffer.from(binary.stdout, "latin1")]).toEqual([...bytes]);
    for (const [text, type] of [
      ["#!/bin/sh\r\necho", "application/octet-stream"],
      ['{"a":1}', "application/octet-stream"],
      ["a,b\n1,2", "text/csv"],
    ] as const)
      expect(await runCli(argv, { env, send: reply(text, type) })).toMatchObject({ exitCode: 0, stdout: text });
  });

  it("shows text on a terminal, and refuses binary content with a hint", async () => {
    const text = await runCli(argv, { env, send: reply("a\u001b[2Jb", "text/plain"), tty: true });
    expect(text).toMatchObject({ exitCode: 0, stdout: "a\\u001b[2Jb\n" });
    for (const content of [bytes, "a\u0000b"]) {
      const { stdout, stderr, exitCode } = await runCli(argv, {
        env,
        send: reply(content, "application/octet-stream"),
        tty: true,
      });
      expect([stdout, exitCode]).toEqual(["", 2]);
      expect(stderr).toMatch(/this is binary, which a terminal cannot show.*\n.*Redirect it to a file/);
    }
  });

  it("is refused with --jq", async () => {
    const { stdout, stderr, exitCode } = await runCli([...argv, "--jq", ".a"], { env, send: reply("a,b", "text/csv") });
    expect([stdout, exitCode]).toEqual(["", 1]);
    expect(stderr).toContain("--jq: the reply is not JSON");
  });
});
