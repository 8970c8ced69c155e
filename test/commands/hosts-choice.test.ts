// Commands that select hosts by selectors and filters: watched lists, reports, transfers, explanations.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Send } from "../../src/client/transport.ts";
import { sendInto } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { makeHost } from "../support/make.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet();
});
const teams = async () =>
  Object.fromEntries(
    (await fleet.app.store.hosts.pick(["hostname", "team_id"])).map((host) => [
      host.hostname.split(".")[0],
      host.team_id,
    ]),
  );

describe("--where", () => {
  it("selects hosts for lists, counts and deletes", async () => {
    const where = 'software.name ~ "fire" or platform = windows';
    const { stdout } = await fleet.run(["hosts", "list", "--where", where, "-o", "ndjson", "--fields", "hostname"]);
    expect(stdout).toBe('{"hostname":"mac-1.example.com"}\n{"hostname":"win-1.example.com"}\n');
    expect((await fleet.run(["hosts", "count", "--where", where])).stdout).toBe("2\n");
    expect((await fleet.run(["hosts", "delete", "--where", where, "--confirm", "3"])).exitCode).toBe(2);
    expect((await fleet.run(["hosts", "delete", "--where", where, "--confirm", "2"])).exitCode).toBe(0);
    expect((await fleet.run(["hosts", "count"])).stdout).toBe("1\n");
  });

  it("reports the position of an error in the expression", async () => {
    const { exitCode, stderr } = await fleet.run(["hosts", "list", "--where", "online and platfrm = a"]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      'Error: --where: there is no field "platfrm"; did you mean "platform"?\n  online and platfrm = a\n             ^\n',
    );
  });

  it("distinguishes hosts that this server manages from others", async () => {
    await fleet.app.store.hostMdm.insert({ id: 1, enrollment_status: "On (manual)", connected_to_svc: true });
    expect((await fleet.run(["hosts", "count", "--connected-to-svc"])).stdout).toBe("1\n");
    expect((await fleet.run(["hosts", "count", "--no-connected-to-svc"])).stdout).toBe("2\n");
    expect((await fleet.run(["hosts", "count"])).stdout).toBe("3\n");
  });
});

describe("hosts explain", () => {
  it("shows each part and whether it matches", async () => {
    const where = "platform = darwin and (online or team = Lab)";
    const { stdout, stderr, exitCode } = await fleet.run(["hosts", "explain", "mac-1.example.com", "--where", where]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("mac-1.example.com is selected");
    expect(stdout.split("\n").map((line) => line.trimEnd())).toEqual([
      "MATCHES  PART",
      `yes      ${where}`,
      "yes        platform = darwin",
      "yes        (online or team = Lab)",
      "yes          online",
      "no           team = Lab",
      "",
    ]);
    const json = JSON.parse((await fleet.run(["hosts", "explain", "2", "--where", where, "-o", "json"])).stdout);
    expect(json).toMatchObject({ host_id: 2, matches: false });
  });
});

describe("hosts report", () => {
  it("writes CSV to stdout or to a file, completely or not at all", async () => {
    const argv = ["hosts", "report", "--columns", "hostname,platform", "--order-key", "hostname"];
    const csv =
      "hostname,platform\r\nlinux-1.example.com,ubuntu\r\nmac-1.example.com,darwin\r\nwin-1.example.com,windows\r\n";
    expect((await fleet.run(argv)).stdout).toBe(csv);
    const path = join(fleet.files, "hosts.csv");
    const written = await fleet.run([...argv, "-o", path]);
    expect(written).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await readFile(path, "utf8")).toBe(csv);

    const breaks: Send = async (url, init) => {
      const reply = await sendInto(fleet.app)(url, init);
      if (!url.includes("/hosts/report")) return reply;
      async function* body() {
        yield new TextEncoder().encode("hostname\r\n");
        throw new Error("the connection broke");
      }
      return { ...reply, status: 200, headers: reply.headers, text: () => reply.text(), body: body() } as never;
    };
    const broken = await fleet.run([...argv, "-o", join(fleet.files, "broken.csv")], { send: breaks });
    expect(broken.exitCode).not.toBe(0);
    expect((await readdir(fleet.files)).filter((name) => name.startsWith("broken"))).toEqual([]);
    const bad = await fleet.run(["hosts", "report", "--columns", "hostnam"]);
    expect(bad.exitCode).toBe(1);
    expect(bad.stderr).toContain("did you mean hostname?");
  });
});

