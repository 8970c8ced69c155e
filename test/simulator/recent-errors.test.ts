// The errors in the report of a simulation.
import { expect, it } from "vitest";
import { RecentErrors } from "../../src/simulator/recent-errors.ts";

it("lists each distinct error once, as words, the last one at the end", () => {
  const errors = new RecentErrors();
  const refusal = (uuid: string) =>
    JSON.stringify({ message: "Validation Failed", errors: [{ name: "base", reason: "the license is full" }], uuid });
  for (let host = 0; host < 20; host++) errors.add("enroll", refusal(`id-${host}`));
  errors.add("checkin", `status 403: ${refusal("x")}`);
  errors.add("log", '{"error": "down", "node_invalid": false}');
  errors.add("config", '{"cut": ');
  errors.add("config", "");
  errors.add("enroll", refusal("again"));
  expect(errors.list()).toEqual([
    "checkin: status 403: Validation Failed: the license is full",
    "log: down",
    'config: {"cut": ',
    "config: empty reply",
    "enroll: Validation Failed: the license is full",
  ]);
});

it("keeps the last eight, of at most 200 characters", () => {
  const errors = new RecentErrors();
  for (let i = 0; i < 20; i++) errors.add("log", `${i} ${"x".repeat(1000)}`);
  expect(errors.list().map((text) => [text.split(" ")[1], text.length])).toEqual(
    [12, 13, 14, 15, 16, 17, 18, 19].map((i) => [String(i), 205]),
  );
});
