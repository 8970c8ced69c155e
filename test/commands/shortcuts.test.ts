// What makes a command line one's own: aliases, orders and templates.
import { beforeEach, describe, expect, it } from "vitest";
import { newHome } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet();
});

describe("aliases", () => {
  it("work as commands, with further words at their end, until they are removed", async () => {
    const home = await newHome();
    const env = { HOME: home };
    const run = (...argv: string[]) => fleet.run(argv, { env });
    expect((await run("alias", "list")).stderr).toContain("you have no aliases");
    const set = await run("alias", "set", "macs", "--", "hosts", "list", "--where", "platform = darwin");
    expect([set.exitCode, set.stderr]).toEqual([0, "svc macs is now svc hosts list --where 'platform = darwin'\n"]);
    const long = await run("hosts", "list", "--where", "platform = darwin", "--fields", "hostname");
    expect(long.stdout).not.toBe("");
    expect((await run("macs", "--fields", "hostname")).stdout).toBe(long.stdout);
    expect((await run("macs", "--help")).stdout).toContain("svc hosts list");
    expect((await run("alias", "list", "-o", "json")).stdout).toContain("hosts list --where 'platform = darwin'");
    expect((await run("alias", "remove", "macs")).exitCode).toBe(0);
    expect((await run("alias", "remove", "macs")).exitCode).toBe(3);
    expect(await run("macs")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("macs is not a command") });
  });

  it.each([
    [["hosts", "teams", "list"], "is a command"],
    [["help", "teams", "list"], "is a command"],
    [["Macs", "teams", "list"], "cannot be the name"],
    [["macs", "svc"], "svc is not a command"],
  ])("refuse %j", async (words, reason) => {
    const env = { HOME: await newHome() };
    const { exitCode, stderr } = await fleet.run(["alias", "set", ...words], { env });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });
});

describe("--sort", () => {
  it("orders a list on the server where it can, otherwise the rows", async () => {
    const names = async (...argv: string[]) => (await fleet.run([...argv, "--no-header"])).stdout.trim().split("\n");
    const hosts = await names("hosts", "list", "--fields", "hostname", "--sort", "hostname");
    expect(hosts.length).toBeGreaterThan(1);
    expect(hosts).toEqual([...hosts].sort());
    expect(await names("hosts", "list", "--fields", "hostname", "--sort", "hostname:desc")).toEqual(hosts.toReversed());
    const jobs = await names("jobs", "list", "--fields", "name", "--sort", "name:desc");
    expect(jobs).toEqual([...jobs].sort().reverse());
  });

  it.each(["", "name:up", ":desc"])("refuses %j", async (order) => {
    const { exitCode, stderr } = await fleet.run(["jobs", "list", `--sort=${order}`]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--sort")]);
  });

  it("refuses fields that rows do not have", async () => {
    expect((await fleet.run(["jobs", "list", "--sort", "nam"])).stderr).toContain("did you mean name?");
    expect((await fleet.run(["hosts", "list", "--sort", "nothing"])).exitCode).not.toBe(0);
  });
});

describe("--template", () => {
  it("prints each row as a text", async () => {
    const argv = ["hosts", "list", "--sort", "id", "--limit", "1", "--template"];
    expect((await fleet.run([...argv, "{id}\\t{{{platform}}}\\n-"])).stdout).toMatch(/^1\t\{\w+\}\n-\n$/);
    expect((await fleet.run(["hosts", "get", "1", "--template", "{id} {mdm.name}"])).stdout).toMatch(/^1 /);
  });

  it.each([
    ["{hostnam}", "did you mean hostname?"],
    ["{hostname", "a brace does not belong to a field"],
    ["{}", "a brace does not belong to a field"],
  ])("refuses %j", async (template, reason) => {
    const { exitCode, stderr } = await fleet.run(["hosts", "list", "--template", template]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });
});
