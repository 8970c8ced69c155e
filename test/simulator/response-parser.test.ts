import { describe, expect, it } from "vitest";
import { type Answer, MAX_BODY, ResponseParser } from "../../src/simulator/wire/parser.ts";

/** Passes the bytes in pieces through one buffer that is overwritten each time, like the connection. */
function feed(parser: ResponseParser, bytes: Buffer, cuts: number[]): Answer | null {
  let answer: Answer | null = null;
  const edges = [0, ...cuts, bytes.length];
  const scratch = Buffer.alloc(bytes.length);
  for (let i = 1; i < edges.length; i++) {
    const size = bytes.copy(scratch, 0, edges[i - 1]!, edges[i]!);
    if (size === 0) continue;
    answer = parser.push(scratch.subarray(0, size)) ?? answer;
    scratch.fill(0);
  }
  return answer;
}

const MESSAGES: Record<string, { text: string; status: number; body: string; location?: string; keepAlive?: boolean }> =
  {
    "content-length": {
      text: 'HTTP/1.1 200 OK\r\nDate: x\r\ncontent-LENGTH:  8 \r\n\r\n{"é":1}',
      status: 200,
      body: '{"é":1}',
    },
    "an empty body": { text: "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", status: 500, body: "" },
    "no content": { text: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, body: "" },
    chunks: {
      text: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n3;x=y\r\n:1}\r\n0\r\n\r\n',
      status: 200,
      body: '{"a":1}',
    },
    "chunks with a trailer": {
      text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n",
      status: 200,
      body: "0123456789",
    },
    "an interim answer first": {
      text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
      status: 200,
      body: "{}",
    },
    "a redirect": {
      text: "HTTP/1.1 307 T\r\nLocation: /There?A=1\r\nContent-Length: 0\r\n\r\n",
      status: 307,
      body: "",
      location: "/There?A=1",
    },
    "an announced end": {
      text: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
      status: 200,
      body: "{}",
      keepAlive: false,
    },
    "HTTP/1.0": { text: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", status: 200, body: "{}", keepAlive: false },
  };

describe("the response parser", () => {
  it.each(Object.entries(MESSAGES))("reads %s, split at every byte", (_name, message) => {
    const bytes = Buffer.from(message.text);
    const { status, body, location = null, keepAlive = true } = message;
    const wanted = { status, body, location, keepAlive, bytes: bytes.length };
    expect(feed(new ResponseParser(), bytes, [])).toEqual(wanted);
    for (let cut = 1; cut < bytes.length; cut++) expect(feed(new ResponseParser(), bytes, [cut])).toEqual(wanted);
    const single = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
    const parser = new ResponseParser();
    expect(feed(parser, bytes, single)).toEqual(wanted);
    expect(feed(parser, bytes, single)).toEqual(wanted);
  });

  it("ends a body without a length at the end of the connection", () => {
    const parser = new ResponseParser();
    expect(parser.push(Buffer.from("HTTP/1.1 200 OK\r\n\r\n{}"))).toBeNull();
    expect(parser.close()).toMatchObject({ body: "{}", keepAlive: false });
  });

  it("treats a connection that ends early as no reply", () => {
    const parser = new ResponseParser();
    parser.push(Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{}"));
    expect(parser.close()).toBeNull();
  });

  it("does not reuse a connection with bytes after the reply", () => {
    const text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}extra";
    expect(new ResponseParser().push(Buffer.from(text))).toMatchObject({ body: "{}", keepAlive: false });
  });

  it.each([
    "SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    `HTTP/1.1 200 OK\r\nContent-Length: ${MAX_BODY + 1}\r\n\r\n`,
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
    `HTTP/1.1 200 OK\r\nX: ${"x".repeat(70_000)}`,
  ])("refuses %.50s", (text) => {
    expect(() => new ResponseParser().push(Buffer.from(text))).toThrow();
  });
});
