// Texts that are read once for all hosts.
import { describe, expect, it } from "vitest";
import { KnownContents } from "../../src/server/hosts/operations/known-contents.ts";

function counted(text: string) {
  const load = Object.assign(
    async () => {
      load.calls++;
      return text;
    },
    { calls: 0 },
  );
  return load;
}

describe("known contents", () => {
  it("are loaded once, with the same bytes of JSON for all", async () => {
    const known = new KnownContents(100);
    const load = counted('echo "é"\n');
    const [first, second] = [await known.get("a", load), await known.get("a", load)];
    expect([first.text, load.calls]).toEqual(['echo "é"\n', 1]);
    expect(second.json()).toBe(first.json());
    expect(JSON.parse(Buffer.from(first.json()).toString())).toBe('echo "é"\n');
  });

  it("of several digests are not mixed, also if they are loaded at the same time", async () => {
    const known = new KnownContents(100);
    const texts = ["one", "two", "one", "two"];
    const found = await Promise.all(texts.map((text) => known.get(text, async () => text)));
    expect(found.map(({ text }) => text)).toEqual(texts);
    expect(known.size).toBe(2);
  });

  it("are forgotten when there are too many, those that were used last being kept", async () => {
    const known = new KnownContents(30);
    const load = counted("0123456789");
    for (const digest of ["a", "b", "c", "a", "d"]) await known.get(digest, load);
    expect([known.size, load.calls]).toEqual([3, 4]);
    await known.get("a", load);
    expect(load.calls).toBe(4);
    await known.get("b", load);
    expect(load.calls).toBe(5);
  });

  it("that are too large are not kept", async () => {
    const known = new KnownContents(5);
    const load = counted("0123456789");
    expect((await known.get("a", load)).text).toBe("0123456789");
    await known.get("a", load);
    expect([known.size, load.calls]).toEqual([0, 2]);
  });
});
