// Large files of the typed client: uploaded in pieces over connections that break.
import { createHash, randomBytes, randomInt } from "node:crypto";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm, stat, utimes, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { toNodeHandler } from "h3/node";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { file, multipart, type UploadSource } from "../../src/api/bodies.ts";
import { endpoint } from "../../src/api/endpoint.ts";
import { uploadSource } from "../../src/cli/files/upload.ts";
import { ApiClient, type ClientOptions } from "../../src/client/client.ts";
import { createApp } from "../../src/server/app.ts";
import { route } from "../../src/server/platform/core/http/route.ts";
import { closeWhenUnread } from "../../src/server/platform/core/http/unread-bodies.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { type CuttingProxy, startCuttingProxy } from "../support/cutting-proxy.ts";
import { makeUser } from "../support/make.ts";

const MiB = 1024 * 1024;
const LIMIT = 64 * MiB;
/** Size of the last piece, with which the digest is sent. */
const LAST = MiB / 2;
const take = endpoint({
  method: "POST",
  path: "/test/take",
  summary: "A test.",
  access: "user",
  dryRun: true,
  body: multipart({ team: z.string() }, { package: file({ limit: LIMIT }) }),
  response: z.object({ team: z.string(), name: z.string(), size: z.int(), sha256: z.string() }),
});
const routes = [
  route(take, async ({ body: { team, package: sent } }) => ({
    team,
    name: sent.name,
    size: sent.size,
    sha256: sent.sha256,
  })),
];

let t: TestApp;
let proxy: CuttingProxy;
let dir: string;
/** Replies of a proxy in front of the server. */
let refuse: (method: string, path: string, length: number) => number | "close" | null;
const asked: string[] = [];

