import { describe, expect, it } from "vitest";
import { startFleet } from "../support/fleet.ts";
import { makePolicy } from "../support/make.ts";

describe("search", () => {
  it("shows objects of several types, and why they match", async () => {
    const fleet = await startFleet();
    await makePolicy(fleet.app, { name: "Loaners are locked" });
    const { stdout, exitCode } = await fleet.run(["search", "loaners"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^TYPE\s+ID\s+NAME\s+DETAIL\s+TEAM\s+MATCHES\n/);
    expect(stdout).toMatch(/labels\s+\d+\s+Loaners\s.*name\n/);
    expect(stdout).toMatch(/policies\s+\d+\s+Loaners are locked/);
    const only = await fleet.run(["search", "loaners", "--types", "policies", "-o", "json", "--fields", "type,name"]);
    expect(JSON.parse(only.stdout)).toEqual([{ type: "policies", name: "Loaners are locked" }]);
  });

  it("refuses a text that is too short", async () => {
    const fleet = await startFleet();
    const { stderr, exitCode } = await fleet.run(["search", "x"]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("must have at least 2 characters");
  });
});
