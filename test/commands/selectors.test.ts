import { beforeEach, expect, it } from "vitest";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { makeLabel } from "../support/make.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet();
});

it("selectors check counts the hosts of a selector", async () => {
  const all = (await fleet.run(["hosts", "count"])).stdout.trim();
  expect(await fleet.run(["selectors", "check", "not status = new or status = new"])).toMatchObject({
    stdout: `${all} hosts\n`,
    exitCode: 0,
  });
  const { stdout } = await fleet.run(["selectors", "check", "platform = nothing", "-o", "json"]);
  expect(JSON.parse(stdout)).toMatchObject({ valid: true, error: null, count: 0 });
});

it("selectors check points at what is wrong", async () => {
  const { stdout, stderr, exitCode } = await fleet.run(["selectors", "check", "platform = darwin and statsu = new"]);
  expect([stdout, exitCode]).toEqual(["", 1]);
  expect(stderr).toContain('column 23: there is no field "statsu"; did you mean "status"?');
  expect(stderr).toMatch(/platform = darwin and statsu = new\n {22,}\^{6}/);
});

it("selectors check lists what can stand at the cursor", async () => {
  const { stdout } = await fleet.run(["selectors", "check", "status = o", "--cursor", "10", "--no-color"]);
  expect(stdout).toMatch(/online +value/);
  expect(stdout).toMatch(/offline +value/);
});

it("hosts facets counts by each field", async () => {
  const { stdout, exitCode } = await fleet.run(["hosts", "facets", "--by", "status,team", "-o", "csv"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^by,value,hosts\nstatus,online,\d+\nstatus,offline,\d+\n/);
  expect((await fleet.run(["hosts", "facets", "--by", "colour"])).exitCode).not.toBe(0);
});

it("hosts list prints parts that the fields name, such as labels, without other flags", async () => {
  const host = (await fleet.app.store.hosts.first({}))!;
  await makeLabel(fleet.app, "Borrowed", [host.id]);
  const { stdout } = await fleet.run(["hosts", "list", "--fields", "id,labels.name", "-o", "ndjson"]);
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(rows.find(({ id }) => id === host.id)).toEqual({ id: host.id, "labels.name": ["Borrowed"] });
  const table = await fleet.run(["hosts", "list", "--template", "{id} {display_name}"]);
  expect(table.stdout).toContain(`${host.id} ${host.display_name}`);
});
