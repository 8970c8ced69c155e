import { describe, expect, it } from "vitest";
import {
  BadTableFile,
  type Entry,
  openTableFile,
  tableFile,
} from "../../../src/server/software/vulnerabilities/reference/table-file.ts";

async function* these(entries: readonly Entry[]) {
  yield* entries;
}

async function fileOf(entries: readonly Entry[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of tableFile(these(entries))) parts.push(part);
  return Buffer.concat(parts);
}

const opened = (file: Buffer) => openTableFile(file.length, (start, length) => file.subarray(start, start + length));

describe("a reference file", () => {
  it("finds all values of each key, in their order, and none of other keys", async () => {
    const entries = Array.from({ length: 20_000 }, (_, i) => ({
      key: `key ${i % 7_000}`,
      value: { i, text: "ä".repeat(i % 50) },
    }));
    const table = await opened(await fileOf(entries));
    expect(table.records).toBe(20_000);
    for (const n of [0, 1, 5_999, 6_999])
      expect(await table.get(`key ${n}`)).toEqual(
        entries.filter(({ key }) => key === `key ${n}`).map(({ value }) => value),
      );
    expect(await table.get("key 7000")).toEqual([]);
    expect(await table.get("")).toEqual([]);
  });

  it("can be empty", async () => {
    const table = await opened(await fileOf([]));
    expect(await table.get("a")).toEqual([]);
  });

  it("reads only the records that it needs", async () => {
    const file = await fileOf(Array.from({ length: 50_000 }, (_, i) => ({ key: `key ${i}`, value: "x".repeat(200) })));
    let bytes = 0;
    const table = await openTableFile(file.length, async (start, length) => {
      bytes += length;
      return file.subarray(start, start + length);
    });
    await table.get("key 30000");
    expect(bytes).toBeLessThan(file.length / 500);
  });

  it("is refused if it is damaged", async () => {
    const file = await fileOf([{ key: "a", value: 1 }]);
    await expect(opened(file.subarray(0, -1))).rejects.toThrow(BadTableFile);
    await expect(opened(file.subarray(8))).rejects.toThrow(BadTableFile);
    await expect(opened(Buffer.alloc(0))).rejects.toThrow(BadTableFile);
  });
});
