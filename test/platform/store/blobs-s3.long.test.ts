// What a bucket adds to the contract: servers that fail, connections that end, and left-over uploads.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  BlobDiffers,
  type Blobs,
  BlobsMisconfigured,
  BlobsUnavailable,
  BlobTooLarge,
  digestOf,
} from "../../../src/server/platform/store/blobs/blobs.ts";
import { readBucketUrl } from "../../../src/server/platform/store/blobs/bucket-url.ts";
import { S3Blobs } from "../../../src/server/platform/store/blobs/s3/blobs.ts";
import {
  ACCESS_KEY,
  BUCKET,
  type Fault,
  type S3Server,
  type StorageRequest,
  startS3,
} from "../../support/s3-server.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
/** Without garbage, of which a busy machine has more. */
function bytesInUse(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

const MB = 1024 * 1024;
const limit = { maxBytes: 300 * MB };
const one = (bytes: Buffer) => Readable.from([bytes]);
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
async function keysOf(blobs: Blobs): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of blobs.list()) keys.push(key);
  return keys;
}
/** A fault of the first requests that it is for. */
const first = (times: number, fault: Fault, isFor: (asked: StorageRequest) => boolean) => {
  let left = times;
  return (asked: StorageRequest) => (isFor(asked) && left-- > 0 ? fault : undefined);
};
const isPart = ({ method, query }: StorageRequest) => method === "PUT" && query.has("partNumber");
const isJoin = ({ method, query }: StorageRequest) => method === "POST" && query.has("uploadId");
const isRead = ({ method, key }: StorageRequest) => method === "GET" && key !== "";

