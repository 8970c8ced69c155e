// Files that arrive in pieces, and forms that refer to them, with both kinds of blob stores.
import { createHash, randomBytes, randomInt } from "node:crypto";
import { appendFile, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { actions, roles } from "../../../src/api/access.ts";
import { allEndpoints } from "../../../src/api/all.ts";
import { Download, file, multipart, smallFile } from "../../../src/api/bodies.ts";
import { endpoint } from "../../../src/api/endpoint.ts";
import { CreateUpload, OFFSET_TYPE, UPLOAD_MAX, Upload } from "../../../src/api/platform/uploads.ts";
import { createApp } from "../../../src/server/app.ts";
import { days, hours } from "../../../src/server/platform/core/clock.ts";
import { type Route, route } from "../../../src/server/platform/core/http/route.ts";
import { withRunning } from "../../../src/server/platform/core/running.ts";
import { fileCleanup } from "../../../src/server/platform/files/cleanup-job.ts";
import { downloadOf, openUploads } from "../../../src/server/platform/files/service.ts";
import {
  type Blobs,
  BlobsUnavailable,
  digestOf,
  type GrowingBlobs,
} from "../../../src/server/platform/store/blobs/blobs.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import { expiredUploads } from "../../../src/server/platform/uploads/expiry-job.ts";
import { tables } from "../../../src/server/tables.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { blobKinds, blobsIn, keysIn } from "../../support/blob-places.ts";
import { amount, bothEngines, testCipher } from "../../support/engines.ts";
import { makeUser } from "../../support/make.ts";

const MiB = 1024 * 1024;
const test = { summary: "A test.", access: "user" } as const;
const Stored = z.object({ id: z.int(), name: z.string(), type: z.string(), size: z.int(), sha256: z.string() });

const take = endpoint({
  ...test,
  method: "POST",
  path: "/test/take",
  body: multipart({}, { package: file({ limit: 40 * MiB }) }),
  response: Stored,
});
const takeSmall = endpoint({
  ...test,
  method: "POST",
  path: "/test/take-small",
  body: multipart({}, { profile: smallFile({ limit: 100 }) }),
  response: z.object({ name: z.string(), text: z.string() }),
});
const routes: readonly Route[] = [
  route(take, async ({ body }) => body.package),
  route(takeSmall, async ({ body: { profile } }) => ({
    name: profile.name,
    text: Buffer.from(profile.bytes).toString(),
  })),
  route(
    endpoint({
      ...test,
      method: "GET",
      path: "/test/file/:id",
      params: z.object({ id: z.coerce.number() }),
      produces: "application/octet-stream",
      response: Download,
    }),
    ({ params }, ctx) => downloadOf(ctx, params.id),
  ),
];

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const described = (content: Uint8Array, name = "editor.pkg") => ({
  name,
  size: content.length,
  sha256: sha256(content),
});

const digestHeader = (content: Uint8Array) => ({
  "repr-digest": `sha-256=:${createHash("sha256").update(content).digest("base64")}:`,
});

/** A body that breaks off after its bytes, as that of a lost connection does. */
function cut(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at === bytes.length) return controller.error(new Error("the connection is lost"));
      const chunk = bytes.subarray(at, at + 64 * 1024);
      at += chunk.length;
      controller.enqueue(chunk);
    },
  });
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

