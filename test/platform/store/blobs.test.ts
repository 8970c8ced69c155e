import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  BadBlobKey,
  BlobDiffers,
  type Blobs,
  BlobTooLarge,
  deleteAll,
  digestOf,
  NoSuchBlob,
} from "../../../src/server/platform/store/blobs/blobs.ts";
import { readBucketUrl } from "../../../src/server/platform/store/blobs/bucket-url.ts";
import { fileBlobs } from "../../../src/server/platform/store/blobs/files.ts";
import { S3Blobs } from "../../../src/server/platform/store/blobs/s3/blobs.ts";
import { ACCESS_KEY, BUCKET, startS3 } from "../../support/s3-server.ts";

const bytes = (content: string | Buffer) => Readable.from([Buffer.from(content)]);
const all = async (keys: AsyncIterable<string>) => {
  const found: string[] = [];
  for await (const key of keys) found.push(key);
  return found;
};

interface Place {
  blobs: Blobs;
  close(): Promise<unknown>;
}

async function inFiles(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "svc-blobs-"));
  return { blobs: fileBlobs(join(folder, "blobs")), close: () => rm(folder, { recursive: true, force: true }) };
}

const addressOf = (url: string, bucket = BUCKET) => readBucketUrl(`s3://${bucket}/some/prefix?endpoint=${url}`);

async function inBucket(): Promise<Place> {
  const server = await startS3();
  return { blobs: new S3Blobs({ ...addressOf(server.url), credentials: ACCESS_KEY }), close: () => server.close() };
}

/** Any bucket, to try this with other servers: SVC_TEST_BLOBS_URL, and the standard AWS variables. */
async function inGivenBucket(): Promise<Place> {
  const blobs = new S3Blobs({ ...readBucketUrl(process.env.SVC_TEST_BLOBS_URL!), credentials: null });
  for await (const key of blobs.list()) await blobs.delete(key);
  return { blobs, close: () => blobs.close() };
}

const places = [
  { name: "files", open: inFiles },
  { name: "a bucket", open: inBucket },
  ...(process.env.SVC_TEST_BLOBS_URL ? [{ name: "the bucket that was given", open: inGivenBucket }] : []),
];

