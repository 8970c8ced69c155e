// Bodies and replies that are not JSON, on endpoints that only this test has.
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { Content, Download, form, raw } from "../../../src/api/bodies.ts";
import { endpoint } from "../../../src/api/endpoint.ts";
import { type Route, route } from "../../../src/server/platform/core/http/route.ts";
import { startApp, type TestApp } from "../../support/app.ts";

const post = { method: "POST", summary: "A test.", access: "user" } as const;
const get = { method: "GET", summary: "A test.", access: "user" } as const;
const told = z.object({ told: z.unknown() });

const digits = Buffer.from("0123456789");
const sha256 = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882";
let opened: string[] = [];
const file = (more: Partial<Download> = {}): Download => ({
  size: digits.length,
  async open({ start, end }) {
    opened.push(`${start}-${end}`);
    return (async function* () {
      for (let at = start; at <= end; at += 3) yield digits.subarray(at, Math.min(at + 3, end + 1));
    })();
  },
  ...more,
});

const gone = z.object({ gone: z.boolean() });
const routes: readonly Route[] = [
  route(endpoint({ ...post, path: "/test/raw", body: raw({ limit: 10 }), response: told }), async ({ body }) => ({
    told: [body.type, Buffer.from(body.bytes).toString("latin1")],
  })),
  route(
    endpoint({ ...post, path: "/test/raw-open", access: "none", body: raw({ limit: 10 }), response: told }),
    async () => ({ told: "open" }),
  ),
  route(
    endpoint({ ...post, path: "/test/typed", body: raw({ limit: 10, types: ["application/x-test"] }), response: told }),
    async ({ body }) => ({ told: body.type }),
  ),
  route(
    endpoint({ ...post, path: "/test/form", body: form(z.object({ a: z.string() }), { limit: 100 }), response: told }),
    async ({ body }) => ({ told: body.a }),
  ),
  route(
    endpoint({
      ...get,
      path: "/test/download/:name",
      params: z.object({ name: z.string() }),
      produces: "application/x-test",
      response: Download,
    }),
    async ({ params }) =>
      ({
        digest: file({ sha256, name: "Bericht für März.txt" }),
        etag: file({ etag: '"mine"', type: "text/x-own" }),
        plain: file(),
        empty: file({ size: 0, sha256 }),
      })[params.name]!,
  ),
  route(endpoint({ ...get, path: "/test/content", produces: "text/x-test", response: Content }), async () => ({
    content: "ä",
    name: "a.txt",
  })),
  route(endpoint({ ...post, path: "/test/gone", otherStatus: [410], response: gone }), async (_, __, reply) => {
    reply.status = 410;
    reply.headers["x-test"] = "1";
    return { gone: true };
  }),
];

let t: TestApp;
beforeAll(async () => {
  t = await startApp({ more: { routes }, shared: true });
  return () => t.close();
});

