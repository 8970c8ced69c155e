// Blobs that grow while their content arrives, in files.
import { createHash } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Blobs,
  BlobTooLarge,
  type GrowingBlobs,
  NoSuchBlob,
} from "../../../src/server/platform/store/blobs/blobs.ts";
import { fileBlobs } from "../../../src/server/platform/store/blobs/files.ts";

const bytes = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
const options = { maxBytes: 1_000, hash: null };

describe("a blob that grows", () => {
  let folder: string;
  let blobs: Blobs;
  let growing: GrowingBlobs;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-growing-"));
    blobs = fileBlobs(join(folder, "blobs"));
    growing = blobs.growing!;
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("has what was added, and the digest of that", async () => {
    const hash = createHash("sha256");
    expect(await growing.append("uploads/1/a", 0, bytes("one ", "two "), { maxBytes: 8, hash })).toBe(8);
    expect(await growing.append("uploads/1/a", 8, bytes("three"), { maxBytes: 5, hash })).toBe(5);
    await growing.sync("uploads/1/a");
    expect(await text(await blobs.get("uploads/1/a"))).toBe("one two three");
    expect(hash.digest("hex")).toBe(createHash("sha256").update("one two three").digest("hex"));
  });

  it("replaces what an interrupted server has written behind its end", async () => {
    await growing.append("uploads/1/a", 0, bytes("one lost"), options);
    await growing.append("uploads/1/a", 4, bytes("two!"), options);
    expect(await text(await blobs.get("uploads/1/a"))).toBe("one two!");
  });

  it("is never begun twice, nor continued if it is gone", async () => {
    await growing.append("uploads/1/a", 0, bytes("one"), options);
    await expect(growing.append("uploads/1/a", 0, bytes("two"), options)).rejects.toMatchObject({ code: "EEXIST" });
    expect(await text(await blobs.get("uploads/1/a"))).toBe("one");
    await blobs.delete("uploads/1/a");
    await expect(growing.append("uploads/1/a", 3, bytes("two"), options)).rejects.toThrow(NoSuchBlob);
    await expect(growing.sync("uploads/1/a")).rejects.toThrow(NoSuchBlob);
    await expect(growing.keepAs("uploads/1/a", "files/a", 3)).rejects.toThrow(NoSuchBlob);
  });

  it("does not take more bytes than it may", async () => {
    const few = { ...options, maxBytes: 3 };
    await expect(growing.append("uploads/1/a", 0, bytes("one", "two"), few)).rejects.toThrow(BlobTooLarge);
  });

  it("fails with the content", async () => {
    const broken = async function* () {
      yield Buffer.from("one");
      throw new Error("lost");
    };
    await expect(growing.append("uploads/1/a", 0, broken(), options)).rejects.toThrow("lost");
  });

  it("is kept under another key without a copy, if it has the expected size", async () => {
    await growing.append("uploads/1/a", 0, bytes("content"), options);
    const { ino } = await stat(blobs.localPath("uploads/1/a")!);
    expect(await growing.keepAs("uploads/1/a", "files/short", 6)).toBe(false);
    expect(await blobs.stat("files/short")).toBeNull();
    expect(await growing.keepAs("uploads/1/a", "files/a", 7)).toBe(true);
    expect((await stat(blobs.localPath("files/a")!)).ino).toBe(ino);
    await blobs.delete("uploads/1/a");
    expect(await text(await blobs.get("files/a"))).toBe("content");
  });
});