describe("hosts transfer", () => {
  it("moves one host without asking, and several after their number is typed", async () => {
    const lab = (await fleet.app.store.teams.first({ where: { op: "eq", column: "name", value: "Lab" } }))!.id;
    const one = await fleet.run(["hosts", "transfer", "linux-1.example.com", "--to", "Lab"]);
    expect(one).toMatchObject({ exitCode: 0, stdout: "" });
    expect(one.stderr).toContain("moved linux-1.example.com to Lab");
    const two = ["hosts", "transfer", "linux-1.example.com", "win-1.example.com", "--to", "none"];
    expect((await fleet.run(two)).exitCode).toBe(2);
    expect(await teams()).toEqual({ "mac-1": fleet.teamId, "linux-1": lab, "win-1": null });
    const typed = await fleet.run(two, { tty: true, answers: ["2"] });
    expect(typed.exitCode).toBe(0);
    expect(typed.asked[0]).toContain("Move 2 hosts to no team?");
    expect(await teams()).toEqual({ "mac-1": fleet.teamId, "linux-1": null, "win-1": null });
    // Spellings that files of configuration accept, too.
    for (const none of ["No team", "no team", "NONE", "0"]) {
      const { exitCode, stderr } = await fleet.run(["hosts", "transfer", "mac-1.example.com", "--to", none]);
      expect([exitCode, stderr]).toEqual([0, "moved mac-1.example.com to no team\n"]);
      expect((await fleet.run(["hosts", "count", "--team", none])).stdout).toBe("3\n");
    }
  });

  it("moves hosts that filters select, and reports them in a dry run", async () => {
    const where = ["hosts", "transfer", "--where", "platform != windows", "--to", "Lab"];
    const dry = await fleet.run([...where, "--dry-run", "-o", "json"]);
    expect(JSON.parse(dry.stdout)).toMatchObject({
      dry_run: true,
      action: "move 2 hosts to Lab",
      target: [{ id: 1 }, { id: 2 }],
    });
    expect((await fleet.run(where)).exitCode).toBe(2);
    expect((await fleet.run([...where, "--confirm", "3"])).exitCode).toBe(2);
    expect((await teams())["mac-1"]).toBe(fleet.teamId);
    const moved = await fleet.run([...where, "--confirm", "2", "-o", "json"]);
    expect(JSON.parse(moved.stdout)).toMatchObject({ moved: 2 });
    expect(await teams()).toMatchObject({ "win-1": null });
    expect((await teams())["mac-1"]).not.toBe(fleet.teamId);
  });

  it("refuses empty selections, all hosts and contradictory arguments", async () => {
    const transfer = (...argv: string[]) => fleet.run(["hosts", "transfer", ...argv, "--to", "Lab", "--confirm", "3"]);
    expect((await transfer()).exitCode).toBe(2);
    expect((await transfer("--query", "nothing")).exitCode).toBe(3);
    expect((await transfer("1", "--query", "mac")).exitCode).toBe(2);
    expect((await transfer("--query", "example")).stderr).toContain("--all-hosts");
    expect((await fleet.run(["hosts", "transfer", "1", "--to", "Nowhere"])).exitCode).toBe(3);
    expect((await fleet.run(["hosts", "transfer", "1"])).exitCode).toBe(2);
    expect((await transfer("--all-hosts")).exitCode).toBe(0);
  });
});

describe("hosts list --watch", () => {
  it("prints a line for each host that is added, changed or removed", async () => {
    const { app } = fleet;
    let looks = 0;
    const send: Send = async (url, init) => {
      if (/\/hosts\?/.test(url)) {
        looks++;
        if (looks === 2) {
          await app.store.hosts.update({ where: { op: "eq", column: "id", value: 1 }, set: { hostname: "renamed" } });
          await app.store.hosts.update({
            where: { op: "eq", column: "id", value: 2 },
            set: { uptime: 9, updated_at: app.clock.iso() },
          });
          await app.store.hosts.delete({ op: "eq", column: "id", value: 3 });
          await makeHost(app, { hostname: "new" });
        }
      }
      return sendInto(app)(url, init);
    };
    const { stdout, waits, exitCode } = await fleet.run(
      ["hosts", "list", "--watch", "--times", "3", "--interval", "10s"],
      { send },
    );
    expect(exitCode).toBe(0);
    expect(waits).toEqual([10_000, 10_000]);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ change, host }) => `${change} ${host.hostname}`)).toEqual([
      "added mac-1.example.com",
      "added linux-1.example.com",
      "added win-1.example.com",
      "changed renamed",
      "added new",
      "removed win-1.example.com",
    ]);
  });

  it("repaints the table on a terminal, and continues while the server is unreachable", async () => {
    let looks = 0;
    const send: Send = (url, init) => {
      if (/\/hosts\?/.test(url) && ++looks === 2)
        throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      return sendInto(fleet.app)(url, init);
    };
    const { stdout, stderr, exitCode } = await fleet.run(["hosts", "list", "--watch", "--times", "3"], {
      send,
      tty: { stdout: true },
    });
    expect(exitCode).toBe(0);
    // All three pictures are painted in place on one alternate screen; what was above on the terminal stays.
    expect(stdout.match(/\?1049h/g)).toHaveLength(1);
    expect(stdout.split("\u001b[H").length - 1).toBe(3);
    expect(stdout).not.toContain("\u001b[3J");
    expect(stdout).toContain("retrying");
    expect(stderr).toBe("");
    // The last picture remains on the terminal.
    expect(stdout.split("?1049l")[1]).toMatch(/HOST.*\n.*mac-1\.example\.com/);
    expect((await fleet.run(["hosts", "list", "--watch", "-o", "csv"])).exitCode).toBe(2);
    expect((await fleet.run(["hosts", "list", "--watch", "--fields", "hostnam"])).exitCode).toBe(2);
  });

  it("shows the selected fields, the header above as many rows as fit, and the total", async () => {
    for (let number = 0; number < 40; number++) await makeHost(fleet.app, {});
    const argv = ["hosts", "list", "--watch", "--times", "1", "--fields", "hostname,status"];
    const { stdout } = await fleet.run([...argv, "--no-color"], { tty: true });
    const picture = stdout.split("\u001b[H")[1]!.split("\u001b[K");
    expect(picture[0]).toMatch(/^HOSTNAME +STATUS$/);
    expect(picture.length).toBeLessThanOrEqual(31);
    expect(stdout).toContain("first 27 of 43 shown; 43 hosts");
    const lines = (await fleet.run([...argv, "--limit", "1"])).stdout.trim().split("\n");
    expect(lines.map((line) => Object.keys(JSON.parse(line).host))).toEqual([["hostname", "status"]]);
  });

  it("has flags that can only be used together with it", async () => {
    expect((await fleet.run(["hosts", "list", "--interval", "5s"])).exitCode).toBe(2);
  });
});