beforeAll(async () => {
  t = await startApp({ shared: true });
  dir = await mkdtemp(join(tmpdir(), "svc-client-"));
  const app = toNodeHandler(
    createApp(t.services, { agent: t.agent, stop: async () => {} }, { routes, protocols: [] }),
  ) as RequestListener;
  const server = createServer((req, res) => {
    const path = req.url!.replace("/api/v1/svc", "").replace(/\d+$/, "1");
    asked.push(`${req.method} ${path}`);
    const status = refuse(req.method!, path, Number(req.headers["content-length"] ?? 0));
    closeWhenUnread(req, res);
    if (status === null) app(req, res);
    else if (status === "close") req.destroy();
    else res.writeHead(status).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy = await startCuttingProxy((server.address() as AddressInfo).port);
  return async () => {
    proxy.close();
    server.close();
    await t.close();
    await rm(dir, { recursive: true, force: true });
  };
});
beforeEach(() => {
  proxy.bytesUntilCut = () => Number.POSITIVE_INFINITY;
  refuse = () => null;
  asked.length = 0;
});

const client = (more: Partial<ClientOptions> = {}) =>
  new ApiClient({ serverUrl: proxy.url, token: t.token, sleep: async () => {}, ...more });
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const nothing = { inBytes: async function* () {} };
let files = 0;
async function written(size: number) {
  const content = randomBytes(size);
  const path = join(dir, `${++files}.pkg`);
  await writeFile(path, content);
  return { path, sha256: sha256(content), source: await uploadSource(nothing, path, "--file") };
}

describe("a large file in a form", () => {
  it("is uploaded in pieces before the request, with its progress", async () => {
    const { source, sha256: digest } = await written(40 * MiB);
    const seen: [number, number | null][] = [];
    const reply = await client().call(
      take,
      { body: { package: source, team: "1" } },
      { onSent: (...progress) => void seen.push(progress) },
    );
    expect(reply).toEqual({ team: "1", name: source.name, size: 40 * MiB, sha256: digest });
    expect(asked).toEqual(["POST /uploads", "PATCH /uploads/1", "PATCH /uploads/1", "POST /test/take"]);
    expect(seen.at(-1)).toEqual([40 * MiB, 40 * MiB]);
    expect(seen.every(([sent], i) => i === 0 || sent > seen[i - 1]![0])).toBe(true);
  });

  it("arrives over connections that break anywhere", async () => {
    const { source, sha256: digest } = await written(30 * MiB);
    proxy.bytesUntilCut = () => randomInt(64 * 1024, 8 * MiB);
    const notes: string[] = [];
    const onRetry = (why: string) => void notes.push(why);
    const { id } = await client({ onRetry }).upload(source);
    expect(proxy.cuts).toBeGreaterThan(2);
    expect(notes[0]).toMatch(/^the connection was lost after \d+ of 31457280 bytes$/);
    expect(await (await t.get(`/uploads/${id}`)).json()).toMatchObject({
      upload: { received: 30 * MiB, sha256: digest },
    });
  });

  it("passes a proxy that accepts only small requests, with a reply or without", async () => {
    const { source, sha256: digest } = await written(24 * MiB);
    let largest = 0;
    refuse = (method, _, length) => {
      if (method === "PATCH" && length > MiB) return length > 20 * MiB ? "close" : 413;
      largest = Math.max(largest, length);
      return null;
    };
    const { id } = await client().upload(source);
    expect(largest).toBeGreaterThan(512 * 1024);
    expect(await (await t.get(`/uploads/${id}`)).json()).toMatchObject({
      upload: { received: 24 * MiB, sha256: digest },
    });
  });

  it("of little more than 1 MB passes a proxy with the limit of nginx, which is learned once", async () => {
    const notes: string[] = [];
    const careful = client({ onRetry: (why) => void notes.push(why) });
    refuse = (_, __, length) => (length > MiB ? 413 : null);
    for (const size of [MiB + 1, 3 * MiB, 16 * MiB]) {
      const { source, sha256: digest } = await written(size);
      expect(await careful.call(take, { body: { package: source, team: "1" } })).toMatchObject({ sha256: digest });
    }
    expect(notes.every((why) => why.startsWith("a proxy refused the size of the request"))).toBe(true);
    expect(notes.length).toBeLessThanOrEqual(2);
  });

  it("is not divided further because the server is busy", async () => {
    const { source } = await written(40 * MiB);
    let left = 5;
    const lengths: number[] = [];
    refuse = (method, _, length) => {
      if (method === "PATCH" && left-- > 0) return 503;
      if (method === "PATCH") lengths.push(length);
      return null;
    };
    await client().upload(source);
    expect(lengths).toEqual([40 * MiB - LAST, LAST]);
  });

  it("gives up if a proxy refuses the smallest piece", async () => {
    const { source } = await written(20 * MiB);
    refuse = (method) => (method === "PATCH" ? 413 : null);
    await expect(client().upload(source)).rejects.toMatchObject({ status: 413 });
    expect(asked.filter((one) => one.startsWith("PATCH")).length).toBeLessThan(8);
  });

  it("continues where an earlier run was interrupted", async () => {
    const { source, path } = await written(40 * MiB);
    const interrupt = new AbortController();
    const first = client({ signal: interrupt.signal }).upload(source, {
      onSent: (sent) => {
        if (sent > 35 * MiB) interrupt.abort(new Error("interrupted"));
      },
    });
    await expect(first).rejects.toThrow("interrupted");
    const seen: number[] = [];
    const again = await uploadSource(nothing, path, "--file");
    expect((await client().upload(again, { onSent: (sent) => void seen.push(sent) })).received).toBe(40 * MiB);
    expect(seen[0]).toBeGreaterThan(16 * MiB);
    // Once more: everything is there.
    asked.length = 0;
    await client().upload(again);
    expect(asked).toEqual(["POST /uploads"]);
  });

  it("waits while the server is away, and gives up after a while", async () => {
    const { source } = await written(20 * MiB);
    let left = 5;
    refuse = (method) => (method !== "POST" && left-- > 0 ? 503 : null);
    expect((await client().upload(source)).received).toBe(20 * MiB);

    const other = await written(20 * MiB);
    refuse = (method) => (method === "PATCH" ? 502 : null);
    const waits: number[] = [];
    await expect(
      client({ sleep: async (ms) => void waits.push(ms), random: () => 0.5 }).upload(other.source),
    ).rejects.toMatchObject({ status: 502 });
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it("is not sent again after a refusal", async () => {
    const { source } = await written(17 * MiB);
    const { token } = await makeUser(t, "observer");
    await expect(client({ token }).upload(source)).rejects.toMatchObject({ status: 403 });
    expect(asked).toEqual(["POST /uploads"]);
  });

  it("is read once, while it is sent, except for its last piece", async () => {
    const { source, sha256: digest } = await written(40 * MiB);
    const opened: (number | undefined)[] = [];
    const watched: UploadSource = {
      ...source,
      open(start) {
        opened.push(start);
        return source.open(start);
      },
    };
    expect(await client().upload(watched)).toMatchObject({ sha256: digest });
    expect(opened).toEqual([0, 40 * MiB - LAST, 40 * MiB - LAST]);
  });

  it("uses the memory of its chunks again only if the reader allows it", async () => {
    const { source, sha256: digest } = await written(6 * MiB);
    const kept: Uint8Array[] = [];
    for await (const chunk of source.open()) kept.push(chunk);
    expect(sha256(Buffer.concat(kept))).toBe(digest);
    const memory = new Set<ArrayBufferLike>();
    const hash = createHash("sha256");
    for await (const chunk of source.open(0, true)) {
      memory.add(chunk.buffer);
      hash.update(chunk);
    }
    expect([memory.size, hash.digest("hex")]).toEqual([4, digest]);
  });

  it("that is rewritten while it is sent is refused before its last piece", async () => {
    const { source, path } = await written(40 * MiB);
    const rewriting = client().upload(source, {
      onSent: (sent) => {
        if (sent === 40 * MiB - LAST) writeFileSync(path, randomBytes(40 * MiB));
      },
    });
    await expect(rewriting).rejects.toThrow("changed while it was sent");
    expect(asked.filter((one) => one.startsWith("PATCH"))).toHaveLength(1);
  });

  it("whose last bytes differ from those of its digest is refused", async () => {
    const { source } = await written(17 * MiB);
    let reads = 0;
    const changing: UploadSource = {
      ...source,
      open: (start) => (++reads === 1 ? source.open(start) : Readable.from([randomBytes(17 * MiB)])),
    };
    await expect(client().upload(changing)).rejects.toMatchObject({ status: 422, errors: [{ name: "sha256" }] });
  });

  it("is sent again if the server has another file with its name, size and time", async () => {
    const { source, path } = await written(17 * MiB);
    const { id } = await client().upload(source);
    const { atime, mtime } = await stat(path);
    const content = randomBytes(17 * MiB);
    await writeFile(path, content);
    await utimes(path, atime, mtime);
    const other = await client().upload(await uploadSource(nothing, path, "--file"));
    expect(other).toMatchObject({ received: 17 * MiB, sha256: sha256(content) });
    expect(other.id).not.toBe(id);
  });

  it("whose digest is computed first is refused if it changes while it is sent", async () => {
    const { version: _, ...source } = (await written(17 * MiB)).source;
    const before = randomBytes(17 * MiB);
    // The digest is that of the first reading, which begins without a position.
    const changing = {
      ...source,
      open: (start?: number) => (start === undefined ? Readable.from([before]) : source.open(start)),
    };
    await expect(client().upload(changing)).rejects.toMatchObject({
      status: 422,
      errors: [{ name: "sha256", reason: expect.stringContaining("another SHA-256 digest") }],
    });
  });

  it("is sent in one request if it is not large, or only tried out, or larger than the server allows", async () => {
    const small = await written(768 * 1024);
    await client().call(take, { body: { package: small.source, team: "1" } });
    const large = await written(MiB);
    await client({ dryRun: true }).call(take, { body: { package: large.source, team: "1" } });
    const huge = { ...large.source, size: LIMIT + 1, open: tooMuch };
    async function* tooMuch() {
      for (let i = 0; i <= 64; i++) yield new Uint8Array(i < 64 ? MiB : 1);
    }
    await expect(client().call(take, { body: { package: huge, team: "1" } })).rejects.toMatchObject({ status: 413 });
    expect(asked).toEqual(["POST /test/take", "GET /version", "POST /test/take", "POST /test/take"]);
  });
});
