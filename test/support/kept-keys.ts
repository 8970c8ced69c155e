// RSA keys take 100 to 300 ms each. All keys of a test file differ; the next file of the process uses the same again.
import type { KeyObject } from "node:crypto";
import { vi } from "vitest";

declare global {
  /** By number of bits. A module that is replaced is loaded again for each file, with everything that it keeps. */
  var keptKeys: Map<number, Promise<KeyObject>[]> | undefined;
}

vi.mock("../../src/pki/x509.ts", async (original) => {
  const real = await original<typeof import("../../src/pki/x509.ts")>();
  globalThis.keptKeys ??= new Map();
  const kept = globalThis.keptKeys;
  const used = new Map<number, number>();
  const newKey: typeof real.newKey = (bits = 2048) => {
    const at = used.get(bits) ?? 0;
    used.set(bits, at + 1);
    const keys = kept.get(bits) ?? [];
    kept.set(bits, keys);
    keys[at] ??= real.newKey(bits);
    return keys[at];
  };
  return { ...real, newKey };
});
