import { describe, expect, it } from "vitest";
import { startFleet } from "../support/fleet.ts";

describe("report", () => {
  it("writes a list as CSV", async () => {
    const fleet = await startFleet();
    const { stdout, exitCode, stderr } = await fleet.run(["report", "users", "--columns", "name,email"]);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain("name,email\r\n");
    expect(stdout).toContain("Ada Admin,ada@example.com\r\n");
    const labels = await fleet.run(["report", "labels", "--order-key", "name", "--columns", "name"]);
    expect(labels.stdout).toContain("Loaners");
    const none = await fleet.run(["report", "users", "--filter", "query=nobody", "--columns", "id"]);
    expect(none.stdout).toBe("id\r\n");
  });

  it("passes on what the server refuses", async () => {
    const fleet = await startFleet();
    const { stderr, exitCode } = await fleet.run(["report", "users", "--columns", "emial"]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("did you mean email?");
    expect((await fleet.run(["report", "users", "--filter", "query"])).exitCode).toBe(2);
  });
});
