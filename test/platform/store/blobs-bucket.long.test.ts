// Servers whose uploaded files are in a bucket: several share it, it can be away, and `svc db` moves files.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBlobsAt } from "../../../src/server/data-places.ts";
import {
  backupData,
  checkBlobCopy,
  checkCopy,
  copyData,
  copyOnlyBlobs,
  restoreData,
} from "../../../src/server/data-tools.ts";
import { type RunningServer, startServer } from "../../../src/server/main.ts";
import { Settings, type SettingsInput } from "../../../src/server/platform/core/settings/settings.ts";
import { digestOf } from "../../../src/server/platform/store/blobs/blobs.ts";
import { CopyDiffers } from "../../../src/server/platform/store/tools/copy.ts";
import { enroll, makeSecret, throughUrl } from "../../edge/agent/agents.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { ACCESS_KEY, BUCKET, type S3Server, startS3 } from "../../support/s3-server.ts";

const KEY = Buffer.alloc(32, 5).toString("base64");
const ADMIN = { admin_email: "admin@example.com", admin_password: "a long password 1!" };
const undo: (() => unknown)[] = [];
let dir: string;
let s3: S3Server;
let env: Record<string, string>;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-bucket-"));
  undo.push(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  s3 = await startS3();
  undo.push(() => s3.close());
  env = {
    SVC_SERVER_PRIVATE_KEY: KEY,
    SVC_BLOBS_ACCESS_KEY_ID: ACCESS_KEY.accessKeyId,
    SVC_BLOBS_SECRET_ACCESS_KEY: ACCESS_KEY.secretAccessKey,
  };
});
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const bucketUrl = (prefix = "svc") => `s3://${BUCKET}/${prefix}?endpoint=${s3.url}`;

async function started(name: string, more: SettingsInput): Promise<RunningServer> {
  const settings = Settings.parse({
    data_dir: join(dir, name),
    port: 0,
    result_log: "none",
    status_log: "none",
    server_private_key: KEY,
    blobs_url: bucketUrl(),
    blobs_access_key_id: ACCESS_KEY.accessKeyId,
    blobs_secret_access_key: ACCESS_KEY.secretAccessKey,
    ...more,
  });
  const server = await startServer(settings, pino({ level: "silent" }));
  undo.push(() => server.stop());
  return server;
}

