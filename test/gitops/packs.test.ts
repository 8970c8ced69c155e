// Packs: those of osquery as they are published, documents of the kinds pack and options, and scripts with a byte order mark.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { applyIn, gitops, planIn, writeAll } from "../support/gitops-cli.ts";
import { errorsOf, readGiven, warningsOf } from "../support/gitops-files.ts";

const published = `// Published by someone
{
  /* For Macs */
\t"platform": "darwin",
  "version": "4.9.0",
  "shard": 10,
  "discovery": [
    "SELECT pid FROM processes WHERE name = 'foobar';",
    "SELECT 1 FROM users WHERE username LIKE 'www%'"
  ],
  "queries": {
    "agents": {
      "query" : "SELECT * FROM launchd \\
        WHERE path LIKE '%//x$HOME%' AND name = 'a b';",
      "interval" : "28800",
      "description" : "Agents, \\"quoted\\"",
      "value" : "Known artifacts"
    },
    # A comment of another kind
    "sockets": { "query": "SELECT * FROM process_open_sockets;", "interval": 60, "platform": "posix", "version": "1.4.5", "snapshot": true },
    "removed": { "query": "SELECT 1", "removed": false, "platform": "any", "denylist": false }
  }
}
`;
const agents = "SELECT * FROM launchd         WHERE path LIKE '%//x$HOME%' AND name = 'a b'";
const label = "it (discovery)";
const queriesOf = async ({ store }: TestApp) =>
  Object.fromEntries((await store.queries.list()).map((row) => [row.name, row]));

describe.each(rulesEngines)("packs of osquery on %s", (engine) => {
  it("apply as they are, as files of their own", async () => {
    const app = await startApp({ engine });
    const dir = await writeAll(new Map([["it.conf", published]]));
    const argv = ["-f", join(dir, "it.conf")];
    const applied = await gitops(app, ["apply", ...argv, "--yes"]);
    expect(applied.exitCode, applied.stderr).toBe(0);
    expect(applied.stderr).toMatch(/it\.conf:6:3: shard is ignored/);
    expect(applied.stderr).toMatch(/it\.conf:21:76: denylist is ignored/);
    const rows = await queriesOf(app);
    expect(rows["it/agents"]).toMatchObject({
      query: agents,
      interval: 28_800,
      description: 'Agents, "quoted"\nKnown artifacts',
      platform: "darwin",
      min_qengine_version: "4.9.0",
      logging: "differential",
      automations_enabled: true,
    });
    expect(rows["it/sockets"]).toMatchObject({
      query: "SELECT * FROM process_open_sockets",
      interval: 60,
      platform: "darwin,linux",
      min_qengine_version: "1.4.5",
      logging: "snapshot",
    });
    expect(rows["it/removed"]).toMatchObject({ interval: 3600, platform: "", logging: "differential_ignore_removals" });
    const made = (await app.store.labels.list()).find(({ name }) => name === label)!;
    expect(made.query).toBe(
      "SELECT 1 WHERE EXISTS (SELECT pid FROM processes WHERE name = 'foobar') AND EXISTS (SELECT 1 FROM users WHERE username LIKE 'www%')",
    );
    expect(await app.store.queryLabels.count()).toBe(3);
    expect((await gitops(app, ["plan", ...argv])).stdout).toMatch(/^No changes/);
  });

  it("can be included in lists of queries", async () => {
    const app = await startApp({ engine });
    const plain = `{"queries": {"users": {"query": "SELECT * FROM users", "interval": 600}}}`;
    const files = new Map([
      ["default.yml", "org_settings: {}\nreports:\n  - path: lib/it.conf\n  - name: Other\n    query: SELECT 1\n"],
      ["teams/a.yml", "name: A\nreports:\n  - paths: ../lib/*.pack.conf\n"],
      ["lib/it.conf", published],
      ["lib/b.pack.conf", plain],
    ]);
    const dir = await writeAll(files);
    await applyIn(app, dir);
    expect(Object.keys(await queriesOf(app)).sort()).toEqual([
      "Other",
      "b.pack/users",
      "it/agents",
      "it/removed",
      "it/sockets",
    ]);
    expect(await planIn(app, dir)).toEqual([]);
  });

  it("and documents of the kinds pack and options are applied in one transaction", async () => {
    const app = await startApp({ engine });
    const documents = (interval: number, more = "") => `apiVersion: v1
kind: pack
spec:
  id: 3
  name: Monitoring
  targets: {labels: [All Hosts]}
  queries:
    - {query: Users, interval: ${interval}, snapshot: true, platform: darwin}
${more}---
apiVersion: v1
kind: query
spec: {name: Users, query: SELECT * FROM users}
---
apiVersion: v1
kind: options
spec:
  config:
    options: {distributed_interval: 17}
`;
    const dir = await writeAll(new Map([["all.yml", documents(60)]]));
    const argv = ["-f", join(dir, "all.yml")];
    const plan = await gitops(app, ["plan", ...argv]);
    expect(plan.stdout).toContain('+ pack "Monitoring"');
    const applied = await gitops(app, ["apply", ...argv, "--yes"]);
    expect(applied.exitCode, applied.stderr).toBe(0);
    const { specs } = (await (await app.get("/spec/packs")).json()) as { specs: object[] };
    expect(specs).toMatchObject([
      {
        name: "Monitoring",
        targets: { labels: ["All Hosts"], teams: [] },
        queries: [{ query: "Users", name: "Users", interval: 60, snapshot: true, removed: true, platform: "darwin" }],
      },
    ]);
    const { agent_options } = (await (await app.get("/config")).json()) as { agent_options: { config: object } };
    expect(agent_options.config).toMatchObject({ options: { distributed_interval: 17 } });
    expect((await gitops(app, ["plan", ...argv])).stdout).toMatch(/^No changes/);
    const changed = await writeAll(new Map([["all.yml", documents(90, "    - {query: Nothing, interval: 1}\n")]]));
    const refused = await gitops(app, ["apply", "-f", join(changed, "all.yml"), "--yes"]);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain("Nothing");
    expect((await app.store.scheduledQueries.list()).map(({ interval }) => interval)).toEqual([60]);
    // Files of the newer format leave packs as they are.
    await applyIn(
      app,
      await writeAll(
        new Map([["default.yml", "org_settings: {}\nreports: [{name: Users, query: SELECT * FROM users}]\n"]]),
      ),
    );
    expect(await app.store.packs.count()).toBe(1);
  });
});

