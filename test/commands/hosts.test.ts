import { beforeEach, describe, expect, it } from "vitest";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { makeHost } from "../support/make.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet();
});
const left = async () => Number((await fleet.run(["hosts", "count"])).stdout);

describe("hosts list", () => {
  it("shows status, platform, os version, team and last contact", async () => {
    const { stdout } = await fleet.run(["hosts", "list"], {
      tty: { stdout: true },
      now: new Date("2026-03-01T12:03:00Z"),
    });
    expect(stdout).toMatch(/mac-1\.example\.com\s+online\s+darwin\s+macOS 15\.1\s+Workstations\s+3 minutes ago/);
  });

  it("takes every filter of the API and the team by name", async () => {
    const ids = async (...argv: string[]) =>
      JSON.parse((await fleet.run(["hosts", "list", "-o", "json", "--fields", "hostname", ...argv])).stdout).map(
        ({ hostname }: { hostname: string }) => hostname,
      );
    expect(await ids("--team", "workstations")).toEqual(["mac-1.example.com"]);
    expect(await ids("--team", "none", "--status", "online")).toEqual(["linux-1.example.com"]);
    expect(await ids("--query", "win")).toEqual(["win-1.example.com"]);
    expect(await ids("--order-key", "hostname", "--order-direction", "desc", "--limit", "1")).toEqual([
      "win-1.example.com",
    ]);
    const { exitCode, stderr } = await fleet.run(["hosts", "list", "--team", "Workstation"]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain("did you mean Workstations?");
  });

  it("hides paging and says when there is more", async () => {
    for (let number = 0; number < 120; number++) await makeHost(fleet.app, {});
    const some = await fleet.run(["hosts", "list", "-o", "ndjson", "--fields", "id"]);
    expect(some.stdout.trim().split("\n")).toHaveLength(100);
    expect(some.stderr).toContain("the first 100 are shown");
    const all = await fleet.run(["hosts", "list", "-o", "ndjson", "--fields", "id", "--all"]);
    expect(new Set(all.stdout.trim().split("\n")).size).toBe(123);
    expect(all.stderr).toBe("");
  });

  it("passes on the server's reason for a bad filter", async () => {
    const { exitCode, stderr } = await fleet.run(["hosts", "list", "--label-id", "abc"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("abc");
  });
});

describe("hosts get", () => {
  it("takes the name that lists show, where one host has it", async () => {
    await makeHost(fleet.app, { hostname: "m1.corp.example.com", display_name: 'Bela\'s "Mac" \\1' });
    const one = await fleet.run(["hosts", "get", 'Bela\'s "Mac" \\1', "-o", "json", "--fields", "hostname"]);
    expect(JSON.parse(one.stdout)).toEqual({ hostname: "m1.corp.example.com" });
    await makeHost(fleet.app, { display_name: 'Bela\'s "Mac" \\1' });
    const two = await fleet.run(["hosts", "get", 'Bela\'s "Mac" \\1']);
    expect(two.exitCode).toBe(2);
    expect(two.stderr).toMatch(/2 hosts are called Bela's "Mac" \\1: \d+, \d+/);
  });

  it("takes no hostname that several have, whatever is to be done", async () => {
    const first = await makeHost(fleet.app, { hostname: "twin.example.com" });
    const second = await makeHost(fleet.app, { hostname: "twin.example.com", hardware_serial: "TWIN2" });
    for (const argv of [
      ["hosts", "get", "twin.example.com"],
      ["hosts", "delete", "twin.example.com", "--yes"],
      ["hosts", "transfer", "twin.example.com", "--to", "Workstations"],
    ]) {
      const { exitCode, stderr } = await fleet.run(argv);
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringContaining(`2 hosts are called twin.example.com: ${first.id}, ${second.id}`),
      ]);
    }
    expect(await fleet.app.store.hosts.get(first.id)).not.toBeNull();
    const bySerial = await fleet.run(["hosts", "get", "TWIN2", "-o", "json", "--fields", "id"]);
    expect(JSON.parse(bySerial.stdout)).toEqual({ id: second.id });
  });

  it("takes an id, a hostname, a uuid or a serial number", async () => {
    const whole = JSON.parse((await fleet.run(["hosts", "get", "1", "-o", "json"])).stdout);
    expect(whole.software).toHaveLength(1);
    for (const text of ["mac-1.example.com", whole.uuid, whole.hardware_serial]) {
      expect(JSON.parse((await fleet.run(["hosts", "get", text, "-o", "json"])).stdout).id).toBe(1);
    }
  });
});

describe("hosts delete", () => {
  it("asks y or N for one", async () => {
    expect((await fleet.run(["hosts", "delete", "1"])).exitCode).toBe(2);
    const no = await fleet.run(["hosts", "delete", "1"], { tty: true, answers: [false] });
    expect(no.exitCode).toBe(2);
    expect(no.asked).toEqual(["Delete mac-1.example.com?"]);
    expect(await left()).toBe(3);
    expect((await fleet.run(["hosts", "delete", "1"], { tty: true, answers: [true] })).exitCode).toBe(0);
    expect(await left()).toBe(2);
  });

  it("wants the number typed for several, and --yes is not enough", async () => {
    const two = ["hosts", "delete", "1", "linux-1.example.com"];
    expect((await fleet.run([...two, "--yes"])).exitCode).toBe(2);
    expect((await fleet.run([...two, "--confirm", "3"])).exitCode).toBe(2);
    const wrong = await fleet.run(two, { tty: true, answers: ["yes"] });
    expect(wrong.exitCode).toBe(2);
    expect(wrong.asked[0]).toContain("Type 2 to confirm");
    expect(await left()).toBe(3);
    expect((await fleet.run([...two, "--confirm", "2"])).exitCode).toBe(0);
    expect(await left()).toBe(1);
  });

  it("refuses a choice that holds every host, unless it is said", async () => {
    for (const chosen of [
      ["1", "2", "3"],
      ["--query", "example.com"],
    ]) {
      const { exitCode, stderr } = await fleet.run(["hosts", "delete", ...chosen, "--confirm", "3"]);
      expect(exitCode).toBe(2);
      expect(stderr).toContain("--all-hosts");
    }
    expect(await left()).toBe(3);
    expect((await fleet.run(["hosts", "delete", "--all-hosts"])).exitCode).toBe(2);
    expect((await fleet.run(["hosts", "delete", "--all-hosts", "--confirm", "3"])).exitCode).toBe(0);
    expect(await left()).toBe(0);
  });

  it("refuses no choice at all, an empty one, and a mixed one", async () => {
    expect((await fleet.run(["hosts", "delete", "--confirm", "3"])).exitCode).toBe(2);
    expect((await fleet.run(["hosts", "delete", "--query", "nothing-has-this"])).exitCode).toBe(3);
    expect((await fleet.run(["hosts", "delete", "1", "--status", "online"])).exitCode).toBe(2);
    expect(await left()).toBe(3);
  });

  it("deletes nothing in a dry run, and needs no confirmation for it", async () => {
    const { exitCode, stdout } = await fleet.run(["hosts", "delete", "--status", "online", "--dry-run", "-o", "json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      dry_run: true,
      action: "delete 2 hosts",
      target: [{ id: 1 }, { id: 2 }],
    });
    expect(await left()).toBe(3);
  });
});