describe("blobs in a bucket", () => {
  let server: S3Server;
  let blobs: Blobs;
  const opened = (url: string, more: Partial<ConstructorParameters<typeof S3Blobs>[0]> = {}) =>
    new S3Blobs({ ...readBucketUrl(`s3://${BUCKET}/here?endpoint=${url}`), credentials: ACCESS_KEY, ...more });

  beforeEach(async () => {
    server = await startS3();
    blobs = opened(server.url);
  });
  afterEach(async () => {
    await blobs.close();
    await server.close();
  });

  it.each([
    ["500", { status: 500, code: "InternalError" }],
    ["503 SlowDown", { status: 503, code: "SlowDown" }],
    ["a connection that ends before the answer", { cut: "after" }],
    ["a connection that ends during the request", { cut: "before" }],
  ] as const)("tries again after %s", async (_, fault) => {
    const kinds = [
      { isFor: isPart, size: 9 * MB },
      { isFor: isRead, size: 1_000 },
      { isFor: ({ method }: StorageRequest) => method === "PUT", size: 1_000 },
    ];
    for (const { isFor, size } of kinds) {
      const content = randomBytes(size);
      server.fault = first(1, fault, isFor);
      const put = await blobs.put("a", one(content), limit);
      expect(put).toEqual({ size, sha256: sha256(content) });
      expect(await digestOf(blobs, "a")).toEqual(put);
      expect(server.asked.filter(isFor).length).toBeGreaterThan(1);
    }
    expect(server.uploads.size).toBe(0);
  });

  it("gives up soon, and stores nothing, while the server keeps failing", async () => {
    await blobs.put("a", one(Buffer.from("before")), limit);
    server.fault = () => ({ status: 503, code: "SlowDown" });
    // The attempts end it here, not the time: the pauses between them are random.
    const patient = opened(server.url, { limits: { answerMs: 60_000 } });
    const started = performance.now();
    for (const work of [
      () => patient.put("a", one(Buffer.from("after")), limit),
      () => patient.get("a"),
      () => keysOf(patient),
    ])
      await expect(work()).rejects.toThrow(/s3:\/\/svc-test\/here\/ at 127.0.0.1:\d+ cannot be reached: .*503/);
    expect(performance.now() - started).toBeLessThan(30_000);
    await patient.close();
    server.fault = () => undefined;
    expect((await buffer(await blobs.get("a"))).toString()).toBe("before");
  });

  it("gives up soon if nothing answers at the address, or a server accepts and stays silent", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const started = performance.now();
    await expect(opened(`http://127.0.0.1:${port}`).stat("a")).rejects.toThrow("it does not answer in time");
    expect(performance.now() - started).toBeLessThan(30_000);
    silent.close();
    await expect(opened("http://127.0.0.1:1").stat("a")).rejects.toThrow("cannot be reached: ECONNREFUSED");
  });

  it("aborts the upload if a part cannot be stored, and reads no more of the content", async () => {
    server.fault = (asked) => (isPart(asked) ? { status: 400, code: "BadDigest" } : undefined);
    let read = 0;
    async function* content() {
      for (; read < 100; read++) yield randomBytes(MB);
    }
    await expect(blobs.put("a", content(), limit)).rejects.toThrow(BlobsUnavailable);
    expect(read).toBeLessThan(30);
    expect([server.uploads.size, server.objects.size]).toEqual([0, 0]);
  });

  it("aborts the upload if the content is interrupted, too large, or not what was expected", async () => {
    async function* breaking() {
      yield randomBytes(10 * MB);
      throw new Error("connection lost");
    }
    await expect(blobs.put("a", breaking(), limit)).rejects.toThrow("connection lost");
    const big = randomBytes(10 * MB);
    await expect(blobs.put("a", one(big), { maxBytes: 9 * MB })).rejects.toThrow(BlobTooLarge);
    await expect(blobs.put("a", one(big), { ...limit, sha256: "0".repeat(64) })).rejects.toThrow(BlobDiffers);
    expect(server.asked.filter(isPart).length).toBeGreaterThan(1);
    expect([server.uploads.size, server.objects.size]).toEqual([0, 0]);
  });

  it("shows nothing of an upload whose server is killed, and ends such uploads later", async () => {
    async function* neverEnding() {
      yield Buffer.alloc(17 * MB);
      await new Promise(() => undefined);
    }
    void blobs.put("big", neverEnding(), limit).catch(() => undefined);
    await expect.poll(() => [...server.uploads.values()][0]?.parts.size).toBe(2);
    for (let i = 0; i < 3; i++) void blobs.put(`more/${i}`, neverEnding(), limit).catch(() => undefined);
    await expect.poll(() => server.uploads.size).toBe(4);
    const other = opened(server.url);
    expect(await other.stat("big")).toBeNull();
    expect(await keysOf(other)).toEqual([]);

    expect(await other.removeUnfinished(new Date(Date.now() - 60_000))).toBe(0);
    expect(server.uploads.size).toBe(4);
    expect(await other.removeUnfinished(new Date(Date.now() + 60_000))).toBe(4);
    expect(server.uploads.size).toBe(0);
  });

  it("leaves uploads and objects of others in the bucket alone", async () => {
    const elsewhere = new S3Blobs({
      ...readBucketUrl(`s3://${BUCKET}/there?endpoint=${server.url}`),
      credentials: ACCESS_KEY,
    });
    await elsewhere.put("theirs", one(Buffer.from("x")), limit);
    server.objects.set("here/Read Me.txt", server.objects.get("there/theirs")!);
    async function* neverEnding() {
      yield randomBytes(9 * MB);
      await new Promise(() => undefined);
    }
    void elsewhere.put("big", neverEnding(), limit).catch(() => undefined);
    await expect.poll(() => server.uploads.size).toBe(1);
    expect(await blobs.removeUnfinished(new Date(Date.now() + 60_000))).toBe(0);
    expect(await keysOf(blobs)).toEqual([]);
    expect(server.uploads.size).toBe(1);
  });

  it("continues a download where it was interrupted", async () => {
    const content = randomBytes(3 * MB);
    await blobs.put("a", one(content), limit);
    server.fault = first(2, { cutAt: MB }, isRead);
    expect((await buffer(await blobs.get("a", { start: 100 }))).equals(content.subarray(100))).toBe(true);
    const ranges = server.asked.filter(isRead).map(({ range }) => range);
    expect(ranges).toHaveLength(3);
    expect(ranges[0]).toBe("bytes=100-");
  });

  it("continues a download that gets silent, and waits for a slow reader", async () => {
    const quick = opened(server.url, { limits: { silenceMs: 500 } });
    const content = randomBytes(2 * MB);
    await quick.put("a", one(content), limit);
    server.fault = first(1, { silentAt: MB }, isRead);
    expect((await buffer(await quick.get("a"))).equals(content)).toBe(true);
    expect(server.asked.filter(isRead)).toHaveLength(2);
    const slow = async function* () {
      for await (const chunk of await quick.get("a")) {
        await wait(100);
        yield chunk as Buffer;
      }
    };
    expect((await buffer(slow())).equals(content)).toBe(true);
    expect(server.asked.filter(isRead)).toHaveLength(3);
  });

  it("does not continue a download whose reader has gone", async () => {
    await blobs.put("a", one(randomBytes(3 * MB)), limit);
    server.fault = first(1, { silentAt: MB }, isRead);
    const reading = await blobs.get("a");
    let size = 0;
    reading.on("data", (chunk: Buffer) => {
      size += chunk.length;
    });
    await expect.poll(() => size).toBe(MB);
    reading.destroy();
    // A request to continue would have been sent before these.
    for (let i = 0; i < 3; i++) await blobs.stat("a");
    expect(server.asked.filter(isRead)).toHaveLength(1);
  });

  it("serves requests while many slow downloads are open", async () => {
    await blobs.put("a", one(randomBytes(3 * MB)), limit);
    const downloads = await Promise.all(Array.from({ length: 120 }, () => blobs.get("a")));
    await Promise.all(downloads.map((stream) => stream[Symbol.asyncIterator]().next()));
    expect(await blobs.stat("a")).toMatchObject({ size: 3 * MB });
    for (const stream of downloads) stream.destroy();
  });

  it("lets a download take longer than the time for its first byte", async () => {
    const impatient = opened(server.url, { limits: { answerMs: 1_000 } });
    const content = randomBytes(2 * MB);
    await impatient.put("a", one(content), limit);
    let size = 0;
    for await (const chunk of await impatient.get("a")) {
      size += (chunk as Buffer).length;
      await wait(200);
    }
    expect(size).toBe(content.length);
  });

  it("ends a download with an error if the blob was replaced after an interruption", async () => {
    await blobs.put("a", one(randomBytes(3 * MB)), limit);
    server.fault = (asked) => {
      if (!isRead(asked) || server.asked.filter(isRead).length > 1) return undefined;
      return { cutAt: MB };
    };
    const reading = await blobs.get("a");
    await blobs.put("a", one(randomBytes(3 * MB)), limit);
    await expect(buffer(reading)).rejects.toThrow();
  });

  it("knows that an upload succeeded whose answer was lost", async () => {
    const content = randomBytes(9 * MB);
    server.fault = first(1, { cut: "after" }, isJoin);
    expect((await blobs.put("a", one(content), limit)).sha256).toBe(sha256(content));
    expect(server.asked.filter(isJoin).length).toBe(2);
  });

  it("names what is wrong with the bucket or the credentials, without any secret", async () => {
    const address = { ...readBucketUrl(`s3://${BUCKET}?endpoint=${server.url}`) };
    const wrong = { accessKeyId: ACCESS_KEY.accessKeyId, secretAccessKey: "quite-wrong" };
    const unknown = { accessKeyId: "nobody", secretAccessKey: ACCESS_KEY.secretAccessKey };
    const cases: [Blobs, RegExp][] = [
      [new S3Blobs({ ...address, credentials: wrong }), /the secret access key is wrong/],
      [new S3Blobs({ ...address, credentials: unknown }), /the access key is unknown there/],
      [new S3Blobs({ ...address, bucket: "no-such", credentials: ACCESS_KEY }), /the bucket does not exist/],
    ];
    for (const [place, reason] of cases) {
      const error: Error = await place.check().then(
        () => new Error("no error"),
        (thrown: Error) => thrown,
      );
      expect(error).toBeInstanceOf(BlobsMisconfigured);
      expect(error.message).toMatch(reason);
      expect(place.problem()).toMatch(reason);
      const everything = JSON.stringify(error, Object.getOwnPropertyNames(error));
      for (const secret of [wrong.secretAccessKey, ACCESS_KEY.secretAccessKey, "Signature="])
        expect(everything).not.toContain(secret);
      await place.close();
    }
  });

  it("notices a problem, and its end, without a reader that waits", async () => {
    const watched = opened(server.url, { limits: { checkMs: 10, recheckMs: 10 } });
    expect(watched.problem()).toBeNull();
    server.fault = () => ({ status: 403, code: "AccessDenied" });
    await expect.poll(() => watched.problem()).toContain("not allowed");
    server.fault = () => undefined;
    await expect.poll(() => watched.problem()).toBeNull();
  });

  it("keeps a few parts in memory, however large the content is", async () => {
    const chunk = randomBytes(256 * 1024);
    let most = 0;
    async function* content() {
      for (let i = 0; i < 800; i++) {
        if (i % 20 === 0) most = Math.max(most, bytesInUse());
        yield chunk;
        // Others get a turn, as with a network.
        if (i % 16 === 0) await new Promise(setImmediate);
      }
    }
    // A server that forgets the parts, so that only the client's memory counts.
    server.fault = (asked) => {
      const upload = server.uploads.get(asked.query.get("uploadId") ?? "");
      if (upload) for (const part of upload.parts.values()) part.body = Buffer.alloc(0);
      return isJoin(asked) ? { status: 400, code: "EntityTooSmall" } : undefined;
    };
    const before = bytesInUse();
    await expect(blobs.put("big", content(), limit)).rejects.toThrow("EntityTooSmall");
    expect(server.asked.filter(isPart)).toHaveLength(25);
    // 200 MB pass. The client has two or three parts of 8 MB; what the server receives comes on top.
    expect(most - before).toBeLessThan(80 * MB);
  });
});