/** The requests of one user. */
function userOf(send: Send, token: string) {
  const request = (method: string, path: string, init: RequestInit = {}) =>
    send(`/api/v1/svc${path}`, { method, ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
  const json = { "content-type": "application/json" };
  return {
    request,
    create: (body: unknown) => request("POST", "/uploads", { body: JSON.stringify(body), headers: json }),
    begin(content: Uint8Array, name?: string): Promise<Upload> {
      return this.beginFile(described(content, name));
    },
    async beginFile(file: z.input<typeof CreateUpload>): Promise<Upload> {
      const res = await this.create(file);
      expect([200, 201]).toContain(res.status);
      return Upload.strict().parse(((await res.json()) as { upload: unknown }).upload);
    },
    append: (id: number, offset: number, body: Uint8Array | ReadableStream, headers: Record<string, string> = {}) =>
      request("PATCH", `/uploads/${id}`, {
        body,
        headers: { "content-type": OFFSET_TYPE, "upload-offset": String(offset), ...headers },
        duplex: "half",
      } as RequestInit),
    async offset(id: number): Promise<number> {
      const res = await request("HEAD", `/uploads/${id}`);
      expect(res.status).toBe(200);
      return Number(res.headers.get("upload-offset"));
    },
    async take(id: number, path = "/test/take", field = "package") {
      const form = new FormData();
      form.append(field, `upload:${id}`);
      return request("POST", path, { body: form });
    },
  };
}
type User = ReturnType<typeof userOf>;

const refusal = async (res: Response) => {
  const { errors } = (await res.json()) as { errors: { name: string; reason: string }[] };
  return [res.status, errors[0]?.name, errors[0]?.reason];
};

async function scene(blobs: Blobs, engine: "lowdb" | "postgres" = "lowdb") {
  const t = await startApp({ more: { routes }, blobs, engine });
  return { t, blobs, ada: userOf(t.raw, t.token) };
}
const run = (t: TestApp, job: typeof fileCleanup) => job.run(t.services, new AbortController().signal);

describe.each(blobKinds)("uploads in pieces to a %s", (kind) => {
  it.each(bothEngines)("keep what arrives before each interruption, and become a file, on %s", async (engine) => {
    const { t, blobs, ada } = await scene(await blobsIn(kind), engine);
    const content = randomBytes(20 * MiB + 7);
    const { id, received } = await ada.begin(content);
    expect(received).toBe(0);
    for (let at = 0; at < content.length; ) {
      const end = Math.min(at + randomInt(1, 7 * MiB), content.length);
      const isLast = end === content.length;
      const res = await ada.append(id, at, isLast ? content.subarray(at) : cut(content.subarray(at, end)));
      expect(res.status).toBe(isLast ? 204 : 400);
      expect(await ada.offset(id)).toBe(end);
      at = end;
    }
    expect((await keysIn(blobs)).map((key) => key.split("/")[0])).toEqual(["files"]);
    expect(await t.store.uploadPieces.count()).toBe(0);

    const taken = Stored.parse(await (await ada.take(id)).json());
    expect(taken).toMatchObject({ ...described(content), type: "application/octet-stream" });
    const whole = await ada.request("GET", `/test/file/${taken.id}`);
    expect(sha256(new Uint8Array(await whole.arrayBuffer()))).toBe(sha256(content));
  });

  it("store a long body in several pieces, and are continued by the same request", async () => {
    const { t, ada } = await scene(await blobsIn(kind));
    const content = randomBytes(18 * MiB);
    const { id } = await ada.begin(content);
    expect((await ada.append(id, 0, cut(content.subarray(0, 17 * MiB)))).status).toBe(400);
    const pieces = await t.store.uploadPieces.list({ order: [{ column: "start", direction: "asc" }] });
    expect(pieces.map(({ start }) => start / MiB)).toEqual(kind === "bucket" ? [0, 8, 16] : [0]);
    const again = await ada.create(described(content, "other.pkg"));
    expect([again.status, await again.json()]).toMatchObject([
      200,
      { upload: { id, name: "other.pkg", received: 17 * MiB } },
    ]);
    expect((await ada.append(id, 17 * MiB, content.subarray(17 * MiB))).status).toBe(204);
    expect((await ada.take(id)).status).toBe(200);
    expect((await ada.create(described(content))).status).toBe(200);
  });

  it("with a wrong digest leave nothing", async () => {
    const { t, blobs, ada } = await scene(await blobsIn(kind));
    const content = randomBytes(1000);
    const { id } = await ada.begin(content);
    expect((await ada.append(id, 0, content.subarray(0, 500))).status).toBe(204);
    expect(await refusal(await ada.append(id, 500, randomBytes(500)))).toEqual([
      422,
      "sha256",
      "the content that has arrived has another SHA-256 digest; begin a new upload",
    ]);
    expect((await ada.request("HEAD", `/uploads/${id}`)).status).toBe(404);
    expect([await t.store.uploads.count(), await t.store.files.count(), await keysIn(blobs)]).toEqual([0, 0, []]);
  });

  it.each(bothEngines)("may have their digest with the last piece, or none, on %s", async (engine) => {
    const { t, blobs, ada } = await scene(await blobsIn(kind), engine);
    const content = randomBytes(9 * MiB);
    const file = { name: "editor.pkg", size: content.length, modified_at: "2026-03-01T11:00:00.123Z" };
    const { id, sha256: unknown, modified_at } = await ada.beginFile(file);
    expect([unknown, modified_at]).toEqual([null, file.modified_at]);
    expect((await ada.append(id, 0, cut(content.subarray(0, 8 * MiB)))).status).toBe(400);
    expect((await ada.append(id, 8 * MiB, content.subarray(8 * MiB), digestHeader(content))).status).toBe(204);
    expect(await ada.beginFile(file)).toMatchObject({ id, received: content.length, sha256: sha256(content) });
    expect(Stored.parse(await (await ada.take(id)).json())).toMatchObject(described(content));

    const small = randomBytes(100);
    const other = await ada.beginFile({ name: "a.pkg", size: 100 });
    expect((await ada.append(other.id, 0, small)).status).toBe(204);
    expect((await ada.begin(small)).id).toBe(other.id);
    expect([await t.store.uploads.count(), (await keysIn(blobs)).length]).toEqual([2, 2]);
  });

  it("with another digest than that of the last piece leave nothing", async () => {
    const { t, blobs, ada } = await scene(await blobsIn(kind));
    const content = randomBytes(1000);
    const { id } = await ada.beginFile({ name: "editor.pkg", size: 1000 });
    expect((await ada.append(id, 0, content.subarray(0, 500))).status).toBe(204);
    const last = await ada.append(id, 500, randomBytes(500), digestHeader(content));
    expect(await refusal(last)).toEqual([422, "sha256", expect.stringContaining("another SHA-256 digest")]);
    expect([await t.store.uploads.count(), await t.store.files.count(), await keysIn(blobs)]).toEqual([0, 0, []]);
  });

  it("take each byte once if several requests send the same at once", async () => {
    const { t, blobs, ada } = await scene(await blobsIn(kind));
    const content = randomBytes(300);
    const { id } = await ada.begin(content);
    for (const [at, end] of [
      [0, 100],
      [100, 200],
      [200, 300],
    ] as const) {
      const replies = await Promise.all([1, 2, 3].map(() => ada.append(id, at, content.subarray(at, end))));
      expect(replies.map(({ status }) => status).sort()).toEqual([204, 409, 409]);
      expect(await ada.offset(id)).toBe(end);
    }
    expect(Stored.parse(await (await ada.take(id)).json())).toMatchObject(described(content));
    expect([await t.store.files.count(), (await keysIn(blobs)).length]).toEqual([1, 1]);
  });

  it("are refused, and can be repeated, while the disk is full or the bucket is away", async () => {
    const blobs = await blobsIn(kind);
    let full = "";
    const check = (key: string) => {
      if (full !== "" && key.startsWith(full)) throw new BlobsUnavailable("full");
    };
    const failing: Partial<Blobs> = {
      put: async (...given) => {
        check(given[0]);
        return blobs.put(...given);
      },
      growing: blobs.growing && {
        ...blobs.growing,
        append: async (...given: Parameters<GrowingBlobs["append"]>) => {
          check(given[0]);
          return blobs.growing!.append(...given);
        },
        keepAs: async (...given: Parameters<GrowingBlobs["keepAs"]>) => {
          check(given[1]);
          return blobs.growing!.keepAs(...given);
        },
      },
    };
    const filling = new Proxy(blobs, {
      get(_, name) {
        const value: unknown = Reflect.get(name in failing ? failing : blobs, name);
        return typeof value === "function" ? value.bind(blobs) : value;
      },
    });
    const { ada } = await scene(filling);
    const content = randomBytes(200);
    const { id } = await ada.begin(content);
    full = "uploads/";
    expect((await ada.append(id, 0, content)).status).toBe(503);
    expect(await ada.offset(id)).toBe(0);
    full = "files/";
    expect((await ada.append(id, 0, content.subarray(0, 100))).status).toBe(204);
    expect((await ada.append(id, 100, content.subarray(100))).status).toBe(503);
    expect(await ada.offset(id)).toBe(100);
    full = "";
    expect((await ada.append(id, 100, content.subarray(100))).status).toBe(204);
    expect((await ada.take(id)).status).toBe(200);
  });

  it("are removed with their pieces after a day without progress, and their files if nothing uses them", async () => {
    const { t, blobs, ada } = await scene(await blobsIn(kind));
    const content = randomBytes(200);
    const [half, whole] = [await ada.begin(content), await ada.begin(content.subarray(0, 50))];
    await ada.append(whole.id, 0, content.subarray(0, 50));
    t.clock.advance(hours(23));
    await ada.append(half.id, 0, content.subarray(0, 100));
    await blobs.put("uploads/7/left", Readable.from([Buffer.from("left by a crash")]), { maxBytes: 100 });
    t.clock.advance(hours(23));
    await run(t, expiredUploads);
    await run(t, fileCleanup);
    expect((await t.store.uploads.list()).map(({ id }) => id)).toEqual([half.id]);
    expect(await ada.offset(half.id)).toBe(100);
    expect(await t.store.files.count()).toBe(0);

    t.clock.advance(hours(2));
    expect((await ada.request("HEAD", `/uploads/${half.id}`)).status).toBe(404);
    expect((await ada.append(half.id, 100, content.subarray(100))).status).toBe(404);
    expect((await ada.begin(content)).id).not.toBe(half.id);
    await run(t, expiredUploads);
    expect((await t.store.uploads.list()).map(({ received }) => received)).toEqual([0]);
    // Blobs without a row have the age that the machine's clock shows.
    t.clock.advance(Date.now() - t.clock.now() + days(2));
    await run(t, expiredUploads);
    expect(await keysIn(blobs)).toEqual([]);
  });
});

describe("an upload", () => {
  let t: TestApp;
  let blobs: Blobs;
  let ada: User;
  const content = randomBytes(1000);
  beforeEach(async () => {
    ({ t, blobs, ada } = await scene(await blobsIn("folder")));
  });

  it.each([
    ["without an offset", { "upload-offset": "" }, [400, "Upload-Offset", "Upload-Offset must be a number of bytes"]],
    ["at a negative offset", { "upload-offset": "-1" }, [400, "Upload-Offset", expect.anything()]],
    ["at a wrong offset", { "upload-offset": "1" }, [409, "base", "0 bytes have arrived: send what follows them"]],
    ["of another type", { "content-type": "text/plain" }, [415, "base", `Content-Type must be ${OFFSET_TYPE}`]],
    ["that is compressed", { "content-encoding": "gzip" }, [415, "base", "the body cannot have a Content-Encoding"]],
    ["with a digest in hex", { "repr-digest": "0".repeat(64) }, [400, "Repr-Digest", expect.anything()]],
    ["with a digest of other bytes", digestHeader(randomBytes(9)), [400, "Repr-Digest", expect.anything()]],
    ["as a dry run", { "dry-run": "true" }, [400, "Dry-Run", expect.anything()]],
  ])("refuses a piece %s", async (_what, headers, want) => {
    const { id } = await ada.begin(content);
    expect(await refusal(await ada.append(id, 0, content, headers as Record<string, string>))).toEqual(want);
    expect([await ada.offset(id), await keysIn(blobs)]).toEqual([0, []]);
  });

  it("refuses more bytes than it has, and keeps none of that piece", async () => {
    const { id } = await ada.begin(content);
    const tooMany = [400, "base", "the upload has only 1000 bytes"];
    expect(await refusal(await ada.append(id, 0, randomBytes(1001)))).toEqual(tooMany);
    expect([await ada.offset(id), await keysIn(blobs)]).toEqual([0, []]);
    expect((await ada.append(id, 0, content)).status).toBe(204);
    expect(await refusal(await ada.append(id, 1000, randomBytes(1)))).toEqual(tooMany);
    expect((await ada.append(id, 1000, new Uint8Array())).status).toBe(204);
  });

  it("has headers of the tus protocol, for HEAD and for each piece", async () => {
    const { id } = await ada.begin(content);
    const replies = [await ada.append(id, 0, content.subarray(0, 10)), await ada.request("HEAD", `/uploads/${id}`)];
    for (const { headers } of replies)
      expect(
        ["upload-offset", "upload-length", "tus-resumable", "cache-control"].map((name) => headers.get(name)),
      ).toEqual(["10", "1000", "1.0.0", "no-store"]);
  });

  it.each([
    ["no bytes", { size: 0 }, "size"],
    ["too many bytes", { size: UPLOAD_MAX + 1 }, "size"],
    ["a time without a date", { modified_at: "12:00" }, "modified_at"],
    ["a digest in base64", { sha256: "x".repeat(64) }, "sha256"],
    ["no name", { name: undefined }, "name"],
  ])("cannot begin with %s", async (_what, wrong, field) => {
    expect(await refusal(await ada.create({ ...described(content), ...wrong }))).toEqual([
      422,
      field,
      expect.any(String),
    ]);
  });

  it("without a digest is recognized by the name, size and modification time of its file", async () => {
    const file = { name: "editor.pkg", size: 1000, modified_at: "2026-03-01T11:00:00Z" };
    const { id } = await ada.beginFile(file);
    expect((await ada.beginFile(file)).id).toBe(id);
    const others = [
      { ...file, name: "other.pkg" },
      { ...file, size: 1001 },
      { ...file, modified_at: "2026-03-01T11:00:00.001Z" },
      { name: file.name, size: file.size },
      { name: file.name, size: file.size },
    ];
    const ids = [id];
    for (const other of others) ids.push((await ada.beginFile(other)).id);
    const another = userOf(t.raw, (await makeUser(t, "maintainer")).token);
    ids.push((await another.beginFile(file)).id);
    expect(new Set(ids).size).toBe(7);
  });

  it("has the name of its file without folders, and a digest in lower case", async () => {
    const body = { ...described(content, "../../C:\\temp/a\u0000.pkg"), sha256: sha256(content).toUpperCase() };
    expect(CreateUpload.parse(body)).toEqual(described(content, "a.pkg"));
  });

  it("does not exist for other users, unless they are global admins", async () => {
    const other = userOf(t.raw, (await makeUser(t, "maintainer")).token);
    const { id } = await ada.begin(content);
    await ada.append(id, 0, content);
    const missing = await refusal(await other.request("DELETE", "/uploads/999"));
    const same = (reply: unknown[]) =>
      expect(JSON.stringify(reply).replaceAll(String(id), "999")).toBe(JSON.stringify(missing));
    same(await refusal(await other.request("GET", `/uploads/${id}`)));
    same(await refusal(await other.append(id, 1000, content)));
    same(await refusal(await other.request("DELETE", `/uploads/${id}`)));
    same(await refusal(await other.take(id)));
    expect((await other.request("HEAD", `/uploads/${id}`)).status).toBe(404);
    expect(await (await other.request("GET", "/uploads")).json()).toMatchObject({ uploads: [] });
    // Knowing the digest is not having the content.
    expect((await other.begin(content)).received).toBe(0);
    expect(await (await ada.request("GET", "/uploads")).json()).toMatchObject({ uploads: [{ id, received: 1000 }] });
  });

  it("is refused if the user has 20 unfinished ones", async () => {
    for (let i = 0; i < 20; i++) await ada.begin(Buffer.from(`content ${i}`));
    expect(await refusal(await ada.create(described(content)))).toEqual([
      409,
      "base",
      "you have 20 unfinished uploads; finish or delete one of them, or wait until they expire",
    ]);
    const { id } = await ada.begin(Buffer.from("content 3"));
    await ada.append(id, 0, Buffer.from("content 3"));
    expect((await ada.create(described(content))).status).toBe(201);
  });

  it("stands for a file only when it is complete, and not for one that is too large", async () => {
    const { id } = await ada.begin(content);
    await ada.append(id, 0, content.subarray(0, 900));
    expect(await refusal(await ada.take(id))).toEqual([
      409,
      "base",
      `only 900 of 1000 bytes of the upload ${id} have arrived`,
    ]);
    await ada.append(id, 900, content.subarray(900));
    expect(await refusal(await ada.take(id, "/test/take-small", "profile"))).toEqual([
      413,
      "profile",
      "profile is larger than 100 bytes",
    ]);
    const text = Buffer.from("a small file");
    const small = await ada.begin(text, "a.txt");
    await ada.append(small.id, 0, text);
    expect(await (await ada.take(small.id, "/test/take-small", "profile")).json()).toEqual({
      name: "a.txt",
      text: "a small file",
    });
    // A short file can be used again, and other short texts are files.
    expect((await ada.take(small.id)).status).toBe(200);
    const form = new FormData();
    form.append("profile", "upload: 1");
    expect(await (await ada.request("POST", "/test/take-small", { body: form })).json()).toEqual({
      name: "",
      text: "upload: 1",
    });
  });

  it("reports pieces that are in the folder of another server", async () => {
    const { id } = await ada.begin(content);
    await ada.append(id, 0, content.subarray(0, 300));
    const [piece] = await t.store.uploadPieces.list();
    await blobs.delete(piece!.key);
    expect(await refusal(await ada.append(id, 300, content.subarray(300)))).toEqual([
      503,
      "base",
      expect.stringMatching(/^a piece of the upload \d+ cannot be read: this server does not have the file\. Servers/),
    ]);
    expect(await ada.offset(id)).toBe(300);
  });

  /** A body whose bytes arrive, but not its end. */
  function endless(bytes: Uint8Array) {
    let end = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes);
        end = () => controller.close();
      },
    });
    return { body, end };
  }

  it("is not completed with bytes that another request has sent meanwhile", async () => {
    const { id } = await ada.begin(content);
    const { body, end } = endless(content);
    const completing = ada.append(id, 0, body);
    await expect.poll(() => t.services.running.of(openUploads).open).toBe(1);
    expect((await ada.append(id, 0, content.subarray(0, 300))).status).toBe(204);
    end();
    expect((await completing).status).toBe(409);
    expect((await ada.append(id, 300, content.subarray(300))).status).toBe(204);
  });

  it("is joined once, and a repetition of its last piece waits for that", async () => {
    const { id } = await ada.begin(content);
    const { append, keepAs, ...others } = blobs.growing!;
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const steps: string[] = [];
    Object.assign(blobs, {
      growing: {
        ...others,
        append: async (...given: Parameters<typeof append>) => {
          steps.push("append");
          return append(...given);
        },
        keepAs: async (...given: Parameters<typeof keepAs>) => {
          steps.push("keep");
          await opened;
          return keepAs(...given);
        },
      },
    });
    const first = ada.append(id, 0, content);
    await expect.poll(() => steps).toEqual(["append", "keep"]);
    const again = ada.append(id, 0, content);
    await expect.poll(() => steps).toEqual(["append", "keep", "append"]);
    expect(await ada.offset(id)).toBe(0);
    open();
    expect([(await first).status, (await again).status]).toEqual([204, 409]);
    expect(steps).toEqual(["append", "keep", "append"]);
    expect(await keysIn(blobs)).toHaveLength(1);
  });

  it("is written once if one server gets all of it, also over connections that break", async () => {
    let copies = 0;
    const put = blobs.put;
    blobs.put = async (...given) => {
      copies++;
      return put(...given);
    };
    const { id } = await ada.begin(content);
    expect((await ada.append(id, 0, content.subarray(0, 400))).status).toBe(204);
    expect((await ada.append(id, 400, cut(content.subarray(400, 700)))).status).toBe(400);
    const [piece] = await t.store.uploadPieces.list();
    const { ino } = await stat(blobs.localPath(piece!.key)!);
    expect((await ada.append(id, 700, content.subarray(700))).status).toBe(204);
    const [key] = await keysIn(blobs);
    expect([(await stat(blobs.localPath(key!)!)).ino, copies]).toEqual([ino, 0]);
    expect(Stored.parse(await (await ada.take(id)).json())).toMatchObject(described(content));
  });

  it("is continued by a server that has started again", async () => {
    const { id } = await ada.begin(content);
    expect((await ada.append(id, 0, content.subarray(0, 400))).status).toBe(204);
    // What the first one has written and not recorded.
    const [piece] = await t.store.uploadPieces.list();
    await appendFile(blobs.localPath(piece!.key)!, "not recorded");
    const app = createApp(withRunning(t.services), { agent: t.agent, stop: async () => {} }, { routes, protocols: [] });
    const later = userOf(async (path, init) => app.request(path, init), t.token);
    expect((await later.append(id, 400, content.subarray(400, 600))).status).toBe(204);
    expect((await t.store.uploadPieces.list()).map(({ start }) => start)).toEqual([0, 400]);
    // The first one does not add to its blob behind what another one has recorded.
    expect((await ada.append(id, 600, content.subarray(600, 800))).status).toBe(204);
    expect((await later.append(id, 800, content.subarray(800))).status).toBe(204);
    const taken = Stored.parse(await (await ada.take(id)).json());
    const whole = await ada.request("GET", `/test/file/${taken.id}`);
    expect(sha256(new Uint8Array(await whole.arrayBuffer()))).toBe(sha256(content));
    expect(await keysIn(blobs)).toHaveLength(1);
  });

  it("never has the digest of other bytes, whatever its user sends at once", async () => {
    const { id } = await ada.begin(content);
    const { body, end } = endless(content);
    const honest = ada.append(id, 0, body);
    await expect.poll(() => t.services.running.of(openUploads).open).toBe(1);
    expect((await ada.append(id, 0, randomBytes(300))).status).toBe(204);
    end();
    expect((await honest).status).toBe(409);
    expect((await refusal(await ada.append(id, 300, content.subarray(300)))).slice(0, 2)).toEqual([422, "sha256"]);
    // The file of the honest request may be there, until a job removes it.
    for (const { key, sha256: announced } of await t.store.files.list())
      expect((await digestOf(blobs, key)).sha256).toBe(announced);
    expect((await keysIn(blobs)).filter((key) => key.startsWith("uploads/"))).toEqual([]);
  });

  it("can be deleted, also while a piece arrives", async () => {
    const { id } = await ada.begin(content);
    await ada.append(id, 0, content.subarray(0, 100));
    const { body, end } = endless(content.subarray(100, 200));
    const appending = ada.append(id, 100, body);
    await expect.poll(() => t.services.running.of(openUploads).open).toBe(1);
    expect((await ada.request("DELETE", `/uploads/${id}`)).status).toBe(200);
    end();
    expect((await appending).status).toBe(404);
    expect([await t.store.uploads.count(), await keysIn(blobs)]).toEqual([0, []]);
  });

  it("is open to whoever may send a file with any request", () => {
    const { global, team } = actions["files:upload"];
    const forms = allEndpoints.map(({ endpoint }) => endpoint).filter(({ takes }) => takes.kind === "multipart");
    expect(forms.length).toBeGreaterThan(3);
    for (const { access, path } of forms) {
      const allowed = typeof access === "object" ? actions[access.action] : { global: roles, team: roles };
      expect(global, path).toEqual(expect.arrayContaining([...allowed.global]));
      expect(team, path).toEqual(expect.arrayContaining([...allowed.team]));
    }
  });

  it("is removed with its user", async () => {
    const { id, token } = await makeUser(t, "maintainer");
    await userOf(t.raw, token).begin(content);
    expect((await t.delete(`/users/${id}`)).status).toBe(200);
    expect(await t.store.uploads.count()).toBe(0);
  });
});

