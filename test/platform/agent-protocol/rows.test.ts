import { describe, expect, it } from "vitest";
import { text } from "../../../src/server/platform/agent-protocol/rows.ts";

describe("short texts of agents", () => {
  it("are one line that reads in one direction, as names that users choose", () => {
    const name = (value: string) => text({ name: value }, "name");
    expect(name("mac-1")).toBe("mac-1");
    expect(name("a\nb\tc\r\nd")).toBe("a b c d");
    expect(name("\u202egpj.exe\u2069 \u0007x\u2028y")).toBe("gpj.exe x y");
    expect(name("Zoë’s MacBook 💻 ‏עברית‏")).toBe("Zoë’s MacBook 💻 ‏עברית‏");
  });

  it("are kept as they are where several lines are allowed", () => {
    expect(text({ output: "a\nb" }, "output", 4096)).toBe("a\nb");
  });
});