const send = (path: string, body: string | Uint8Array<ArrayBuffer> | undefined, headers: Record<string, string> = {}) =>
  t.raw(`/api/v1/svc${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${t.token}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });
const reasonsOf = async (res: Response) => ((await res.json()) as { errors: { reason: string }[] }).errors[0]?.reason;

describe("bodies", () => {
  it("are given to the handler as bytes, exactly as they were sent", async () => {
    const res = await send("/test/raw", new Uint8Array([0, 255, 13, 10]), { "content-type": "Text/Plain; charset=x" });
    expect(await res.json()).toEqual({ told: ["text/plain", "\u0000\u00ff\r\n"] });
    expect(await (await send("/test/raw", undefined)).json()).toEqual({ told: ["", ""] });
  });

  it("that are larger than the limit are refused", async () => {
    expect((await send("/test/raw", new Uint8Array(10))).status).toBe(200);
    const res = await send("/test/raw", new Uint8Array(11));
    expect([res.status, await reasonsOf(res)]).toEqual([413, "the body is larger than 10 bytes"]);
  });

  it("of another media type are refused", async () => {
    const send2 = (type: string) => send("/test/typed", new Uint8Array(1), { "content-type": type });
    expect(await (await send2("application/X-Test; a=b")).json()).toEqual({ told: "application/x-test" });
    const res = await send2("application/json");
    expect([res.status, await reasonsOf(res)]).toEqual([415, "Content-Type must be application/x-test"]);
    expect((await send("/test/typed", undefined)).status).toBe(415);
  });

  it("of pages of other sites are refused where no token is needed", async () => {
    const from = (type: string) =>
      send("/test/raw-open", new Uint8Array(1), { origin: "https://other.example.com", "content-type": type });
    for (const type of ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"])
      expect((await from(type)).status, type).toBe(415);
    expect((await from("application/octet-stream")).status).toBe(200);
  });

  it("may be forms or JSON where the endpoint accepts forms", async () => {
    const type = { "content-type": "application/x-www-form-urlencoded" };
    expect(await (await send("/test/form", "a=1%202", type)).json()).toEqual({ told: "1 2" });
    const json = { "content-type": "application/json" };
    expect(await (await send("/test/form", '{"a":"1 2"}', json)).json()).toEqual({ told: "1 2" });
  });
});

describe("downloads", () => {
  const ask = (name: string, headers: Record<string, string> = {}, method = "GET") =>
    t.request(method, `/test/download/${name}`, undefined, headers);
  const shown = (res: Response, ...names: string[]) => names.map((name) => res.headers.get(name));

  it("have size, digest, name and an ETag", async () => {
    const res = await ask("digest");
    expect(res.status).toBe(200);
    expect(shown(res, "content-length", "accept-ranges", "etag", "content-type", "x-content-type-options")).toEqual([
      "10",
      "bytes",
      `"${sha256}"`,
      "application/x-test",
      "nosniff",
    ]);
    const digest = Buffer.from(sha256, "hex").toString("base64");
    expect(shown(res, "repr-digest", "content-range")).toEqual([`sha-256=:${digest}:`, null]);
    expect(res.headers.get("content-disposition")).toBe(
      `attachment; filename="Bericht f_r M_rz.txt"; filename*=UTF-8''Bericht%20f%C3%BCr%20M%C3%A4rz.txt`,
    );
    expect(await res.text()).toBe("0123456789");
  });

  it("send one part", async () => {
    const res = await ask("etag", { range: "bytes=2-5", "if-range": '"mine"' });
    expect([res.status, await res.text()]).toEqual([206, "2345"]);
    expect(shown(res, "content-range", "content-length", "content-type")).toEqual(["bytes 2-5/10", "4", "text/x-own"]);
    expect((await ask("etag", { range: "bytes=2-5", "if-range": '"other"' })).status).toBe(200);
  });

  it("without an ETag send a part only if the client does not require that nothing has changed", async () => {
    expect((await ask("plain", { range: "bytes=-3" })).status).toBe(206);
    expect((await ask("plain", { range: "bytes=-3", "if-range": '"x"' })).status).toBe(200);
  });

  it("refuse a part that does not exist", async () => {
    for (const name of ["plain", "empty"]) {
      const res = await ask(name, { range: "bytes=10-" });
      expect(res.status).toBe(416);
      expect(res.headers.get("content-range")).toBe(`bytes */${name === "empty" ? 0 : 10}`);
    }
  });

  it("answer HEAD without reading the content, and other methods with 405", async () => {
    opened = [];
    const res = await ask("digest", {}, "HEAD");
    expect([res.status, res.headers.get("content-length"), await res.text()]).toEqual([200, "10", ""]);
    expect((await ask("digest", { range: "bytes=0-0" }, "HEAD")).status).toBe(206);
    expect((await ask("empty")).headers.get("content-length")).toBe("0");
    expect(opened).toEqual([]);
    const wrong = await ask("digest", {}, "POST");
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});

it("a handler may send a text with its length, or a status and headers of its own", async () => {
  const content = await t.get("/test/content");
  expect([content.headers.get("content-type"), content.headers.get("content-length")]).toEqual(["text/x-test", "2"]);
  expect([content.headers.get("content-disposition"), await content.text()]).toEqual([
    'attachment; filename="a.txt"',
    "ä",
  ]);
  const res = await t.post("/test/gone");
  expect([res.status, res.headers.get("x-test"), await res.json()]).toEqual([410, "1", { gone: true }]);
});
