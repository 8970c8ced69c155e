// Uploads of the typed client to a real server on a socket.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toNodeHandler } from "h3/node";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { file, multipart, smallFile, type UploadSource } from "../../src/api/bodies.ts";
import { endpoint } from "../../src/api/endpoint.ts";
import { uploadSource } from "../../src/cli/files/upload.ts";
import { ApiClient, type ClientOptions } from "../../src/client/client.ts";
import { createApp } from "../../src/server/app.ts";
import { type Route, route } from "../../src/server/platform/core/http/route.ts";
import { closeWhenUnread } from "../../src/server/platform/core/http/unread-bodies.ts";
import { startApp, type TestApp } from "../support/app.ts";

const MiB = 1024 * 1024;
const Told = z.object({
  size: z.int(),
  name: z.string(),
  type: z.string(),
  team: z.string().nullable(),
  tags: z.unknown(),
});
const upload = endpoint({
  method: "POST",
  path: "/test/upload",
  summary: "A test.",
  access: "user",
  body: multipart(
    { team: z.string().optional(), tags: z.array(z.string()).optional() },
    { package: file({ limit: 8 * MiB }) },
  ),
  response: Told,
});
const small = endpoint({
  method: "PUT",
  path: "/test/small",
  summary: "A test.",
  access: "user",
  body: multipart({}, { profile: smallFile({ limit: 100 }) }),
  response: z.object({ content: z.string() }),
});
const routes: readonly Route[] = [
  route(
    upload,
    async ({
      body: {
        package: { size, name, type },
        team = null,
        tags,
      },
    }) => ({
      size,
      name,
      type,
      team,
      tags,
    }),
  ),
  route(small, async ({ body: { profile } }) => ({ content: `${profile.name} ${Buffer.from(profile.bytes)}` })),
];

let t: TestApp;
let url: string;
let dir: string;
/** Answers of a proxy in front of the server, before the server gets any request. */
let before: ((headers: IncomingHttpHeaders) => number | null)[] = [];
const lengths: (string | undefined)[] = [];

beforeAll(async () => {
  t = await startApp({ shared: true });
  dir = await mkdtemp(join(tmpdir(), "svc-client-"));
  const app = toNodeHandler(
    createApp(t.services, { agent: t.agent, stop: async () => {} }, { routes, protocols: [] }),
  ) as RequestListener;
  const server = createServer((req, res) => {
    lengths.push(req.headers["content-length"]);
    const status = before.shift()?.(req.headers) ?? null;
    if (status !== null)
      return void req.resume().on("end", () => res.writeHead(status, { "retry-after": "1" }).end("{}"));
    closeWhenUnread(req, res);
    app(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    server.closeAllConnections();
    server.close();
    await t.close();
    await rm(dir, { recursive: true, force: true });
  };
});
beforeEach(() => {
  before = [];
  lengths.length = 0;
});

const client = (more: Partial<ClientOptions> = {}) =>
  new ApiClient({ serverUrl: url, token: t.token, sleep: async () => {}, ...more });
const nothing = { inBytes: async function* () {} };
const written = async (name: string, content: Uint8Array) => {
  const path = join(dir, name);
  await writeFile(path, content);
  return uploadSource(nothing, path, "--file");
};

describe("an upload", () => {
  it("sends a file with its length, and reports its progress", async () => {
    const source = await written("Paket für März.pkg", randomBytes(MiB / 2));
    const seen: [number, number | null][] = [];
    const reply = await client().call(
      upload,
      { body: { package: { ...source, type: "application/x-test" }, team: "1", tags: ["x", "y"] } },
      { onSent: (sent, total) => void seen.push([sent, total]) },
    );
    expect(reply).toEqual({
      size: MiB / 2,
      name: "Paket für März.pkg",
      type: "application/x-test",
      team: "1",
      tags: ["x", "y"],
    });
    const total = Number(lengths[0]);
    expect(total).toBeGreaterThan(MiB / 2);
    expect(seen.at(-1)).toEqual([total, total]);
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.every(([sent], i) => i === 0 || sent > seen[i - 1]![0])).toBe(true);
  });

  it("sends what comes from a pipe, whose length is not known", async () => {
    const piped = {
      async *inBytes() {
        for (let i = 0; i < 10; i++) yield new Uint8Array(1000);
      },
    };
    const source = await uploadSource(piped, "-", "--file");
    const seen: (number | null)[] = [];
    const body = { package: { ...source, name: 'a "quoted"\r\nname' } };
    const reply = await client().call(upload, { body }, { onSent: (_, total) => void seen.push(total) });
    expect(reply).toMatchObject({ size: 10_000, name: "a %22quoted%22%0D%0Aname" });
    expect([lengths[0], seen[0]]).toEqual([undefined, null]);
  });

  it("sends a small file", async () => {
    const profile = await written("a", Buffer.from("1"));
    expect(await client().call(small, { body: { profile } })).toEqual({ content: "a 1" });
  });

  it("reports the refusal of a file that is too large, which arrives while it is sent", async () => {
    const source = await written("large", new Uint8Array(64 * MiB));
    await expect(client().call(upload, { body: { package: source } })).rejects.toMatchObject({
      status: 413,
      errors: [{ name: "package", reason: `package is larger than ${8 * MiB} bytes` }],
    });
  });

  it("is repeated only if its files can be read again", async () => {
    const source = await written("again", Buffer.from("12345"));
    before = [() => 429];
    expect(await client().call(upload, { body: { package: source } })).toMatchObject({ size: 5 });
    expect(lengths).toHaveLength(2);
    before = [() => 429];
    const once: UploadSource = { ...source, canRepeat: false };
    await expect(client().call(upload, { body: { package: once } })).rejects.toMatchObject({ status: 429 });
    expect(lengths).toHaveLength(3);
  });

  it("fails if the file changes meanwhile", async () => {
    const source = await written("changing", randomBytes(MiB));
    await truncate(join(dir, "changing"), MiB - 1);
    await expect(client().call(upload, { body: { package: source } })).rejects.toThrow(/changed while it was sent/);
    await expect(uploadSource(nothing, join(dir, "missing"), "--file")).rejects.toThrow(
      /--file: \S+ cannot be read \(ENOENT\)/,
    );
    await expect(uploadSource(nothing, dir, "--file")).rejects.toThrow(/is not a file/);
  });
});