describe("files", () => {
  it("with a byte order mark are read, and scripts lose it", async () => {
    const script = "\ufeff#!/bin/sh\necho ok\n";
    const read = await readGiven(
      {
        "default.yml": `\ufefforg_settings: {}\ncontrols:\n  scripts:\n    - path: lib/a.sh\n    - path: lib/b.ps1\n  setup_experience: {macos_script: lib/a.sh}\n`,
        "a.yml":
          "name: A\nsoftware:\n  packages:\n    - url: https://x.example.com/a.pkg\n      install_script: {path: lib/a.sh}\n    - path: lib/c.sh\n",
        "lib/a.sh": script,
        "lib/c.sh": script,
        "lib/b.ps1": "\ufeffWrite-Host ok\n",
      },
      {},
      ["default.yml", "a.yml"],
    );
    expect(errorsOf(read.problems)).toEqual([]);
    expect(warningsOf(read.problems)).toEqual([
      "default.yml:4:13: a.sh begins with a byte order mark, which is left out: hosts could not run the script",
      "default.yml:6:36: a.sh begins with a byte order mark, which is left out: hosts could not run the script",
      "a.yml:5:30: a.sh begins with a byte order mark, which is left out: hosts could not run the script",
      "a.yml:6:13: c.sh begins with a byte order mark, which is left out: hosts could not run the script",
    ]);
    const texts = [...read.contents.values()].map(String);
    expect(texts.filter((text) => text.includes("\ufeff"))).toEqual(["\ufeffWrite-Host ok\n"]);
  });

  it("that are no packs are refused at their place", async () => {
    const errors = async (text: string) => errorsOf((await readGiven({ "x.conf": text })).problems);
    expect(await errors('{"options": {}, "schedule": {}}')).toEqual([
      "x.conf:1:1: this is a configuration of osquery, not a pack: give its packs as files of their own, with queries",
    ]);
    expect(await errors("[1]")).toEqual(["x.conf:1:1: a pack of osquery must be an object with queries"]);
    expect(await errors('{"queries": {"a": {"interval": 60}}}')).toEqual(["x.conf:1:14: spec.query: is required"]);
    expect(await errors('{"queries": {\n  "a": {"query": "SELECT 1", "interval": "often"}}}')).toEqual([
      "x.conf:2:30: spec.interval: expected number, got string",
    ]);
    expect(await errors('{"queries": {"a": {"query": 1}, "a": {"query": "SELECT 1"}}}')).toHaveLength(2);
    expect((await errors('{"queries": {'))[0]).toMatch(/^x\.conf:1:/);
    const team = { "a.yml": "name: A\nreports: [{path: lib/x.conf}]\n", "lib/x.conf": published };
    expect(errorsOf((await readGiven(team, {}, ["a.yml"])).problems)).toEqual([
      "lib/x.conf:7:3: packs with discovery must be in the global file: it becomes a label, which is for all teams",
    ]);
  });
});
