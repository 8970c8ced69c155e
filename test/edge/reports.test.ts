import { describe, expect, it } from "vitest";
import { recountSoftware } from "../../src/server/software/software/counts.ts";
import { type Caller, startApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeHost, makeInventory, makeLabel, makePolicy, makeSoftware, makeTeam, makeUser } from "../support/make.ts";

const rowsOf = async (by: Pick<Caller, "get">, path: string): Promise<string[]> => {
  const res = await by.get(path);
  const text = await res.text();
  expect(res.status, text).toBe(200);
  expect(res.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(text.endsWith("\r\n")).toBe(true);
  return text.trimEnd().split("\r\n");
};
const paths = [
  "/software/titles/report",
  "/software/versions/report",
  "/vulnerabilities/report",
  "/global/policies/report",
  "/users/report",
  "/labels/report",
  "/queries/report",
];

describe.each(bothEngines)("reports of lists on %s", (engine) => {
  it("have all rows, with the fields of the list", async () => {
    const t = await startApp({ engine });
    const now = t.clock.iso();
    const label = { created_at: now, updated_at: now, label_type: "regular", label_membership_type: "manual" } as const;
    const many = Array.from({ length: 1100 }, (_, n) => ({ ...label, name: `label ${String(n).padStart(4, "0")}` }));
    await t.store.labels.insertMany(many);
    const rows = await rowsOf(t, "/labels/report?columns=name,label_type&order_key=name&order_direction=desc");
    expect(rows[0]).toBe("name,label_type");
    const names = rows.slice(1).map((row) => row.split(",")[0]!);
    expect(names.filter((name) => name.startsWith("label "))).toEqual(many.map(({ name }) => name).reverse());
    const { labels } = (await (await t.get("/labels")).json()) as { labels: unknown[] };
    expect(names).toHaveLength(labels.length);
    for (const path of paths) {
      const [columns] = await rowsOf(t, `${path}?format=csv`);
      expect(columns?.split(",").length, path).toBeGreaterThan(4);
    }
  });

  it("take the filters of the list, and guard what spreadsheets would run", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Red");
    const host = await makeHost(t, { team_id: team.id });
    const other = await makeHost(t, {});
    await makeInventory(t, host.id, [
      await makeSoftware(t, "=cmd()", "1.0"),
      await makeSoftware(t, "Safe, app", "2.0"),
    ]);
    await makeInventory(t, other.id, [await makeSoftware(t, "Elsewhere", "1.0")]);
    await recountSoftware(t.services, AbortSignal.timeout(60_000));
    const titles = `/software/titles/report?order_key=name&columns=name,hosts_count`;
    expect(await rowsOf(t, titles)).toEqual(["name,hosts_count", "'=cmd(),1", "Elsewhere,1", '"Safe, app",1']);
    expect(await rowsOf(t, `${titles}&team_id=${team.id}`)).toEqual(["name,hosts_count", "'=cmd(),1", '"Safe, app",1']);
    expect(await rowsOf(t, "/software/versions/report?query=safe&columns=name,version")).toEqual([
      "name,version",
      '"Safe, app",2.0',
    ]);
    await makePolicy(t, { name: "global", query: "SELECT 1" });
    await makePolicy(t, { name: "red", team_id: team.id });
    expect(await rowsOf(t, "/global/policies/report?columns=name,query")).toEqual(["name,query", "global,SELECT 1"]);
    expect(await rowsOf(t, `/teams/${team.id}/policies/report?columns=name`)).toEqual(["name", "red"]);
    expect(await rowsOf(t, `/teams/${team.id}/policies/report?columns=name&merge_inherited=true`)).toHaveLength(3);
    await makeUser(t, { teams: [{ id: team.id, role: "observer" }] }, { name: "-Zoe", email: "zoe@example.com" });
    expect(await rowsOf(t, "/users/report?query=zoe&columns=name,email")).toEqual([
      "name,email",
      "'-Zoe,zoe@example.com",
    ]);
  });

  it("show each role what its list shows", async () => {
    const t = await startApp({ engine });
    const [red, blue] = [await makeTeam(t, "Red"), await makeTeam(t, "Blue")];
    await makePolicy(t, { name: "blue", team_id: blue.id });
    await makeLabel(t, "shared");
    for (const role of ["observer", "gitops", "plan"] as const) {
      const user = await makeUser(t, role, { api_only: true });
      const member = await makeUser(t, { teams: [{ id: red.id, role }] }, { api_only: true });
      for (const path of paths)
        for (const by of [user, member]) {
          const list = path.replace(/\/report$/, "");
          expect((await by.get(path)).status, `${role} ${path}`).toBe((await by.get(list)).status);
        }
      expect((await member.get(`/teams/${blue.id}/policies/report`)).status, role).not.toBe(200);
    }
    expect((await t.as(null).get("/users/report")).status).toBe(401);
  });

  it("refuse unknown columns and parameters", async () => {
    const t = await startApp({ engine });
    const res = await t.get("/users/report?columns=name,emial");
    expect([res.status, await res.text()]).toEqual([400, expect.stringContaining("did you mean email?")]);
    expect((await t.get("/users/report?page=1")).status).toBe(400);
    expect((await t.get("/users/report?format=xml")).status).toBe(400);
    expect((await t.get("/teams/99/policies/report")).status).toBe(404);
  });
});