describe.each(places)("blobs in $name", ({ open }) => {
  let place: Place;
  let blobs: Blobs;
  const limit = { maxBytes: 1_000_000 };

  beforeEach(async () => {
    place = await open();
    blobs = place.blobs;
  });
  afterEach(async () => {
    await blobs.close();
    await place.close();
  });

  it("returns what was stored, with its size and digest", async () => {
    const content = randomBytes(700_000);
    const halves = Readable.from([content.subarray(0, 300_000), content.subarray(300_000)]);
    const put = await blobs.put("carves/7/0", halves, limit);

    expect(put).toEqual({ size: 700_000, sha256: createHash("sha256").update(content).digest("hex") });
    expect((await buffer(await blobs.get("carves/7/0"))).equals(content)).toBe(true);
    expect(await blobs.stat("carves/7/0")).toMatchObject({ size: 700_000 });
  });

  it("returns a range with both ends included", async () => {
    await blobs.put("a", bytes("0123456789"), limit);
    expect(await text(await blobs.get("a", { start: 2, end: 4 }))).toBe("234");
    expect(await text(await blobs.get("a", { start: 7 }))).toBe("789");
  });

  it("replaces content completely, without affecting a reader of the old content", async () => {
    await blobs.put("a", bytes("old"), limit);
    const reader = await blobs.get("a");
    await blobs.put("a", bytes("new"), limit);
    expect(await text(reader)).toBe("old");
    expect(await text(await blobs.get("a"))).toBe("new");
  });

  it("returns nothing of a range that starts after the end", async () => {
    await blobs.put("a", bytes("0123456789"), limit);
    await blobs.put("empty", Readable.from([]), limit);
    expect(await text(await blobs.get("a", { start: 10 }))).toBe("");
    expect(await text(await blobs.get("a", { start: 8, end: 100 }))).toBe("89");
    expect(await text(await blobs.get("empty"))).toBe("");
    expect(await text(await blobs.get("empty", { start: 0, end: 3 }))).toBe("");
    expect(await blobs.stat("empty")).toMatchObject({ size: 0 });
  });

  it("stores nothing of content that has another digest than expected", async () => {
    const sha256 = createHash("sha256").update("right").digest("hex");
    await expect(blobs.put("a", bytes("wrong"), { ...limit, sha256 })).rejects.toThrow(BlobDiffers);
    expect(await blobs.stat("a")).toBeNull();
    expect(await blobs.put("a", bytes("right"), { ...limit, sha256 })).toEqual({ size: 5, sha256 });
    expect(await digestOf(blobs, "a")).toEqual({ size: 5, sha256 });
  });

  it("stores and returns content of many megabytes, in ranges too", async () => {
    const content = randomBytes(20_000_001);
    async function* chunks() {
      for (let at = 0; at < content.length; at += 65_000) yield content.subarray(at, at + 65_000);
    }
    const put = await blobs.put("big/one", chunks(), { maxBytes: 30_000_000 });
    expect(put).toEqual({ size: 20_000_001, sha256: createHash("sha256").update(content).digest("hex") });
    expect(await digestOf(blobs, "big/one")).toEqual(put);
    const middle = await buffer(await blobs.get("big/one", { start: 8_388_600, end: 16_777_300 }));
    expect(middle.equals(content.subarray(8_388_600, 16_777_301))).toBe(true);
  });

  it("ends the transfer if a reader stops early", async () => {
    await blobs.put("a", bytes(randomBytes(900_000)), limit);
    for (let i = 0; i < 100; i++) (await blobs.get("a")).destroy();
    for await (const chunk of await blobs.get("a")) {
      expect((chunk as Buffer).length).toBeGreaterThan(0);
      break;
    }
    expect((await buffer(await blobs.get("a"))).length).toBe(900_000);
  });

  it("stores nothing of content that is too large, and keeps the previous content", async () => {
    await blobs.put("a", bytes("before"), limit);
    await expect(blobs.put("a", bytes("x".repeat(11)), { maxBytes: 10 })).rejects.toThrow(BlobTooLarge);
    expect(await text(await blobs.get("a"))).toBe("before");
    expect(await all(blobs.list())).toEqual(["a"]);
  });

  it("stores nothing of content that is interrupted", async () => {
    async function* breaking() {
      yield Buffer.from("half");
      throw new Error("connection lost");
    }
    await expect(blobs.put("a", breaking(), limit)).rejects.toThrow("connection lost");
    expect(await blobs.stat("a")).toBeNull();
    expect(await all(blobs.list())).toEqual([]);
  });

  it("reports missing blobs", async () => {
    await expect(blobs.get("none")).rejects.toThrow(NoSuchBlob);
    expect(await blobs.stat("none")).toBeNull();
    expect(await blobs.delete("none")).toBe(false);
    await blobs.put("folder/a", bytes("a"), limit);
    await expect(blobs.get("folder")).rejects.toThrow(NoSuchBlob);
    expect(await blobs.delete("folder")).toBe(false);
    expect(await blobs.delete("folder/a")).toBe(true);
    expect(await blobs.stat("folder/a")).toBeNull();
  });

  it("deletes many, and counts those that existed", async () => {
    for (let i = 0; i < 11; i++) await blobs.put(`carves/${i % 2}/${i}`, bytes("x"), limit);
    await blobs.put("other", bytes("x"), limit);
    expect(await deleteAll(blobs, blobs.list("carves/"))).toBe(11);
    expect(await all(blobs.list())).toEqual(["other"]);
    async function* gone() {
      yield "none";
      yield "other";
    }
    expect(await deleteAll(blobs, gone())).toBe(1);
  });

  it("shows nothing of an upload that never ends, and removes what it stored once it is old", async () => {
    async function* neverEnding() {
      yield randomBytes(9_000_000);
      await new Promise(() => undefined);
    }
    void blobs.put("a", neverEnding(), { maxBytes: 10_000_000 }).catch(() => undefined);
    const soon = () => new Date(Date.now() + 60_000);
    await expect.poll(() => blobs.removeUnfinished(soon())).toBe(1);
    expect(await blobs.stat("a")).toBeNull();
    // A part that is being sent meanwhile may be stored after that.
    await expect.poll(() => blobs.removeUnfinished(soon())).toBe(0);
    await blobs.put("a", bytes("whole"), limit);
    expect(await text(await blobs.get("a"))).toBe("whole");
  });

  it("passes its own check, and has no problem", async () => {
    await blobs.check();
    expect(blobs.problem()).toBeNull();
    expect(await all(blobs.list())).toEqual([]);
  });

  it("lists keys by prefix in order", async () => {
    for (const key of ["a-b", "a/b", "a/c/d", "a0", "b"]) await blobs.put(key, bytes(key), limit);
    expect(await all(blobs.list())).toEqual(["a-b", "a/b", "a/c/d", "a0", "b"]);
    expect(await all(blobs.list("a/"))).toEqual(["a/b", "a/c/d"]);
    expect(await all(blobs.list("a/c"))).toEqual(["a/c/d"]);
    expect(await all(blobs.list("zzz"))).toEqual([]);
  });

  it.each([
    "",
    "/",
    "..",
    "../a",
    "a/../b",
    "a/./b",
    "/etc/passwd",
    "a//b",
    "a\\b",
    "a\0b",
    ".hidden",
    "a/.unfinished/b",
    "C:evil",
    "con",
    "a/nul.txt",
    "A",
    "ä",
    "x".repeat(101),
    `${"a/".repeat(9)}a`,
  ])("refuses the key %j", async (key) => {
    await expect(blobs.put(key, bytes("x"), limit)).rejects.toThrow(BadBlobKey);
    await expect(blobs.get(key)).rejects.toThrow(BadBlobKey);
    await expect(blobs.stat(key)).rejects.toThrow(BadBlobKey);
    await expect(blobs.delete(key)).rejects.toThrow(BadBlobKey);
    expect(await all(blobs.list())).toEqual([]);
  });
});

