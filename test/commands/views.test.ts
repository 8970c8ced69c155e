import { describe, expect, it } from "vitest";
import { startFleet } from "../support/fleet.ts";

describe("views", () => {
  it("are saved, changed and deleted", async () => {
    const fleet = await startFleet();
    const run = async (...argv: string[]) => {
      const { stdout, stderr, exitCode } = await fleet.run(["views", ...argv]);
      expect(exitCode, stderr).toBe(0);
      return stdout;
    };
    const view = [
      "--name",
      "Offline",
      "--query",
      "status=offline",
      "--query",
      "where=a = b",
      "--columns",
      "hostname,uuid",
    ];
    const created = JSON.parse(await run("create", "--page", "hosts", ...view, "-o", "json"));
    expect(created).toMatchObject({
      name: "Offline",
      page: "hosts",
      query: { status: "offline", where: "a = b" },
      columns: ["hostname", "uuid"],
      shared: "me",
    });
    const id = String(created.id);
    await run("update", id, "--name", "Gone", "--shared", "everyone", "--columns", "");
    expect(await run("list", "--of", "hosts")).toMatch(/hosts\s+Gone\s+status=offline&where=a\+%3D\+b\s+.*everyone/);
    expect(JSON.parse(await run("get", id, "-o", "json"))).toMatchObject({ name: "Gone", columns: null });
    await run("delete", id, "--yes");
    expect(JSON.parse(await run("list", "-o", "json"))).toEqual([]);
    const { exitCode, stderr } = await fleet.run([
      "views",
      "create",
      "--name",
      "x",
      "--page",
      "hosts",
      "--query",
      "status",
    ]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--query")]);
  });
});