describe("the address of a bucket", () => {
  it("has a bucket, a prefix, and parameters", () => {
    expect(readBucketUrl("s3://files")).toEqual({
      bucket: "files",
      prefix: "",
      endpoint: null,
      region: null,
      pathStyle: false,
    });
    expect(readBucketUrl("s3://files/a/b/?endpoint=https://s3.example.com:9000&region=eu-1")).toEqual({
      bucket: "files",
      prefix: "a/b/",
      endpoint: "https://s3.example.com:9000",
      region: "eu-1",
      pathStyle: true,
    });
    expect(readBucketUrl("s3://files?endpoint=https://s3.example.com&path_style=false").pathStyle).toBe(false);
  });

  it.each([
    ["https://files", "must be s3://"],
    ["s3://", "must be s3://|not a bucket"],
    ["s3://key:secret@files", "SVC_BLOBS_ACCESS_KEY_ID"],
    ["s3://files:9000/x", "not a bucket"],
    ["s3://files?regoin=x", "unknown parameter regoin"],
    ["s3://files/../x?path_style=maybe", "path_style must be"],
    ["s3://files?endpoint=localhost:9000", "must begin with https"],
    ["s3://files?endpoint=https://a:b@c", "without credentials"],
    ["s3://files/.hidden", "prefix may contain"],
  ])("is refused: %s", (url, reason) => {
    expect(() => readBucketUrl(url)).toThrow(new RegExp(reason));
    expect(() => readBucketUrl(url)).not.toThrow(/secret@/);
  });
});