describe("servers with one database and one bucket", () => {
  it("send a file that another one received, and report a bucket that is away", async () => {
    const database = await freshDatabase();
    undo.push(() => database.drop());
    const a = await started("a", { database_url: database.url, ...ADMIN });
    const b = await started("b", { database_url: database.url });
    await makeSecret(a.services);
    const agentOf = (server: RunningServer) => {
      const agent = throughUrl(server.url, 1);
      undo.push(() => agent.close());
      return agent.send;
    };
    const [toA, toB] = [agentOf(a), agentOf(b)];
    const key = await enroll(toA);
    const archive = randomBytes(900_000);
    const begun = await toA("/api/v1/qengine/carve/begin", {
      block_count: 3,
      block_size: 300_000,
      carve_size: archive.length,
      carve_id: "c917163d-1111-4222-8333-944455556666",
      request_id: "request-1",
      node_key: key,
    });
    const session_id = begun.json.session_id as string;
    const block = (send: typeof toA, block_id: number) =>
      send("/api/v1/qengine/carve/block", {
        block_id,
        session_id,
        request_id: "request-1",
        data: archive.subarray(block_id * 300_000, (block_id + 1) * 300_000).toString("base64"),
      });
    expect((await block(toA, 0)).json).toEqual({ success: true });
    expect((await block(toB, 1)).json).toEqual({ success: true });

    // The bucket is away for one block: the agent gets an error, and its repetition is accepted.
    s3.fault = () => ({ status: 503, code: "SlowDown" });
    const refused = await block(toB, 2);
    expect([refused.status, refused.json]).toEqual([503, undefined]);
    expect(refused.text).toContain("the server's bucket does not work");
    s3.fault = () => undefined;
    expect((await block(toA, 2)).json).toEqual({ success: true });

    const signedIn = await fetch(`${a.url}/api/v1/svc/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: ADMIN.admin_email, password: ADMIN.admin_password }),
    });
    const authorization = `Bearer ${((await signedIn.json()) as { token: string }).token}`;
    const [carve] = await b.services.store.carves.list();
    const download = (more: Record<string, string> = {}) =>
      fetch(`${b.url}/api/v1/svc/carves/${carve!.id}/download`, { headers: { authorization, ...more } });
    const whole = await download();
    expect(whole.status).toBe(200);
    expect(whole.headers.get("content-length")).toBe("900000");
    expect(Buffer.from(await whole.arrayBuffer()).equals(archive)).toBe(true);
    const part = await download({ range: "bytes=299990-600009" });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(archive.subarray(299_990, 600_010))).toBe(true);

    s3.fault = () => ({ status: 403, code: "AccessDenied" });
    const away = await download();
    expect(away.status).toBe(503);
    expect(JSON.stringify(await away.json())).toContain("the server's bucket does not work");
    const health = async () => {
      const reply = await fetch(`${b.url}/healthz`);
      expect(reply.status).toBe(200);
      return reply.json();
    };
    await expect.poll(health).toEqual({ status: "ok", warnings: { blobs: expect.stringContaining("not allowed") } });
    s3.fault = () => undefined;
    await expect.poll(health).toEqual({ status: "ok" });
  });
});

describe("a server whose bucket does not work", () => {
  it.each([
    ["no such bucket", () => ({ blobs_url: `s3://no-such?endpoint=${s3.url}` }), /does not exist/],
    ["a wrong secret", () => ({ blobs_secret_access_key: "wrong-secret" }), /secret access key is wrong/],
    ["no server at the address", () => ({ blobs_url: `s3://${BUCKET}?endpoint=http://127.0.0.1:1` }), /ECONNREFUSED/],
  ])("does not start: %s", async (_, wrong, reason) => {
    const error: Error = await started("data", wrong()).then(
      () => new Error("it started"),
      (thrown: Error) => thrown,
    );
    expect(error.message).toMatch(/^blobs_url \(SVC_BLOBS_URL\): /);
    expect(error.message).toMatch(reason);
    expect(error.message).not.toContain("wrong-secret");
    expect(error.message).not.toContain(ACCESS_KEY.secretAccessKey);
  });
});

describe("svc db with files", () => {
  const where = (place: string, blobs?: string) => ({ place, dataDir: place, env, ...(blobs ? { blobs } : {}) });
  const none = () => undefined;
  const contents = { "carves/1/0": randomBytes(10_000), "carves/1/1": Buffer.alloc(0), big: randomBytes(9_000_000) };

  /** A data directory with rows and files. */
  async function filled(): Promise<string> {
    const place = join(dir, "data");
    const server = await started("data", { blobs_url: undefined, org_name: "x" });
    for (const [key, content] of Object.entries(contents))
      await server.services.blobs.put(key, Readable.from([content]), { maxBytes: 1e9 });
    await makeSecret(server.services);
    await server.stop();
    undo.pop();
    return place;
  }
  async function expectAll(place: string): Promise<void> {
    const blobs = await openBlobsAt(place, env);
    const keys: string[] = [];
    for await (const key of blobs.list()) keys.push(key);
    expect(keys).toEqual(Object.keys(contents).sort());
    for (const [key, content] of Object.entries(contents))
      expect((await buffer(await blobs.get(key))).equals(content), key).toBe(true);
    await blobs.close();
  }

  it("copies them between a folder and a bucket, both ways", async () => {
    const data = await filled();
    const other = join(dir, "other");
    const back = join(dir, "back");
    expect(await checkCopy(where(data), where(other, bucketUrl()))).toMatchObject({ problems: [], blobs: 3 });
    expect(s3.objects.size).toBe(0);
    const made = await copyData(where(data), where(other, bucketUrl()), none, none);
    expect(made).toMatchObject({ blobs: 3, present: 0 });
    await expectAll(bucketUrl());
    expect(await copyData(where(other, bucketUrl()), where(back), none, none)).toMatchObject({ blobs: 3, present: 0 });
    await expectAll(join(back, "blobs"));
    // The rows are in the same place as before: the bucket is not copied onto itself.
    expect(await copyData(where(back, bucketUrl()), where(join(dir, "last"), bucketUrl()), none, none)).toMatchObject({
      blobs: 0,
      present: 0,
    });
  });

  it("copies only files, continues an interrupted copy, and never replaces a file of another server", async () => {
    const folder = join(await filled(), "blobs");
    expect(await checkBlobCopy(folder, env)).toBe(3);
    let left = 2;
    const breaking = () => {
      if (left-- === 0) throw new Error("power cut");
    };
    await expect(copyOnlyBlobs(folder, bucketUrl(), env, breaking)).rejects.toThrow("power cut");
    expect(await copyOnlyBlobs(folder, bucketUrl(), env, none)).toEqual({ blobs: 1, present: 2 });
    await expectAll(bucketUrl());

    const blobs = await openBlobsAt(folder, env);
    await blobs.put("carves/1/0", Readable.from([Buffer.from("of another server")]), { maxBytes: 100 });
    await expect(copyOnlyBlobs(folder, bucketUrl(), env, none)).rejects.toThrow(CopyDiffers);
    await expectAll(bucketUrl());
    await expect(copyOnlyBlobs(join(dir, "misspelled"), bucketUrl(), env, none)).rejects.toThrow("no such folder");
  });

  it("detects a file that the target stores with another content", async () => {
    const folder = join(await filled(), "blobs");
    s3.fault = ({ method, key }) => {
      const stored = s3.objects.get("svc/carves/1/0");
      if (method === "GET" && key.endsWith("carves/1/0") && stored)
        s3.objects.set("svc/carves/1/0", {
          ...stored,
          body: Buffer.concat([stored.body.subarray(1), Buffer.from("!")]),
        });
      return undefined;
    };
    await expect(copyOnlyBlobs(folder, bucketUrl(), env, none)).rejects.toThrow(/differs from the one read/);
  });

  it("backs up a bucket, and restores to another one", async () => {
    const data = await filled();
    await copyOnlyBlobs(join(data, "blobs"), bucketUrl(), env, none);
    const file = join(dir, "svc.gz");
    expect(await backupData(where(data, bucketUrl()), file, none)).toMatchObject({ blobs: 3 });
    const target = where(join(dir, "restored"), bucketUrl("restored"));
    expect(await restoreData(target, file, none)).toMatchObject({ blobs: 3 });
    await expectAll(bucketUrl("restored"));
    const first = await openBlobsAt(bucketUrl(), env);
    const second = await openBlobsAt(bucketUrl("restored"), env);
    expect(await digestOf(second, "big")).toEqual(await digestOf(first, "big"));
    await first.close();
    await second.close();
  });
});
