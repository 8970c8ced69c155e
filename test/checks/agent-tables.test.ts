import { describe, expect, it } from "vitest";
import { tablesFor } from "../../src/agent/tables/all.ts";
import type { AgentTable } from "../../src/api/checks/agent-tables.ts";
import { agentTables } from "../../src/server/checks/agent-tables/service.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { startFleet } from "../support/fleet.ts";
import { makeUser } from "../support/make.ts";

const list = async (t: Pick<TestApp, "get">, parameters = ""): Promise<AgentTable[]> =>
  ((await (await t.get(`/tables${parameters}`)).json()) as { tables: AgentTable[] }).tables;

describe("the list of tables", () => {
  it("has each name once, in order, and each column once", () => {
    const names = agentTables().map(({ name }) => name);
    expect(names).toEqual([...new Set(names)].sort());
    expect(names.length).toBeGreaterThan(200);
    for (const { name, platforms, columns } of agentTables()) {
      expect(platforms.length, name).toBeGreaterThan(0);
      expect(new Set(columns.map((column) => column.name)).size, name).toBe(columns.length);
    }
  });

  it("has what the agent has", () => {
    const byName = new Map(agentTables().map((table) => [table.name, table]));
    for (const [node, platform] of [
      ["darwin", "darwin"],
      ["linux", "linux"],
      ["win32", "windows"],
    ] as const) {
      const tables = tablesFor(node);
      expect(agentTables().flatMap(({ name, agent_platforms: on }) => (on.includes(platform) ? name : []))).toEqual(
        [...tables.keys()].sort(),
      );
      for (const [name, { columns }] of tables) {
        const types = new Map(byName.get(name)!.columns.map((column) => [column.name, column.type]));
        expect(
          Object.entries(columns).filter(([column, type]) => types.get(column) !== type),
          name,
        ).toEqual([]);
      }
    }
  });
});

describe.each(bothEngines)("GET /tables on %s", (engine) => {
  it("lists tables by platform and text, for every user", async () => {
    const t = await startApp({ engine });
    const all = await list(t);
    expect(all.find(({ name }) => name === "windows_eventlog")).toMatchObject({
      platforms: ["windows"],
      agent_platforms: [],
      evented: false,
      columns: expect.arrayContaining([
        { name: "channel", type: "TEXT", required: true, hidden: false },
        { name: "pid", type: "INTEGER", required: false, hidden: false },
      ]),
    });
    const mac = (await list(t, "?platform=darwin")).map(({ name }) => name);
    expect(mac).toContain("launchd");
    expect(mac).not.toContain("services");
    expect((await list(t, "?query=Process_Events")).map(({ name }) => name)).toEqual([
      "bpf_process_events",
      "es_process_events",
      "process_events",
    ]);
    const reader = await makeUser(t, "gitops", { api_only: true });
    const res = await reader.get("/tables");
    expect([res.status, res.headers.get("cache-control")]).toEqual([200, "private, max-age=3600"]);
    expect((await t.get("/tables?platform=amiga")).status).toBe(400);
    expect((await t.as(null).get("/tables")).status).toBe(401);
  });
});

it("svc queries tables lists them", async () => {
  const fleet = await startFleet();
  const { stdout, exitCode } = await fleet.run(["queries", "tables", "--query", "launchd_overrides"]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/launchd_overrides\s+darwin\s+label, key, value, uid, path/);
});
