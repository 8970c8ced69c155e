import { beforeEach, describe, expect, it } from "vitest";
import { everything } from "../../src/server/platform/store/query.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { makeHost } from "../support/make.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet();
});
const left = async () => Number((await fleet.run(["hosts", "count"])).stdout);

describe("a name that is no path", () => {
  const given = [["get"], ["delete", "--yes"], ["refetch"], ["lock", "--yes"], ["software"], ["health"], ["query"]];

  it.each([".", ".."])("%s names the host that is called so, or none", async (name) => {
    for (const [verb = "", ...flags] of given) {
      const sql = verb === "query" ? ["SELECT 1"] : [];
      const { stdout, stderr, exitCode } = await fleet.run(["hosts", verb, name, ...sql, ...flags]);
      expect([verb, stdout, exitCode]).toEqual([verb, "", 3]);
      expect(stderr).toContain(`there is no host ${name}\n`);
    }
    expect(await left()).toBe(3);
    const { id } = await makeHost(fleet.app, { hostname: name });
    expect(JSON.parse((await fleet.run(["hosts", "get", name, "-o", "json"])).stdout)).toMatchObject({ id });
    await makeHost(fleet.app, { hostname: name });
    expect((await fleet.run(["hosts", "delete", name, "--yes"])).stderr).toContain(`2 hosts are called ${name}`);
  });

  it("is not accepted if it is empty", async () => {
    for (const argv of [
      ["hosts", "get", ""],
      ["hosts", "get", " "],
      ["hosts", "list", "--team", ""],
      ["hosts", "list", "--label", ""],
      ["teams", "get", ""],
      ["labels", "get", ""],
      ["queries", "get", ""],
      ["packs", "get", ""],
      ["users", "get", ""],
      ["carves", "get", ""],
      ["device", "show", ""],
    ]) {
      const { stdout, stderr, exitCode } = await fleet.run(argv);
      expect([argv, stdout, exitCode]).toEqual([argv, "", 2]);
      expect(stderr).toMatch(/is empty\n|missing TOKEN/);
    }
  });

  it("still deletes labels, packs and queries", async () => {
    await fleet.run(["packs", "create", "--name", ".."]);
    await fleet.run(["queries", "create", "--name", ".", "--query", "SELECT 1"]);
    expect(await fleet.run(["packs", "delete", "..", "--yes"])).toMatchObject({ exitCode: 0 });
    expect(await fleet.run(["queries", "delete", ".", "--yes"])).toMatchObject({ exitCode: 0 });
    expect((await fleet.run(["carves", "get", ".."])).exitCode).toBe(3);
  });
});

