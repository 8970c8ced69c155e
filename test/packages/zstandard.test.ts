// Sizes of Zstandard files (RFC 8878), and what they cost to unpack.
import { describe, expect, it } from "vitest";
import { PackageError } from "../../src/packages/package.ts";
import { unpack } from "../../src/packages/unpack.ts";
import { zstandardContent } from "../../src/packages/zstandard.ts";

const RAW = 0;
const REPEATED = 1;
const COMPRESSED = 2;

/** A window of 512 KiB, and no announced size. */
const HEADER = Buffer.from("28b52ffd0048", "hex");
function block(type: number, length: number, bytes: Uint8Array, isLast = true): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((length << 3) | (type << 1) | Number(isLast), 0, 3);
  return Buffer.concat([header, bytes]);
}
const raw = (text: string, isLast = true) => block(RAW, text.length, Buffer.from(text), isLast);
const skippable = Buffer.from("552a4d1803000000aabbcc", "hex");

describe("a Zstandard file", () => {
  it.each([
    ["raw blocks", Buffer.concat([HEADER, raw("one ", false), raw("two")]), { size: 7, blocks: 2 }],
    ["a repeated byte", Buffer.concat([HEADER, block(REPEATED, 1000, Buffer.from("x"))]), { size: 1000, blocks: 1 }],
    [
      "a compressed block of unknown size",
      Buffer.concat([HEADER, block(COMPRESSED, 3, Buffer.alloc(3))]),
      { size: 128 * 1024, blocks: 1 },
    ],
    [
      "an announced size, in two bytes",
      Buffer.concat([Buffer.from("28b52ffd60000a", "hex"), block(COMPRESSED, 3, Buffer.alloc(3))]),
      { size: 0x0a00 + 256, blocks: 1 },
    ],
    [
      "a dictionary, a checksum, and frames to be skipped",
      Buffer.concat([skippable, Buffer.from("28b52ffd054807", "hex"), raw("a"), Buffer.alloc(4)]),
      { size: 1, blocks: 1 },
    ],
  ])("with %s contains at most that", (_what, bytes, content) => {
    expect(zstandardContent(bytes)).toEqual(content);
  });

  it.each([
    ["is empty", Buffer.alloc(0)],
    ["is something else", Buffer.from("PK\u0003\u0004 and more")],
    ["is cut off in its header", HEADER.subarray(0, 5)],
    ["is cut off in a block", Buffer.concat([HEADER, raw("content")]).subarray(0, -1)],
    ["has no last block", Buffer.concat([HEADER, raw("content", false)])],
    ["has a reserved block", Buffer.concat([HEADER, block(3, 1, Buffer.alloc(1))])],
    ["has two frames", Buffer.concat([HEADER, raw("a"), HEADER, raw("b")])],
    ["has only a frame to be skipped", skippable],
  ])("is damaged if it %s", (_what, bytes) => {
    expect(() => zstandardContent(bytes)).toThrow(PackageError);
  });

  it("is unpacked into as many bytes as it contains", async () => {
    const bytes = Buffer.concat([HEADER, raw("one ", false), block(REPEATED, 3, Buffer.from("x"))]);
    expect((await unpack(bytes, "zst")).toString()).toBe("one xxx");
  });

  it("is not unpacked if its blocks contain too much, or are too many for their size", async () => {
    const large = Array.from({ length: 200 }, (_, i) => block(REPEATED, 128 * 1024, Buffer.from("x"), i === 199));
    const many = Array.from({ length: 100_000 }, (_, i) => raw("a", i === 99_999));
    for (const blocks of [large, many])
      await expect(unpack(Buffer.concat([HEADER, ...blocks]), "zst")).rejects.toThrow("too large");
  });
});
