// What plans say of hosts that lose their team, and of objects that the files give another name.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { applyIn, gitops, mainFiles, writeAll } from "../support/gitops-cli.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";

const empty = new Map([["default.yml", "org_settings: {}\n"]]);

async function teamOf(app: TestApp, name: string, hosts: number): Promise<number> {
  const { id } = await makeTeam(app, name);
  for (let i = 0; i < hosts; i++)
    await makeHost(app, { team_id: id, display_name: `${name}-${String(i).padStart(2, "0")}` });
  return id;
}

describe.each(rulesEngines)("plans on %s", (engine) => {
  it("show the hosts that lose their team, and need to be allowed for many of them", async () => {
    const app = await startApp({ engine });
    await teamOf(app, "Big", 21);
    await teamOf(app, "Small", 1);
    await teamOf(app, "Empty", 0);
    await teamOf(app, "Kept", 3);
    const dir = await writeAll(new Map([...empty, ["teams/kept.yml", "name: Kept\n"]]));
    const files = [...(await mainFiles(dir)), "--delete-other-teams"];
    const plan = await gitops(app, ["plan", ...files]);
    const named = Array.from({ length: 10 }, (_, i) => `Big-0${i}`).join(", ");
    expect(plan.stdout).toContain(`- team "Big"\n    21 hosts lose their team: ${named} and 11 more\n`);
    expect(plan.stdout).toContain('- team "Small"\n    1 host loses its team: Small-00\n');
    expect(plan.stdout).toMatch(/- team "Empty"\n[^ ]/);
    expect(plan.stderr).toContain("the plan deletes the teams of 22 hosts, more than 20");
    const markdown = await gitops(app, ["plan", ...files, "--markdown"]);
    expect(markdown.stdout).toContain('- `team "Big"`: hosts that lose their team: 21\n');
    const { stdout } = await gitops(app, ["plan", ...files, "-o", "json"]);
    const small = JSON.parse(stdout).changes.find(({ name }: { name: string }) => name === "Small");
    expect(small.hosts).toEqual({ count: 1, names: ["Small-00"] });

    // Without the flag nothing is deleted, and without the right to list hosts they are only counted.
    expect((await gitops(app, ["plan", ...(await mainFiles(dir))])).stdout).not.toContain("lose");
    const { token } = await makeUser(app, "gitops", { api_only: true });
    const counted = await gitops(app, ["plan", ...files], { env: { SVC_API_TOKEN: token } });
    expect(counted.stdout).toContain('- team "Big"\n    21 hosts lose their team\n');

    const out = join(dir, "plan.json");
    expect((await gitops(app, ["plan", ...files, "--out", out])).exitCode).toBe(0);
    for (const argv of [
      ["apply", ...files, "--yes"],
      ["apply", out, "--yes"],
    ]) {
      const refused = await gitops(app, argv);
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toContain("the plan deletes the teams of 22 hosts, more than 20");
    }
    expect(await app.store.teams.count()).toBe(4);
    expect((await gitops(app, ["apply", ...files, "--yes", "--max-deletes", "22"])).exitCode).toBe(0);
    expect(await app.store.teams.count()).toBe(1);
  });

  it("say what is lost if a policy, query or label only has another name", async () => {
    const app = await startApp({ engine });
    const files = (policy: string, query: string, label: string, sql = "SELECT 1") =>
      writeAll(
        new Map([
          [
            "default.yml",
            `org_settings: {}
policies: [{name: ${policy}, query: ${sql}}, {name: Other, query: SELECT 2}]
reports: [{name: ${query}, query: SELECT 3}]
labels: [{name: ${label}, query: SELECT 4}, {name: By hand, label_membership_type: manual, hosts: []}]
`,
          ],
        ]),
      );
    await applyIn(app, await files("Disk", "Users", "Berlin"));
    const dir = await files("Disks", "Accounts", "Munich");
    const { stdout } = await gitops(app, ["plan", ...(await mainFiles(dir))]);
    expect(stdout).toMatch(
      /\+ policy "Disks"\n {4}# policy "Disk" with the same SQL is removed, and the results of its hosts are lost\. .*: svc policies update "Disk" --name "Disks"\n/,
    );
    expect(stdout).toMatch(/\+ query "Accounts"\n {4}# query "Users" .* its report is lost.*svc queries update/);
    expect(stdout).toMatch(/\+ label "Munich"\n {4}# label "Berlin" .*svc labels update/);
    expect(stdout.match(/ {4}# /g)?.length).toBe(3);
    // The command does what the note says, and then nothing is lost.
    expect((await gitops(app, ["policies", "update", "Disk", "--name", "Disks"])).exitCode).toBe(0);
    expect((await gitops(app, ["queries", "update", "Users", "--name", "Accounts"])).exitCode).toBe(0);
    expect((await gitops(app, ["labels", "update", "Berlin", "--name", "Munich"])).exitCode).toBe(0);
    expect((await gitops(app, ["plan", ...(await mainFiles(dir))])).stdout).toMatch(/^No changes/);
    // Another query is another policy.
    const other = await files("Disk", "Accounts", "Munich", "SELECT 5");
    expect((await gitops(app, ["plan", ...(await mainFiles(other))])).stdout).not.toContain("    # ");
    const out = join(dir, "plan.json");
    const back = await files("Disk", "Users", "Berlin");
    await gitops(app, ["plan", ...(await mainFiles(back)), "--out", out]);
    expect(await readFile(out, "utf8")).toContain("the results of its hosts are lost");
    expect((await gitops(app, ["apply", out, "--dry-run"])).stdout).toContain("the results of its hosts are lost");
  });
});
