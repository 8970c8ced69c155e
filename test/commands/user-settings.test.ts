import { describe, expect, it } from "vitest";
import { startFleet } from "../support/fleet.ts";

describe("users settings", () => {
  it("shows and changes the caller's settings of the console", async () => {
    const fleet = await startFleet();
    const run = async (...flags: string[]) => {
      const { stdout, stderr, exitCode } = await fleet.run(["users", "settings", ...flags, "-o", "json"]);
      return { exitCode, stderr, settings: exitCode === 0 ? JSON.parse(stdout) : null };
    };
    expect((await run()).settings).toEqual({ user: "ada@example.com" });
    const changed = await run("--theme", "dark", "--columns", "hosts=hostname,uuid", "--no-keys", "--pinned", "/hosts");
    const settings = { columns: { hosts: ["hostname", "uuid"] }, theme: "dark", keys: false, pinned: ["/hosts"] };
    expect(changed.settings).toEqual({ user: "ada@example.com", ...settings });
    expect(
      (await run("me", "--theme", "default", "--columns", "hosts=", "--density", "compact", "--rows", "100")).settings,
    ).toEqual({
      user: "ada@example.com",
      columns: {},
      keys: false,
      pinned: ["/hosts"],
      density: "compact",
      rows: 100,
    });
    expect(await run("--columns", "hosts")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--columns"),
    });
  });
});
