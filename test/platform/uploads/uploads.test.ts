// Files that arrive in multipart bodies, on endpoints that only this test has, with both kinds of blob stores.
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { toNodeHandler } from "h3/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { Download, file, multipart, smallFile } from "../../../src/api/bodies.ts";
import { endpoint } from "../../../src/api/endpoint.ts";
import { QueryTeam } from "../../../src/api/fields.ts";
import { schemaOf } from "../../../src/api/openapi.ts";
import { createApp } from "../../../src/server/app.ts";
import { days } from "../../../src/server/platform/core/clock.ts";
import { conflict } from "../../../src/server/platform/core/errors.ts";
import { paced } from "../../../src/server/platform/core/http/bodies/paced.ts";
import { bodyRoom } from "../../../src/server/platform/core/http/body-room.ts";
import { type Route, route } from "../../../src/server/platform/core/http/route.ts";
import { closeWhenUnread } from "../../../src/server/platform/core/http/unread-bodies.ts";
import { fileCleanup } from "../../../src/server/platform/files/cleanup-job.ts";
import { downloadOf, openUploads, unreferenced } from "../../../src/server/platform/files/service.ts";
import { chooseAddress, listen } from "../../../src/server/platform/process/listen.ts";
import type { Blobs } from "../../../src/server/platform/store/blobs/blobs.ts";
import { and, exists, not } from "../../../src/server/platform/store/query.ts";
import { id, ref, table } from "../../../src/server/platform/store/table.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { blobKinds, blobsIn, keysIn } from "../../support/blob-places.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

const MiB = 1024 * 1024;
const LIMIT = 20 * MiB;
const post = { method: "POST", summary: "A test.", access: "user" } as const;
const Sent = z.object({ name: z.string(), type: z.string() });
const Stored = Sent.extend({ id: z.int(), size: z.int(), sha256: z.string() });

const one = endpoint({
  ...post,
  path: "/test/one",
  dryRun: true,
  body: multipart(
    { note: z.string().optional(), tags: z.array(z.string()).optional() },
    { package: file({ limit: LIMIT }) },
  ),
  response: z.object({ note: z.string().nullable(), tags: z.array(z.string()), package: Stored }),
});
const small = endpoint({
  ...post,
  path: "/test/small",
  body: multipart({}, { profile: smallFile({ limit: 100 }) }),
  response: Sent.extend({ text: z.string() }),
});
const big = endpoint({
  ...post,
  path: "/test/big",
  body: multipart({}, { package: file({ limit: 1024 * MiB }) }),
  response: Stored,
});

const ofTeam = endpoint({
  ...post,
  access: { action: "profiles:write", scope: "team" },
  path: "/test/of-team",
  body: multipart({ team_id: QueryTeam.optional() }, { package: file({ limit: LIMIT }) }),
  response: z.object({ team: z.int().nullable() }),
});