describe("blobs in files", () => {
  let folder: string;
  let blobs: Blobs;
  const limit = { maxBytes: 1_000_000 };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-blobs-"));
    blobs = fileBlobs(join(folder, "blobs"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("leave no file of content that was refused or interrupted", async () => {
    async function* breaking() {
      yield Buffer.from("half");
      throw new Error("connection lost");
    }
    await expect(blobs.put("a", breaking(), limit)).rejects.toThrow("connection lost");
    await expect(blobs.put("a", bytes("x".repeat(11)), { maxBytes: 10 })).rejects.toThrow(BlobTooLarge);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile())).toEqual([]);
  });

  it("of uploads that a killed server left are removed when they are old", async () => {
    expect(await blobs.removeUnfinished(new Date())).toBe(0);
    await blobs.put("a", bytes("a"), limit);
    const left = join(folder, "blobs", ".unfinished");
    for (const name of ["old", "new"]) await writeFile(join(left, name), name);
    await utimes(join(left, "old"), 1_000, 1_000);
    expect(await blobs.removeUnfinished(new Date(2_000_000))).toBe(1);
    expect(await readdir(left)).toEqual(["new"]);
    expect(await all(blobs.list())).toEqual(["a"]);
  });

  it.skipIf(process.platform === "win32")(
    "creates files and folders that only the server's user can read",
    async () => {
      await blobs.put("a/b", bytes("x"), limit);
      expect((await stat(join(folder, "blobs", "a", "b"))).mode & 0o777).toBe(0o600);
      expect((await stat(join(folder, "blobs", "a"))).mode & 0o777).toBe(0o700);
    },
  );
});
