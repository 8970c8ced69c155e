import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BadBlobKey, type Blobs, BlobTooLarge, NoSuchBlob } from "../../src/server/store/blobs/blobs.ts";
import { fileBlobs } from "../../src/server/store/blobs/files.ts";

const bytes = (content: string | Buffer) => Readable.from([Buffer.from(content)]);
const all = async (keys: AsyncIterable<string>) => {
  const found: string[] = [];
  for await (const key of keys) found.push(key);
  return found;
};

describe("blobs in files", () => {
  let folder: string;
  let blobs: Blobs;
  const limit = { maxBytes: 1_000_000 };

  /** Every file below the folder, including temporary ones. */
  const files = async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-blobs-"));
    blobs = fileBlobs(join(folder, "blobs"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

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

  it("stores nothing of content that is too large, and keeps the previous content", async () => {
    await blobs.put("a", bytes("before"), limit);
    await expect(blobs.put("a", bytes("x".repeat(11)), { maxBytes: 10 })).rejects.toThrow(BlobTooLarge);
    expect(await text(await blobs.get("a"))).toBe("before");
    expect(await files()).toEqual(["a"]);
  });

  it("stores nothing of content that is interrupted", async () => {
    async function* breaking() {
      yield Buffer.from("half");
      throw new Error("connection lost");
    }
    await expect(blobs.put("a", breaking(), limit)).rejects.toThrow("connection lost");
    expect(await blobs.stat("a")).toBeNull();
    expect(await files()).toEqual([]);
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

  it("lists keys by prefix in order, without unfinished files", async () => {
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
    expect(await files()).toEqual([]);
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
