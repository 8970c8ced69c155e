import { expect, it } from "vitest";
import { blocks, figuresOf } from "../../src/cli/topics/charts.ts";

it("draws a block for each value, or for several if they do not fit", () => {
  expect(blocks([0, 1, 4, 7], 80)).toBe("▁▂▅█");
  expect(blocks([0, 0], 80)).toBe("▁▁");
  expect(blocks([0, 1, 4, 7], 2)).toBe("▂█");
});

it("says the figures in a sentence", () => {
  const data = [3, 9, 5].map((value) => ({ timestamp: "2026-03-01T00:00:00.000Z", value }));
  expect(figuresOf(data, 12)).toBe("now 5 of 12 hosts; highest 9, lowest 3");
});
