import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shellArgument, shellOption, shellWord } from "../../src/text/shell.ts";

/** What the shell passes to a command with these words. */
const passed = (words: string): readonly string[] =>
  execFileSync("sh", ["-c", `printf '%s\\0' ${words}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

const hostile = [
  "--server-url=https://evil.example",
  "-rf",
  "--",
  "-",
  "$(id)",
  "`id`",
  "a'b",
  'a"b',
  "a\nb",
  "a;b",
  "!x",
  "*",
  "~",
];

describe("words for shells", () => {
  it("never makes an option of a text that hosts or users chose", () => {
    for (const text of hostile) {
      const words = passed(shellArgument(text));
      expect(words.at(-1)).toBe(text);
      expect(words.length === 2 ? words[0] : null).toBe(text.startsWith("-") ? "--" : null);
    }
  });

  it("keeps an option and its value together", () => {
    for (const text of hostile) {
      const words = passed(shellOption("query", text));
      expect(words).toEqual(text.startsWith("-") ? [`--query=${text}`] : ["--query", text]);
    }
  });

  it("is one word for the shell, whatever it contains", () => {
    const texts = fc.string({ unit: "binary", minLength: 1, maxLength: 40 }).filter((text) => !text.includes("\0"));
    const sample = fc.sample(texts, 100);
    expect(passed(sample.map(shellWord).join(" "))).toEqual(sample);
  });
});
