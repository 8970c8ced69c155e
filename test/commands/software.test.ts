// How commands name software titles.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { eq } from "../../src/server/platform/store/query.ts";
import { softwareCounts } from "../../src/server/software/software/counts.ts";
import { newHome } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { formOf } from "../support/forms.ts";
import { makeHost, makeInventory, makeSoftware, makeVulnerabilities } from "../support/make.ts";
import { makeManaged } from "../support/managed.ts";

let fleet: Fleet;
let team: number;
beforeEach(async () => {
  fleet = await startFleet();
  const made = await fleet.app.post("/teams", { name: "Bench" });
  team = ((await made.json()) as { team: { id: number } }).team.id;
});

async function offer(fileName: string, team_id: number): Promise<number> {
  const software = new File([`#!/bin/sh\necho ${fileName}\n`], fileName);
  const res = await fleet.app.post("/software/package", formOf({ software, team_id: String(team_id) }));
  return ((await res.json()) as { software_package: { title_id: number } }).software_package.title_id;
}

describe("vulnerabilities of a title", () => {
  it("are listed once each, as text in tables and CSV", async () => {
    const versions = [await makeSoftware(fleet.app, "Chat", "1.0"), await makeSoftware(fleet.app, "Chat", "2.0")];
    const known = { cvss_score: 9.8 };
    for (const version of versions) {
      const { id } = version;
      await makeVulnerabilities(fleet.app, { software: id, cves: ["CVE-2026-11111", "CVE-2026-22222"], known });
      const host = await makeHost(fleet.app, { hostname: `chat-${id}.example.com` });
      await makeInventory(fleet.app, host.id, [version]);
    }
    await fleet.app.services.running.of(softwareCounts).flush();
    const list = (...argv: string[]) => fleet.run(["software", "list", "--query", "Chat", ...argv]);
    const cves = "CVE-2026-11111, CVE-2026-22222";
    expect((await list("--min-cvss-score", "9")).stdout).toMatch(new RegExp(`^[^,]*${cves}\\s*$`));
    expect((await list("-o", "csv")).stdout).toContain(`,"${cves}"\n`);
  });
});

describe("a software title", () => {
  it("is named by its id or its name", async () => {
    const id = await offer("tidy.sh", team);
    await fleet.app.store.vulnerabilityFeeds.insert({
      name: "nvd",
      state: "current",
      imported_at: fleet.app.clock.iso(),
    });
    for (const title of ["tidy", String(id)]) {
      const got = await fleet.run(["software", "get", title, "--team", "Bench", "-o", "json"]);
      expect(got.stderr).toBe("");
      expect([got.exitCode, JSON.parse(got.stdout).id], got.stderr).toEqual([0, id]);
    }
    const changed = await fleet.run(["software", "packages", "update", "tidy", "--team", "Bench", "--self-service"]);
    expect(changed.exitCode, changed.stderr).toBe(0);
    expect(await fleet.app.store.softwareInstallers.list()).toMatchObject([{ title_id: id, self_service: true }]);
    const gone = await fleet.run(["software", "packages", "delete", "tidy", "--team", "Bench", "--yes"]);
    expect(gone.exitCode, gone.stderr).toBe(0);
    expect(await fleet.app.store.softwareInstallers.count()).toBe(0);
  });

  it("is looked for among what the team offers", async () => {
    await offer("tidy.sh", team);
    const { exitCode, stderr } = await fleet.run(["software", "packages", "link", "tidy"]);
    expect(exitCode).toBe(3);
    expect(stderr).toBe(
      "Error: there is no software title tidy\n`svc software list` shows those that hosts have, with `--available-for-install` those that are offered.\n",
    );
    expect((await fleet.run(["software", "packages", "link", "tidy", "--team", "Bench"])).exitCode).toBe(0);
  });

  it("has to be named by its id if several have its name", async () => {
    const [shell, python] = [await offer("tidy.sh", team), await offer("tidy.py", team)];
    const { exitCode, stderr } = await fleet.run(["software", "packages", "link", "tidy", "--team", "Bench"]);
    expect(exitCode).toBe(2);
    for (const text of [`${shell} (sh_packages)`, `${python} (py_packages)`, "Give the id"])
      expect(stderr).toContain(text);
    expect((await fleet.run(["software", "packages", "link", `${python}`, "--team", "Bench"])).exitCode).toBe(0);
  });

  it("has to be named by its id if a host is offered several with its name", async () => {
    const host = await makeHost(fleet.app, { hostname: "bench-1", platform: "ubuntu", team_id: team });
    const [shell, python] = [await offer("tidy.sh", team), await offer("tidy.py", team)];
    const listed = await fleet.run(["hosts", "software", "bench-1", "--available-for-install"]);
    for (const id of [shell, python]) expect(listed.stdout).toMatch(new RegExp(`^${id} +tidy `, "m"));
    const { exitCode, stderr } = await fleet.run(["software", "install", "bench-1", "--title", "tidy"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("several software titles have the name tidy")]);
    expect(await fleet.app.store.operations.count(eq("host_id", host.id))).toBe(0);
  });
});

it("software is installed on the hosts that --where selects, after their number was confirmed", async () => {
  for (const hostname of ["desk-1", "desk-2"])
    await makeManaged(fleet.app, { hostname, computer_name: hostname, hardware_uuid: hostname });
  const title = await offer("tidy.sh", 0);
  const argv = ["software", "install", "--where", "hostname ~ desk", "--title", String(title)];
  const silent = await fleet.run(argv);
  expect([silent.exitCode, silent.stderr]).toEqual([2, expect.stringContaining("--confirm 2")]);
  expect(await fleet.app.store.operations.count()).toBe(0);
  const { exitCode, stdout } = await fleet.run([...argv, "--confirm", "2", "-o", "json"]);
  const installing = { status: "pending_install" };
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, [installing, installing]]);
  expect(await fleet.app.store.operations.count()).toBe(2);
});

it("several problems of one request are told apart", async () => {
  const file = join(await newHome(), "secret");
  await writeFile(file, "s");
  const ids = ["--tenant-id", "a", "--client-id", "b", "--client-secret-file", file];
  const { stderr } = await fleet.run(["directory", "set", ...ids]);
  expect(stderr).toMatch(/^Error: \S+tenant_id: must be a GUID.*; \S+client_id: must be a GUID/);
});