describe.each(blobKinds)("two servers with one database and a %s", (kind) => {
  it("take turns with one upload", async () => {
    const { t, blobs, ada: onFirst } = await scene(await blobsIn(kind), "postgres");
    const store = await openPostgres({ tables, url: t.databaseUrl!, cipher: testCipher, create: true, poolSize: 4 });
    try {
      const second = createApp(
        withRunning({ ...t.services, store }),
        { agent: t.agent, stop: async () => {} },
        { routes, protocols: [] },
      );
      const onSecond = userOf(async (path, init) => second.request(path, init), t.token);
      const users = [onFirst, onSecond];
      for (let round = 0; round < amount(3, 20); round++) {
        const content = randomBytes(5000);
        const { id } = await onFirst.begin(content);
        for (let at = 0; at < content.length; ) {
          // Two clients send at once, like one and its own repetition.
          const ends = users.map(() => Math.min(at + randomInt(1, 2000), content.length));
          const replies = await Promise.all(
            users.map((user, i) => user.append(id, at, content.subarray(at, ends[i]!))),
          );
          const won = replies.findIndex(({ status }) => status === 204);
          expect(replies.map(({ status }) => status).sort()).toEqual([204, 409]);
          at = ends[won]!;
          for (const user of users) expect(await user.offset(id)).toBe(at);
        }
        for (const user of users)
          expect(Stored.parse(await (await user.take(id)).json())).toMatchObject(described(content));
      }
      expect((await keysIn(blobs)).every((key) => key.startsWith("files/"))).toBe(true);
    } finally {
      await store.close();
    }
  });
});