describe("hosts list", () => {
  it("shows status, platform, os version, team and last contact", async () => {
    const { stdout } = await fleet.run(["hosts", "list", "--no-color"], {
      tty: { stdout: true },
      now: new Date("2026-03-01T12:03:00Z"),
    });
    expect(stdout).toMatch(/mac-1\.example\.com\s+online\s+darwin\s+macOS 15\.1\s+Workstations\s+3m\n/);
  });

  it("takes every filter of the API and the team by name", async () => {
    const ids = async (...argv: string[]) =>
      JSON.parse((await fleet.run(["hosts", "list", "-o", "json", "--fields", "hostname", ...argv])).stdout).map(
        ({ hostname }: { hostname: string }) => hostname,
      );
    expect(await ids("--team", "workstations")).toEqual(["mac-1.example.com"]);
    expect(await ids("--team", "none", "--status", "online")).toEqual(["linux-1.example.com"]);
    expect(await ids("--query", "win")).toEqual(["win-1.example.com"]);
    for (const format of ["table", "json"])
      expect(await fleet.run(["hosts", "list", "--sort", "nope", "-o", format])).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining("--sort: invalid value nope"),
      });
    expect(await ids("--order-key", "hostname", "--order-direction", "desc", "--limit", "1")).toEqual([
      "win-1.example.com",
    ]);
    const { exitCode, stderr } = await fleet.run(["hosts", "list", "--team", "Workstation"]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain("did you mean Workstations?");
  });

  it("hides paging and reports if there are more rows", async () => {
    for (let number = 0; number < 120; number++) await makeHost(fleet.app, {});
    const some = await fleet.run(["hosts", "list", "-o", "ndjson", "--fields", "id"]);
    expect(some.stdout.trim().split("\n")).toHaveLength(100);
    expect(some.stderr).toContain("only the first 100 of 123 are shown; use --limit N or --all for more");
    const all = await fleet.run(["hosts", "list", "-o", "ndjson", "--fields", "id", "--all"]);
    expect(new Set(all.stdout.trim().split("\n")).size).toBe(123);
    expect(all.stderr).toBe("");
  });

  it("accepts a label by name, like counts and reports", async () => {
    await fleet.run(["labels", "create", "--name", "On call", "--hosts", "mac-1.example.com"]);
    const named = ["--label", "On call"];
    expect(JSON.parse((await fleet.run(["hosts", "list", ...named, "-o", "json"])).stdout)).toHaveLength(1);
    expect((await fleet.run(["hosts", "count", ...named])).stdout).toBe("1\n");
    expect((await fleet.run(["hosts", "list", "--label", "nope"])).exitCode).toBe(3);
    expect((await fleet.run(["hosts", "list", ...named, "--label-id", "1"])).exitCode).toBe(2);
  });

  it("drops columns instead of wrapping lines on a narrow terminal, and names them", async () => {
    for (const columns of [60, 80, 200]) {
      const { stdout, stderr } = await fleet.run(["hosts", "list", "--no-color"], { tty: true, columns });
      const lines = stdout.trimEnd().split("\n");
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(lines[0]).toContain("HOST");
      // Columns that are not in the header are named.
      const isShown = lines[0]!.includes("OS VERSION");
      if (columns !== 80) expect(isShown).toBe(columns === 200);
      expect(/columns that do not fit: .*OS VERSION/.test(stderr)).toBe(!isShown);
    }
    const piped = await fleet.run(["hosts", "list"], { columns: 60 });
    expect(piped.stdout).toContain("OS VERSION");
  });

  it("colours states on a terminal", async () => {
    const { stdout } = await fleet.run(["hosts", "list"], { tty: true });
    expect(stdout).toContain("\u001b[32monline\u001b[0m");
    expect((await fleet.run(["hosts", "get", "1"], { tty: true })).stdout).toContain("\u001b[32monline\u001b[0m");
  });

  it("reports the server's reason for an invalid filter", async () => {
    const selected = await fleet.run(["hosts", "list", "--where", "status = online and platfrom = darwin"]);
    expect([selected.exitCode, selected.stderr]).toEqual([
      2,
      [
        'Error: --where: there is no field "platfrom"; did you mean "platform"?',
        "  status = online and platfrom = darwin",
        "                      ^\n",
      ].join("\n"),
    ]);
    const { exitCode, stderr } = await fleet.run(["hosts", "list", "--label-id", "abc"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("abc");
  });
});

describe("hosts get", () => {
  it("accepts the name that lists show, if exactly one host has it", async () => {
    await makeHost(fleet.app, { hostname: "m1.corp.example.com", display_name: 'Bela\'s "Mac" \\1' });
    const one = await fleet.run(["hosts", "get", 'Bela\'s "Mac" \\1', "-o", "json", "--fields", "hostname"]);
    expect(JSON.parse(one.stdout)).toEqual({ hostname: "m1.corp.example.com" });
    await makeHost(fleet.app, { display_name: 'Bela\'s "Mac" \\1' });
    const two = await fleet.run(["hosts", "get", 'Bela\'s "Mac" \\1']);
    expect(two.exitCode).toBe(2);
    expect(two.stderr).toMatch(/2 hosts are called Bela's "Mac" \\1: \d+, \d+/);
  });

  it("refuses a name that several hosts have in any letter case", async () => {
    const first = await makeHost(fleet.app, { hostname: "case-01.example.com" });
    const alone = await fleet.run(["hosts", "get", "Case-01.example.com", "-o", "json", "--fields", "id"]);
    expect(JSON.parse(alone.stdout)).toEqual({ id: first.id });
    const second = await makeHost(fleet.app, { hostname: "CASE-01.EXAMPLE.COM" });
    for (const name of ["Case-01.example.com", "case-01.example.com"]) {
      const { exitCode, stderr } = await fleet.run(["hosts", "delete", name, "--yes"]);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${first.id}, ${second.id}`)]);
    }
  });

  it("refuses a hostname that several hosts have, in every command", async () => {
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

  it("a UUID means the host that has it, whatever others are called; of several with it, only ids choose one", async () => {
    const uuid = "5e5e5e5e-0001-4000-8000-00000000000a";
    const get = (text: string) => fleet.run(["hosts", "get", text, "-o", "json", "--fields", "id"]);
    for (const hostname of [uuid, uuid, "VIC-1"]) await makeHost(fleet.app, { hostname, hardware_serial: uuid });
    const victim = await makeHost(fleet.app, { uuid, hardware_serial: "VIC-1" });
    for (const text of [uuid, uuid.toUpperCase(), `{${uuid}}`])
      expect(JSON.parse((await get(text)).stdout), text).toEqual({ id: victim.id });
    const serial = await get("VIC-1");
    expect([serial.exitCode, serial.stderr]).toEqual([2, expect.stringContaining("2 hosts are called VIC-1")]);
    expect(serial.stderr).toContain("Give the id or uuid of one of them.");
    const copy = await makeHost(fleet.app, { uuid });
    const several = await get(uuid);
    expect([several.exitCode, several.stderr]).toEqual([
      2,
      expect.stringContaining(
        `2 hosts have the UUID ${uuid} (ids ${victim.id}, ${copy.id}): use the id of one of them`,
      ),
    ]);
  });

  it("accepts an id, a hostname, a uuid or a serial number", async () => {
    const whole = JSON.parse((await fleet.run(["hosts", "get", "1", "-o", "json"])).stdout);
    expect(whole.software).toHaveLength(1);
    for (const text of ["mac-1.example.com", whole.uuid, whole.hardware_serial]) {
      expect(JSON.parse((await fleet.run(["hosts", "get", text, "-o", "json"])).stdout).id).toBe(1);
    }
  });
});

describe("hosts refetch", () => {
  it("sends a request to one host, or to all that filters select", async () => {
    await fleet.app.store.hosts.update({ where: everything, set: { refetch_requested: false } });
    const asked = async () => {
      const { stdout } = await fleet.run(["hosts", "list", "-o", "ndjson", "--fields", "refetch_requested"]);
      return stdout.split("\n").filter((line) => line.includes("true")).length;
    };
    expect((await fleet.run(["hosts", "refetch", "1"])).exitCode).toBe(0);
    expect(await asked()).toBe(1);
    const some = await fleet.run(["hosts", "refetch", "--where", "status = online"]);
    expect(some).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("all details were requested from 2 hosts"),
    });
    expect(await asked()).toBe(2);
    expect((await fleet.run(["hosts", "refetch", "--where", "id > 0"])).exitCode).toBe(2);
    expect((await fleet.run(["hosts", "refetch", "--where", "id > 99"])).exitCode).toBe(3);
    expect((await fleet.run(["hosts", "refetch"])).exitCode).toBe(2);
    expect((await fleet.run(["hosts", "refetch", "--all-hosts", "--dry-run"])).stdout).toContain(
      "request all details from 3 hosts",
    );
    expect(await asked()).toBe(2);
  });
});

describe("hosts delete", () => {
  it("asks y or N for one host", async () => {
    expect((await fleet.run(["hosts", "delete", "1"])).exitCode).toBe(2);
    const no = await fleet.run(["hosts", "delete", "1"], { tty: true, answers: [false] });
    expect(no.exitCode).toBe(2);
    expect(no.asked).toEqual(["Delete mac-1.example.com?"]);
    expect(await left()).toBe(3);
    expect((await fleet.run(["hosts", "delete", "1"], { tty: true, answers: [true] })).exitCode).toBe(0);
    expect(await left()).toBe(2);
  });

  it("requires the typed number for several; --yes is not enough", async () => {
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

  it("refuses a selection of all hosts without --all-hosts", async () => {
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

  it("refuses a missing, an empty and a mixed selection", async () => {
    expect((await fleet.run(["hosts", "delete", "--confirm", "3"])).exitCode).toBe(2);
    expect((await fleet.run(["hosts", "delete", "--query", "nothing-has-this"])).exitCode).toBe(3);
    expect((await fleet.run(["hosts", "delete", "1", "--status", "online"])).exitCode).toBe(2);
    expect(await left()).toBe(3);
  });

  it("deletes nothing in a dry run, which needs no confirmation", async () => {
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
