import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { TarContent } from "../../src/simulator/agent/carve-content.ts";

describe("the archive of a simulated carve", () => {
  it.each([0, 1, 1536, 1537, 10_000, 200_000])("of %i bytes is a tar of one file, or an empty one", (bytes) => {
    const content = new TarContent(3, "osquery_carve_guid/etc/hosts", bytes);
    const all = content.read(0, content.size + 1000);
    expect(all.length).toBe(content.size);
    expect(content.size % 512).toBe(0);
    expect(Math.abs(content.size - Math.max(bytes, 1024))).toBeLessThanOrEqual(512);
    expect(all.subarray(-1024).every((byte) => byte === 0)).toBe(true);
    expect(createHash("sha256").update(all).digest("hex")).toBe(content.sha256());
    if (content.size === 1024) return;
    expect(all.toString("latin1", 0, 28)).toBe("osquery_carve_guid/etc/hosts");
    expect(all.toString("latin1", 257, 262)).toBe("ustar");
    const size = Number.parseInt(all.toString("latin1", 124, 135), 8);
    expect(512 + Math.ceil(size / 512) * 512 + 1024).toBe(content.size);
    // The checksum is computed over the header with blanks in its own field.
    const sum = all.subarray(0, 512).reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0);
    expect(Number.parseInt(all.toString("latin1", 148, 154), 8)).toBe(sum);
  });

  it("is the same in pieces of any size, and for the same seed", () => {
    const content = new TarContent(5, "x", 150_000);
    const whole = content.read(0, content.size);
    for (const piece of [1_000, 65_521, 99_999]) {
      const parts: Buffer[] = [];
      for (let at = 0; at < content.size; at += piece) parts.push(content.read(at, piece));
      expect(Buffer.concat(parts).equals(whole)).toBe(true);
    }
    expect(new TarContent(5, "x", 150_000).sha256()).toBe(content.sha256());
    expect(new TarContent(6, "x", 150_000).sha256()).not.toBe(content.sha256());
  });
});
