// Clients read an object, change a field and send everything back: what cannot be changed is accepted as it is, and refused
// if it differs.
import { describe, expect, it } from "vitest";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makePolicy, makeTeam } from "../support/make.ts";

type Fields = Readonly<Record<string, unknown>>;
interface Case {
  readonly path: string;
  readonly change: Fields;
  /** The keys with their values, and another value of each. */
  readonly keys: Readonly<Record<string, readonly [existing: unknown, other: unknown]>>;
}

const madeIn = async <T>(response: Response): Promise<T> => {
  expect(response.status).toBe(200);
  return (await response.json()) as T;
};
const globalQuery = async (t: TestApp) =>
  (await madeIn<{ query: { id: number } }>(await t.post("/queries", { name: "all", query: "SELECT 1", interval: 60 })))
    .query;

const cases: Readonly<Record<string, (t: TestApp, team: number, other: number) => Promise<Case>>> = {
  "an entry of the global schedule": async (t) => {
    const { id } = await globalQuery(t);
    return {
      path: `/global/schedule/${id}`,
      change: { interval: 61 },
      keys: {
        query_id: [id, id + 1],
        pack_id: [null, 1],
        name: ["all", "x"],
        query_name: ["all", "x"],
        query: ["SELECT 1", "SELECT 2"],
      },
    };
  },
  "a scheduled query of a pack": async (t) => {
    const { id: query_id } = await globalQuery(t);
    const { pack } = await madeIn<{ pack: { id: number } }>(await t.post("/packs", { name: "p" }));
    const { scheduled } = await madeIn<{ scheduled: { id: number } }>(
      await t.post("/schedule", { pack_id: pack.id, query_id, interval: 60, snapshot: false, removed: true }),
    );
    return {
      path: `/schedule/${scheduled.id}`,
      change: { interval: 61 },
      keys: {
        pack_id: [pack.id, pack.id + 1],
        query_id: [query_id, query_id + 1],
        query_name: ["all", "x"],
        query: ["SELECT 1", "SELECT 2"],
      },
    };
  },
  "a custom variable": async (t) => ({
    path: `/custom_variables/${(await madeIn<{ id: number }>(await t.post("/custom_variables", { name: "A", value: "v" }))).id}`,
    change: { value: "changed" },
    keys: { name: ["A", "B"] },
  }),
  "a category of self-service": async (t, team, other) => {
    const reply = await madeIn<{ self_service_category: { id: number } }>(
      await t.post("/software/self_service_categories", { name: "c", team_id: team }),
    );
    return {
      path: `/software/self_service_categories/${reply.self_service_category.id}`,
      change: { name: "renamed" },
      keys: { team_id: [team, other] },
    };
  },
  "a policy of a team": async (t, team, other) => ({
    path: `/teams/${team}/policies/${(await makePolicy(t, { scope: "team", team_id: team })).id}`,
    change: { description: "changed" },
    keys: { team_id: [team, other] },
  }),
  "a global policy": async (t, team) => ({
    path: `/global/policies/${(await makePolicy(t, { scope: "global", team_id: null })).id}`,
    change: { description: "changed" },
    keys: { team_id: [null, team] },
  }),
  "a label": async (t, team) => {
    const { label } = await madeIn<{ label: { id: number } }>(
      await t.post("/labels", { name: "l", query: "SELECT 1" }),
    );
    return {
      path: `/labels/${label.id}`,
      change: { description: "changed" },
      keys: { team_id: [null, team], label_type: ["regular", "builtin"] },
    };
  },
};

describe.each(rulesEngines)("keys that cannot be changed, on %s", (engine) => {
  for (const [what, make] of Object.entries(cases))
    it(`of ${what} are accepted as they are and otherwise refused`, async () => {
      const t = await startApp({ engine });
      const { path, change, keys } = await make(t, (await makeTeam(t)).id, (await makeTeam(t)).id);
      for (const [key, [, other]] of Object.entries(keys)) {
        const refused = await t.patch(path, { ...change, [key]: other });
        expect([refused.status, (await errorOf(refused)).errors?.[0]?.name], key).toEqual([422, key]);
      }
      const existing = Object.fromEntries(Object.entries(keys).map(([key, [value]]) => [key, value]));
      expect((await t.patch(path, { ...existing, ...change })).status).toBe(200);
    });

  it("of a package include its platform and the address of its file", async () => {
    const t = await startApp({ engine });
    const body = new FormData();
    body.set("software", new File(["#!/bin/sh\necho a\n"], "a.sh"));
    const { software_package } = await madeIn<{ software_package: Fields }>(await t.post("/software/package", body));
    const { title_id, platform, url } = software_package;
    const change = (more: Fields) =>
      t.patch(`/software/titles/${title_id}/package`, { team_id: 0, self_service: true, ...more });
    for (const [key, other] of [
      ["platform", "windows"],
      ["url", "https://example.com/b.sh"],
    ] as const) {
      const refused = await change({ [key]: other });
      expect([refused.status, (await errorOf(refused)).errors?.[0]?.name]).toEqual([422, key]);
    }
    expect((await change({ platform, url })).status).toBe(200);
  });

  it("of a script include its team", async () => {
    const t = await startApp({ engine });
    const [team, other] = [(await makeTeam(t)).id, (await makeTeam(t)).id];
    const form = (content: string, teamId: number) => {
      const body = new FormData();
      body.set("team_id", String(teamId));
      body.set("script", new File([content], "a.sh"));
      return body;
    };
    const { script_id } = await madeIn<{ script_id: number }>(await t.post("/scripts", form("echo 1", team)));
    const refused = await t.patch(`/scripts/${script_id}`, form("echo 2", other));
    expect([refused.status, (await errorOf(refused)).errors?.[0]?.name]).toEqual([422, "team_id"]);
    expect((await t.patch(`/scripts/${script_id}`, form("echo 2", team))).status).toBe(200);
  });
});
