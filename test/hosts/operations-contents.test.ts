// Texts that are read once for all hosts.
import { describe, expect, it } from "vitest";
import { CachedContents } from "../../src/server/hosts/operations/cached-contents.ts";

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

describe("cached contents", () => {
  it("are loaded once, with the same bytes of JSON for all", async () => {
    const contents = new CachedContents(100);
    const load = counted('echo "é"\n');
    const [first, second] = [await contents.get("a", load), await contents.get("a", load)];
    expect([first.text, load.calls]).toEqual(['echo "é"\n', 1]);
    expect(second.json()).toBe(first.json());
    expect(JSON.parse(Buffer.from(first.json()).toString())).toBe('echo "é"\n');
  });

  it("of several digests are not mixed, also if they are loaded at the same time", async () => {
    const contents = new CachedContents(100);
    const texts = ["one", "two", "one", "two"];
    const contentsOfTexts = await Promise.all(texts.map((text) => contents.get(text, async () => text)));
    expect(contentsOfTexts.map(({ text }) => text)).toEqual(texts);
    expect(contents.size).toBe(2);
  });

  it("are forgotten when there are too many, those that were used last being kept", async () => {
    const contents = new CachedContents(30);
    const load = counted("0123456789");
    for (const digest of ["a", "b", "c", "a", "d"]) await contents.get(digest, load);
    expect([contents.size, load.calls]).toEqual([3, 4]);
    await contents.get("a", load);
    expect(load.calls).toBe(4);
    await contents.get("b", load);
    expect(load.calls).toBe(5);
  });

  it("that are too large are not kept", async () => {
    const contents = new CachedContents(5);
    const load = counted("0123456789");
    expect((await contents.get("a", load)).text).toBe("0123456789");
    await contents.get("a", load);
    expect([contents.size, load.calls]).toEqual([0, 2]);
  });
});