const routes: readonly Route[] = [
  route(ofTeam, async ({ body }) => ({ team: body.team_id ?? null })),
  route(one, async ({ body }) => {
    if (body.note === "refuse") throw conflict("refused");
    return { note: body.note ?? null, tags: body.tags ?? [], package: body.package };
  }),
  route(small, async ({ body: { profile } }) => {
    const { bytes, ...sent } = profile;
    return { ...sent, text: Buffer.from(bytes).toString() };
  }),
  route(big, async ({ body }) => body.package),
  route(
    endpoint({
      method: "GET",
      summary: "A test.",
      access: "user",
      path: "/test/file/:id",
      params: z.object({ id: z.coerce.number() }),
      produces: "application/octet-stream",
      response: Download,
    }),
    ({ params }, ctx) => downloadOf(ctx, params.id, { name: "package.pkg" }),
  ),
];

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const BOUNDARY = "----test";
const part = (disposition: string, content: Uint8Array | string, more = "") =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n`),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
const END = Buffer.from(`--${BOUNDARY}--\r\n`);
const pkg = (content: Uint8Array | string) => part('name="package"; filename="a.pkg"', content);
const multipartType = `multipart/form-data; boundary=${BOUNDARY}`;

interface Scene {
  readonly t: TestApp;
  readonly blobs: Blobs;
  send(path: string, parts: readonly Uint8Array[], headers?: Record<string, string>): Promise<Response>;
  refusal(path: string, parts: readonly Uint8Array[], headers?: Record<string, string>): Promise<unknown[]>;
  rows(): Promise<number>;
}

async function scene(blobs: Blobs, engine: "lowdb" | "postgres" = "lowdb"): Promise<Scene> {
  const t = await startApp({ more: { routes }, blobs, engine });
  const send: Scene["send"] = (path, parts, headers = {}) =>
    t.raw(`/api/v1/svc${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${t.token}`, "content-type": multipartType, ...headers },
      body: new Uint8Array(Buffer.concat(parts)),
    });
  return {
    t,
    blobs,
    send,
    async refusal(...given) {
      const res = await send(...given);
      const { errors } = (await res.json()) as { errors: { name: string; reason: string }[] };
      return [res.status, errors[0]?.name, errors[0]?.reason];
    },
    rows: () => t.store.files.count(),
  };
}

describe.each(blobKinds)("uploads to a %s", (kind) => {
  it.each(bothEngines)("are stored by their digest, once, and can be downloaded in parts, on %s", async (engine) => {
    const s = await scene(await blobsIn(kind), engine);
    const content = randomBytes(9 * MiB);
    const first = await s.send("/test/one", [part('name="note"', "a note"), pkg(content), END]);
    expect(first.status).toBe(200);
    const reply = one.response.parse(await first.json());
    expect(reply).toMatchObject({ note: "a note", tags: [], package: { name: "a.pkg", type: "text/plain" } });
    expect(reply.package).toMatchObject({ size: content.length, sha256: sha256(content) });

    const again = await s.send("/test/one", [
      part('name="package"; filename="other.pkg"', content, "Content-Type: application/x-test\r\n"),
      part('name="tags"', "x"),
      part('name="tags"', "y"),
      END,
    ]);
    expect(await again.json()).toEqual({
      note: null,
      tags: ["x", "y"],
      package: { ...reply.package, name: "other.pkg", type: "application/x-test" },
    });
    expect([await s.rows(), (await keysIn(s.blobs)).length]).toEqual([1, 1]);

    const path = `/test/file/${reply.package.id}`;
    const whole = await s.t.get(path);
    expect(whole.headers.get("etag")).toBe(`"${sha256(content)}"`);
    expect(sha256(new Uint8Array(await whole.arrayBuffer()))).toBe(sha256(content));
    const range = await s.t.get(path, { range: `bytes=${8 * MiB - 2}-${8 * MiB + 1}` });
    expect([range.status, Buffer.from(await range.arrayBuffer())]).toEqual([
      206,
      content.subarray(8 * MiB - 2, 8 * MiB + 2),
    ]);
  });

  it("of the same content at the same time are stored once", async () => {
    const s = await scene(await blobsIn(kind));
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => s.send("/test/one", [pkg("the same content"), END])),
    );
    const ids = await Promise.all(replies.map(async (res) => one.response.parse(await res.json()).package.id));
    expect(new Set(ids).size).toBe(1);
    expect([await s.rows(), (await keysIn(s.blobs)).length]).toEqual([1, 1]);
  });

  it("leave nothing if the request is refused, fails or is a dry run", async () => {
    const s = await scene(await blobsIn(kind));
    expect(await s.refusal("/test/one", [pkg("1"), part('name="note"', "refuse"), END])).toEqual([
      409,
      "base",
      "refused",
    ]);
    expect(await s.refusal("/test/one", [pkg("2"), part('name="other"', "x"), END])).toEqual([
      400,
      "other",
      'unsupported part provided: "other"',
    ]);
    expect((await s.refusal("/test/one", [pkg(randomBytes(9 * MiB))]))[0]).toBe(400);
    expect(await s.refusal("/test/one", [pkg(Buffer.alloc(LIMIT + 1)), END])).toEqual([
      413,
      "package",
      `package is larger than ${LIMIT} bytes`,
    ]);
    const dry = await s.send("/test/one", [pkg("3"), END], { "dry-run": "true" });
    expect([dry.status, dry.headers.get("dry-run")]).toEqual([200, "true"]);
    expect([await s.rows(), await keysIn(s.blobs)]).toEqual([0, []]);
    expect((await s.send("/test/one", [pkg(Buffer.alloc(LIMIT)), END])).status).toBe(200);
    // What another request has stored stays.
    await s.refusal("/test/one", [pkg(Buffer.alloc(LIMIT)), part('name="note"', "refuse"), END]);
    expect([await s.rows(), (await keysIn(s.blobs)).length]).toEqual([1, 1]);
  });

  it("that nothing refers to are removed after a day, and contents without a row too", async () => {
    const s = await scene(await blobsIn(kind));
    const run = () => fileCleanup.run(s.t.services, new AbortController().signal);
    await s.send("/test/one", [pkg("old"), END]);
    s.t.clock.advance(days(1) - 1000);
    await s.send("/test/one", [pkg("new"), END]);
    await s.blobs.put("files/left", Readable.from([Buffer.from("left by a crash")]), { maxBytes: 100 });
    await run();
    expect([await s.rows(), (await keysIn(s.blobs)).length]).toEqual([2, 3]);
    s.t.clock.advance(2000);
    await run();
    expect((await s.t.store.files.list()).map(({ sha256: digest }) => digest)).toEqual([sha256(Buffer.from("new"))]);
    // The blob's age is that of the machine's clock.
    s.t.clock.advance(Date.now() - s.t.clock.now() + days(2));
    await run();
    expect([await s.rows(), await keysIn(s.blobs)]).toEqual([0, []]);
  });
});

describe("multipart bodies", () => {
  let s: Scene;
  beforeEach(async () => {
    s = await scene(await blobsIn("folder"));
  });

  it.each([
    ["no boundary", "multipart/form-data", [400, "Content-Type", "the boundary is missing in Content-Type"]],
    [
      "another multipart type",
      "multipart/mixed; boundary=x",
      [415, "base", "Content-Type must be multipart/form-data"],
    ],
    ["JSON", "application/json", [415, "base", "Content-Type must be multipart/form-data"]],
    ["another boundary", "multipart/form-data; boundary=other", [400, "base", expect.stringContaining("incomplete")]],
  ])("with %s are refused", async (_what, type, want) => {
    expect(await s.refusal("/test/one", [pkg("x"), END], { "content-type": type })).toEqual(want);
  });

  it.each([
    ["nothing", [], [400, "base", expect.stringContaining("incomplete")]],
    ["no parts", [END], [400, "package", "package is required"]],
    ["a missing file", [part('name="note"', "x"), END], [400, "package", "package is required"]],
    ["two files where one is allowed", [pkg("1"), pkg("2"), END], [400, "package", "package was sent more than once"]],
    [
      "a text twice",
      [part('name="note"', "1"), part('name="note"', "2"), pkg("x"), END],
      [400, "note", "note was sent more than once"],
    ],
    [
      "a file where a text belongs",
      [part('name="note"; filename="x"', "1"), pkg("x"), END],
      [400, "note", "note is a text, not a file"],
    ],
    [
      "an unknown file",
      [part('name="x"; filename="x"', "1"), pkg("x"), END],
      [400, "x", 'unsupported part provided: "x"'],
    ],
    [
      "a part without a name",
      [part('filename="x"', "1"), pkg("x"), END],
      [400, "base", 'unsupported part provided: ""'],
    ],
    [
      "a name of objects' prototypes",
      [part('name="__proto__"', "1"), pkg("x"), END],
      [400, "__proto__", 'unsupported part provided: "__proto__"'],
    ],
    ["a file cut in the middle", [pkg("x").subarray(0, -2)], [400, "base", expect.stringContaining("incomplete")]],
    [
      "a header cut in the middle",
      [pkg("x"), pkg("x").subarray(0, 30)],
      [400, "base", expect.stringContaining("incomplete")],
    ],
    [
      "a large text",
      [part('name="note"', "x".repeat(2 * MiB)), pkg("x"), END],
      [413, "note", expect.stringContaining("note is larger")],
    ],
    [
      "a file in base64",
      [part('name="package"; filename="x"', "eA==", "Content-Transfer-Encoding: base64\r\n"), END],
      [400, "package", "package has an unknown Content-Transfer-Encoding"],
    ],
    [
      "10,000 tiny parts",
      [...Array.from({ length: 10_000 }, (_, i) => part('name="tags"', String(i))), pkg("x"), END],
      [400, "base", "the body has more than 1000 parts"],
    ],
  ])("with %s are refused", async (_what, parts, want) => {
    expect(await s.refusal("/test/one", parts as Uint8Array[])).toEqual(want);
    expect([await s.rows(), await keysIn(s.blobs)]).toEqual([0, []]);
    expect(s.t.services.running.of(bodyRoom).taken("proved")).toBe(0);
  });

  it("with huge headers need no more memory than the limit of headers", async () => {
    const bomb = Array.from({ length: 100_000 }, (_, i) => `X-${i}: ${"y".repeat(50)}\r\n`).join("");
    // The headers beyond the limit are not read, so the file is found if its name comes first.
    const res = await s.send("/test/one", [part('name="package"; filename="a.pkg"', "x", bomb), END]);
    expect(res.status).toBe(200);
    const late = Buffer.from(`--${BOUNDARY}\r\n${bomb}Content-Disposition: form-data; name="package"\r\n\r\nx\r\n`);
    expect(await s.refusal("/test/one", [late, END])).toEqual([400, "package", "package is required"]);
  });

  it("cannot be compressed", async () => {
    const want = [415, "base", "multipart bodies cannot have a Content-Encoding"];
    expect(await s.refusal("/test/one", [pkg("x"), END], { "content-encoding": "gzip" })).toEqual(want);
  });

  it.each([
    ["../../etc/passwd", "passwd"],
    ["C:\\temp\\a.pkg", "a.pkg"],
    ["/..", ""],
    ["a\u0000b\u202egkp.exe", "abgkp.exe"],
    ["März 😀.pkg", "März 😀.pkg"],
    ["x".repeat(1000), "x".repeat(255)],
  ])("may call their files %j", async (sent, name) => {
    const res = await s.send("/test/one", [
      part(`name="package"; filename="${sent.replaceAll("\\", "\\\\")}"`, "x"),
      END,
    ]);
    expect(one.response.parse(await res.json()).package.name).toBe(name);
  });

  it("may have small files, which stay in memory", async () => {
    const profile = (text: string) => part('name="profile"; filename="a"', text);
    for (const text of ["1", "", "x".repeat(100)]) {
      const res = await s.send("/test/small", [profile(text), END]);
      expect(small.response.parse(await res.json()).text).toBe(text);
    }
    expect(await s.refusal("/test/small", [profile("x".repeat(101)), END])).toEqual([
      413,
      "profile",
      "profile is larger than 100 bytes",
    ]);
    const twice = [profile("1"), profile("2"), END];
    expect(await s.refusal("/test/small", twice)).toEqual([400, "profile", "profile was sent more than once"]);
    expect(await keysIn(s.blobs)).toEqual([]);
  });

  it("are described with their files", () => {
    expect(schemaOf(one.body, "input")).toMatchObject({
      properties: {
        note: { type: "string" },
        package: { type: "string", contentMediaType: "application/octet-stream" },
      },
      required: ["package"],
    });
  });
});

it("a file for a team that the caller may not change is refused before it has arrived", async () => {
  const s = await scene(await blobsIn("folder"));
  const [own, other] = [(await makeTeam(s.t)).id, (await makeTeam(s.t)).id];
  const { token } = await makeUser(s.t, { teams: [{ id: own, role: "maintainer" }] });
  const send = (body: Uint8Array | ReadableStream) =>
    s.t.raw("/api/v1/svc/test/of-team", {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": multipartType },
      body,
      duplex: "half",
    } as RequestInit);
  const team = (id: number | string) => part('name="team_id"', String(id));
  expect(await (await send(Buffer.concat([team(own), pkg("x"), END]))).json()).toEqual({ team: own });
  // The rest of the file never comes.
  const begun = (id: number) =>
    new ReadableStream({ start: (controller) => controller.enqueue(Buffer.concat([team(id), pkg("y")])) });
  expect((await send(begun(other))).status).toBe(403);
  expect((await send(begun(0))).status).toBe(403);
  // Whether the team comes after the file or is no number, the file is not kept.
  expect((await send(Buffer.concat([pkg("y"), team(other), END]))).status).toBe(403);
  expect((await send(Buffer.concat([team("x"), pkg("y"), END]))).status).toBe(400);
  expect(await s.rows()).toBe(1);
});

it("multipart bodies are not accepted where nobody has to sign in", () => {
  const body = multipart({}, { package: file({ limit: 1 }) });
  expect(() => endpoint({ ...post, access: "none", path: "/test", body, response: Stored })).toThrow(/signed in/);
});

it("a file is unreferenced if no column that refers to files has it", () => {
  const packages = table("packages", { id: id(), file_id: ref("files").onDelete("restrict"), host_id: ref("hosts") });
  expect(unreferenced({ packages })).toEqual(and(not(exists(packages, "file_id"))));
});

it("a sender that stops, or sends too few bytes, is given up", async () => {
  async function* slow(ms: number, bytes: number) {
    for (let i = 0; i < 100; i++) {
      await pause(ms);
      yield new Uint8Array(bytes);
    }
  }
  const read = async (source: AsyncIterable<Uint8Array>, ms: number, wait = 0) => {
    let size = 0;
    for await (const chunk of paced(source, ms)) {
      size += chunk.byteLength;
      if (wait > 0) await pause(wait);
    }
    return size;
  };
  const stopped = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(10)) });
  await expect(read(stopped as unknown as AsyncIterable<Uint8Array>, 50)).rejects.toMatchObject({ status: 408 });
  await expect(read(slow(2, 1), 50)).rejects.toMatchObject({ status: 408 });
  expect(await read(slow(2, 20_000), 30_000)).toBe(2_000_000);
  // The time that the server needs itself does not count.
  expect(await read(slow(0, 1), 3_000, 35)).toBe(100);
});

describe("on a socket", () => {
  async function listening(s: Scene) {
    const app = toNodeHandler(
      createApp(s.t.services, { agent: s.t.agent, stop: async () => {} }, { routes, protocols: [] }),
    ) as RequestListener;
    const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: null });
    const server = await listen((req, res) => {
      closeWhenUnread(req, res);
      app(req, res);
    }, address);
    undo.push(() => server.close({ graceMs: 0, limitMs: 0 }));
    return (path: string, length: number) => {
      const socket = connect(address.port, "127.0.0.1");
      let got = "";
      socket.on("data", (chunk) => {
        got += chunk;
      });
      socket.on("error", () => {});
      socket.write(
        `POST /api/v1/svc${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${s.t.token}\r\nContent-Type: ${multipartType}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`,
      );
      return { socket, closed: once(socket, "close").then(() => got), got: () => got };
    };
  }

  it("nothing stays of an upload whose client goes away", async () => {
    const s = await scene(await blobsIn("folder"));
    const { socket } = (await listening(s))("/test/one", LIMIT);
    socket.write(pkg(randomBytes(MiB)).subarray(0, -2));
    await expect.poll(() => s.t.services.running.of(openUploads).open).toBe(1);
    socket.destroy();
    await expect.poll(() => s.t.services.running.of(openUploads).open).toBe(0);
    expect([await s.rows(), await keysIn(s.blobs)]).toEqual([0, []]);
  });

  it("a file that is too large is refused before it has arrived", async () => {
    const s = await scene(await blobsIn("folder"));
    const { socket, closed, got } = (await listening(s))("/test/one", 1024 * MiB);
    socket.write(pkg("").subarray(0, -2));
    const chunk = Buffer.alloc(MiB);
    let sent = 0;
    const isOver = () => got().includes("413") || socket.destroyed;
    for (; !isOver() && sent < 200; sent++)
      if (!socket.write(chunk)) await expect.poll(() => isOver() || !socket.writableNeedDrain).toBe(true);
    expect(await closed).toMatch(/^HTTP\/1\.1 413 [\s\S]*package is larger than/);
    expect(sent).toBeLessThan(200);
  });

  it("memory does not grow with the size of a file", { timeout: 120_000 }, async () => {
    const s = await scene(await blobsIn("folder"));
    const start = await listening(s);
    const size = 512 * MiB;
    const head = pkg("").subarray(0, -2);
    const tail = Buffer.concat([Buffer.from("\r\n"), END]);
    const chunk = randomBytes(MiB);
    const upload = async (bytes: number) => {
      const { socket, closed } = start("/test/big", head.length + bytes + tail.length);
      socket.write(head);
      let most = 0;
      for (let at = 0; at < bytes; at += chunk.length) {
        if (!socket.write(chunk)) await once(socket, "drain");
        most = Math.max(most, process.memoryUsage.rss());
      }
      socket.write(tail);
      return { most, reply: await closed };
    };
    // Code and buffers that the first upload needs are not growth.
    await upload(32 * MiB);
    global.gc?.();
    const before = process.memoryUsage.rss();
    const { most, reply } = await upload(size);
    expect(reply).toContain(`"size":${size}`);
    expect(most - before).toBeLessThan(64 * MiB);
  });
});
