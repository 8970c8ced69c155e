import { describe, expect, it } from "vitest";
import { growthPercentOf } from "../../../src/server/platform/process/heap-growth.ts";

const MiB = 1024 * 1024;

describe("the growth of the heap until it is collected", () => {
  it("is limited for small heaps, and left to V8 for large ones", () => {
    expect([100 * MiB, 511 * MiB, 512 * MiB, 4096 * MiB].map(growthPercentOf)).toEqual([80, 80, 0, 0]);
  });
});
