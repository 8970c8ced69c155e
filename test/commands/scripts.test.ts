// svc scripts run and result, with the real app: how a saved script is found, and how outputs are shown.
import { beforeEach, describe, expect, it } from "vitest";
import { sendInto } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { type ManagedAgent, makeManaged } from "../support/managed.ts";

let fleet: Fleet;
let agent: ManagedAgent;
beforeEach(async () => {
  fleet = await startFleet();
  agent = await makeManaged(fleet.app, { hostname: "box-1", computer_name: "box-1" });
});

async function save(name: string, team_id?: number): Promise<void> {
  const form = new FormData();
  if (team_id !== undefined) form.set("team_id", String(team_id));
  form.set("script", new File(["#!/bin/sh\necho hello\n"], name));
  expect((await fleet.app.post("/scripts", form)).status).toBe(200);
}
const toTeam = async (one: ManagedAgent) =>
  fleet.app.post("/hosts/transfer", { team_id: fleet.teamId, hosts: [(await one.host()).id] });

/** The agents run what is pending when the command looks at a result. */
const answering = (agents: readonly ManagedAgent[], output: string, exit = 0) => {
  const send = sendInto(fleet.app);
  return async (...[url, init]: Parameters<typeof send>) => {
    if (init.method === "GET" && url.includes("/scripts/results/"))
      for (const one of agents) if ((await one.pending()).length > 0) await one.runScript(exit, output);
    return send(url, init);
  };
};

describe("scripts run --script", () => {
  it("finds a script of the host's team without --team", async () => {
    await save("cleanup.sh", fleet.teamId);
    await toTeam(agent);
    const send = answering([agent], "done");
    const { exitCode, stderr } = await fleet.run(["scripts", "run", "box-1", "--script", "cleanup.sh", "--wait"], {
      send,
    });
    expect([exitCode, stderr]).toEqual([0, ""]);
  });

  it("runs on hosts of several teams the script that each team has by this name", async () => {
    await save("cleanup.sh");
    await save("cleanup.sh", fleet.teamId);
    const other = await makeManaged(fleet.app, { hostname: "box-2", computer_name: "box-2" });
    await toTeam(other);
    const argv = ["scripts", "run", "box-1", "box-2", "--script", "cleanup.sh", "--wait", "-o", "json"];
    const { exitCode, stdout } = await fleet.run(argv, { send: answering([agent, other], "done") });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { host: "box-1", exit_code: 0 },
      { host: "box-2", exit_code: 0 },
    ]);
  });

  it("runs on the hosts that --where selects, after their number was confirmed", async () => {
    await save("cleanup.sh");
    const other = await makeManaged(fleet.app, { hostname: "box-2", computer_name: "box-2" });
    const argv = ["scripts", "run", "--where", "hostname ~ box", "--script", "cleanup.sh", "-o", "json"];
    const silent = await fleet.run(argv);
    expect([silent.exitCode, silent.stderr]).toEqual([2, expect.stringContaining("--confirm 2")]);
    expect(silent.stderr).toContain("  box-1 (");
    for (const one of [agent, other]) expect(await one.pending()).toHaveLength(0);
    const { exitCode, stdout } = await fleet.run([...argv, "--confirm", "2"]);
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, [{ host: "box-1" }, { host: "box-2" }]]);
    for (const one of [agent, other]) expect(await one.pending()).toHaveLength(1);
    await save("other.sh");
    const one = ["scripts", "run", "--where", "hostname = box-1", "--script", "other.sh"];
    expect((await fleet.run(one)).exitCode).toBe(0);
  });

  it("does not find an unknown name: exit 3, with the nearest name and the list to look at", async () => {
    await save("cleanup.sh", fleet.teamId);
    await toTeam(agent);
    const wrong = await fleet.run(["scripts", "run", "box-1", "--script", "clenup.sh"]);
    expect(wrong.exitCode).toBe(3);
    expect(wrong.stderr).toContain("no script clenup.sh of team Workstations; did you mean cleanup.sh?");
    expect(wrong.stderr).toContain("svc scripts list --team Workstations");
    const other = await fleet.run(["scripts", "run", "box-1", "--script", "cleanup.sh", "--team", "none"]);
    expect(other.exitCode).toBe(3);
    expect(other.stderr).toContain("for hosts without a team");
    expect(await fleet.app.store.scriptExecutions.count()).toBe(0);
  });
});

describe("output of scripts", () => {
  const OUTPUT = `first line\n${"x".repeat(150)}\nlast \u001b[31mline`;

  it("is shown for one host with its line breaks, whole, and escaped", async () => {
    await save("tidy.sh");
    const send = answering([agent], OUTPUT);
    const argv = ["scripts", "run", "box-1", "--script", "tidy.sh", "--wait"];
    const { stdout } = await fleet.run(argv, { send, tty: { stdout: true }, columns: 80 });
    expect(stdout).toContain(`first line\n${"x".repeat(150)}\nlast \\u001b[31mline\n`);
    expect(stdout).toMatch(/^exit code +0$/m);
    const { uuid } = (await fleet.app.store.scriptExecutions.first({}))!;
    const result = await fleet.run(["scripts", "result", uuid], { tty: { stdout: true }, columns: 80 });
    expect(result.stdout).toContain(`first line\n${"x".repeat(150)}\nlast \\u001b[31mline\n`);
  });

  it("stays in one cell of the table for several hosts, and as it was for programs", async () => {
    await save("tidy.sh");
    const other = await makeManaged(fleet.app, { hostname: "box-2", computer_name: "box-2" });
    const argv = ["scripts", "run", "box-1", "box-2", "--script", "tidy.sh", "--wait"];
    const { stdout } = await fleet.run(argv, { send: answering([agent, other], "one\ntwo") });
    expect(stdout).toMatch(/^box-1 +0 +one two/m);
    expect(stdout).toMatch(/^box-2 +0 +one two/m);
    const one = ["scripts", "run", "box-1", "--script", "tidy.sh", "--wait"];
    const json = await fleet.run([...one, "-o", "json"], { send: answering([agent], "one\ntwo") });
    expect(JSON.parse(json.stdout)).toMatchObject([{ host: "box-1", output: "one\ntwo" }]);
    const csv = await fleet.run([...one, "-o", "csv"], { send: answering([agent], "one\ntwo") });
    expect(csv.stdout).toMatch(/^host,exit_code,message,output,execution_id\n/);
  });
});
