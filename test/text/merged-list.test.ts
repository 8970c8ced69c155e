// Lists that two people change at the same time.
import { describe, expect, it } from "vitest";
import { mergedList } from "../../src/text/merged-list.ts";

const merged = (before: string, after: string, stored: string): string | undefined =>
  mergedList([...before], [...after], [...stored])?.join("");

describe("a list that two people change", () => {
  it("has what each of them has added, and lacks what each has removed", () => {
    expect(merged("ab", "abc", "ab")).toBe("abc");
    expect(merged("ab", "abc", "abd")).toBe("abdc");
    expect(merged("ab", "a", "abd")).toBe("ad");
    expect(merged("ab", "abc", "b")).toBe("bc");
    expect(merged("", "a", "b")).toBe("ba");
    expect(merged("ab", "b", "a")).toBe("");
  });

  it("has what both have added once, and lacks what both have removed", () => {
    expect(merged("a", "ab", "ab")).toBe("ab");
    expect(merged("ab", "a", "a")).toBe("a");
  });

  it("has the order that somebody has given it", () => {
    expect(merged("abc", "cab", "abc")).toBe("cab");
    expect(merged("abc", "cab", "abcd")).toBe("cabd");
    expect(merged("abc", "abc", "cba")).toBe("abc");
  });

  it("is refused if somebody has changed an item that another person has changed or removed", () => {
    expect(merged("ab", "aB", "ab")).toBe("aB");
    expect(merged("ab", "aB", "abc")).toBe("acB");
    expect(merged("ab", "aB", "a")).toBeUndefined();
    expect(merged("ab", "aB", "aX")).toBeUndefined();
  });

  it("compares items by their values", () => {
    const [one, two, three] = [{ id: 1 }, { id: 2 }, { id: 3 }];
    expect(mergedList([one], [{ ...one }, two], [{ ...one }, three])).toEqual([one, three, two]);
  });
});
