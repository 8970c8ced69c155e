// Plans: what they say before anything changes, that they are applied as a whole and once, and who may do what.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Plan, PlanItem, PlannedChange } from "../../src/api/edge/plans.ts";
import { endpointsInFiles, kindInFiles } from "../../src/api/settings/gitops-mode.ts";
import { kinds } from "../../src/server/edge/configuration/kinds.ts";
import { nameInGitopsMode } from "../../src/server/edge/plans/gitops-mode.ts";
import { errorOf, makeTeam, makeUser } from "../support/accounts.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import {
  applied,
  change,
  find,
  label,
  newestActivity,
  policy,
  query,
  secret,
  stateOf,
  textsOf,
  thingValue,
} from "../support/configuration.ts";
import { bothEngines } from "../support/engines.ts";
import { makeHost, makeLabel } from "../support/make.ts";
import { base64, makeManagedMac, mobileconfig } from "../support/profiles.ts";
import { withSecondServer } from "../support/second-server.ts";

interface Input {
  readonly kind: string;
  readonly owner?: string | null;
  readonly name: string;
  readonly action?: "set" | "delete";
  readonly value?: unknown;
}

const set = (kind: string, name: string, value: unknown, owner: string | null = null): Input => ({
  kind,
  owner,
  name,
  action: "set",
  value,
});
const remove = (kind: string, name: string, owner: string | null = null): Input => ({
  kind,
  owner,
  name,
  action: "delete",
});

async function planned(by: Caller, changes: readonly Input[], more: object = {}): Promise<Plan> {
  const response = await by.post("/plans", { changes, ...more });
  expect(response.status, await response.clone().text()).toBe(200);
  return ((await response.json()) as { plan: Plan }).plan;
}

async function refusedPlan(by: Caller, status: number, changes: readonly Input[], more: object = {}) {
  const response = await by.post("/plans", { changes, ...more });
  expect(response.status, await response.clone().text()).toBe(status);
  return (await errorOf(response)).errors ?? [];
}

async function apply(by: Caller, id: number): Promise<Plan> {
  const response = await by.post(`/plans/${id}/apply`);
  expect(response.status, await response.clone().text()).toBe(200);
  return ((await response.json()) as { plan: Plan }).plan;
}

const plansOf = async (by: Caller, parameters = ""): Promise<number[]> =>
  ((await (await by.get(`/plans${parameters}`)).json()) as { plans: PlanItem[] }).plans.map(({ id }) => id);

/** `get 2 (a, b), cannot: wrong_platform 1 (c)`. */
function figures({ effect }: PlannedChange): string {
  const shown = ({ count, hosts }: { count: number; hosts: readonly { display_name: string }[] }) =>
    `${count} (${hosts.map(({ display_name }) => display_name).join(", ")})`;
  const counts = (["get", "lose", "change"] as const).flatMap((name) =>
    effect && effect[name].count > 0 ? [`${name} ${shown(effect[name])}`] : [],
  );
  const cannot = (effect?.cannot ?? []).map(({ reason, ...hosts }) => `${reason} ${shown(hosts)}`);
  return [...counts, ...cannot].join("; ");
}

const host = (t: TestApp, name: string, platform: string, team_id: number | null = null) =>
  makeHost(t, { display_name: name, hostname: name, platform, team_id });

describe.each(bothEngines)("plans on %s", (engine) => {
  it("say which fields differ and which hosts get, lose or keep a policy, and why some cannot", async () => {
    const t = await startApp({ engine });
    const sales = await makeTeam(t, "Sales");
    const a = await host(t, "a", "darwin", sales);
    const b = await host(t, "b", "darwin", sales);
    const c = await host(t, "c", "windows", sales);
    await host(t, "phone", "ios", sales);
    await host(t, "elsewhere", "darwin");
    await makeLabel(t, "Some", [a.id]);
    await makeLabel(t, "More", [b.id, c.id]);
    const make = set("policy", "Up", { query: "SELECT 1", platform: "darwin", labels_include_any: ["Some"] }, "Sales");
    const first = await planned(t, [make], { name: " First " });
    expect(first).toMatchObject({
      name: "First",
      state: "pending",
      summary: { create: 1, update: 0, delete: 0 },
      may_apply: true,
      created_by: { name: "Ada Admin" },
      applied_at: null,
    });
    expect(first.changes[0]).toMatchObject({
      action: "create",
      kind: "policy",
      owner: "Sales",
      name: "Up",
      fields: [],
      value: { critical: false },
    });
    expect(first.changes.map(figures)).toEqual(["get 1 (a)"]);
    expect(await t.store.policies.count()).toBe(0);
    expect(await (await t.get(`/plans/${first.id}`)).json()).toEqual({ plan: first });

    const done = await apply(t, first.id);
    expect(done).toMatchObject({ state: "applied", applied_by: { name: "Ada Admin" }, may_apply: false });
    expect(await t.store.policies.count()).toBe(1);

    // Only fields that are given change: the label lists, but not the query.
    const other = await planned(t, [set("policy", "Up", { labels_include_any: ["More"] }, "Sales")]);
    expect(other.changes[0]!.fields).toEqual([{ path: "labels_include_any", old: ["Some"], new: ["More"] }]);
    expect(other.changes.map(figures)).toEqual(["get 1 (b); lose 1 (a); wrong_platform 1 (c)"]);
    const sql = await planned(t, [
      set("policy", "Up", { query: "SELECT 2", labels_include_any: [], labels_exclude_any: ["More"] }, "Sales"),
    ]);
    expect(sql.changes[0]!.fields.map(({ path }) => path).sort()).toEqual([
      "labels_exclude_any",
      "labels_include_any",
      "query",
    ]);
    expect(sql.changes.map(figures)).toEqual(["change 1 (a); wrong_platform 2 (c, phone); label_excluded 1 (b)"]);
    const gone = await planned(t, [remove("policy", "Up", "Sales")]);
    expect(gone.changes[0]).toMatchObject({ action: "delete", value: null });
    expect(gone.changes.map(figures)).toEqual(["lose 1 (a)"]);

    // Hosts that stay in the labels keep it as it is.
    const wider = await planned(t, [set("policy", "Up", { labels_include_any: ["Some", "More"] }, "Sales")]);
    expect(wider.changes.map(figures)).toEqual(["get 1 (b); wrong_platform 1 (c)"]);

    // Global objects are for all hosts; those without a platform for all that have an agent.
    const all = await planned(t, [set("query", "Everywhere", { query: "SELECT 1" })]);
    expect(all.changes.map(figures)).toEqual(["get 4 (a, b, c, elsewhere); wrong_platform 1 (phone)"]);
    // What changes nothing is not part of a plan.
    expect((await planned(t, [set("policy", "Up", { query: "SELECT 1" }, "Sales")])).changes).toEqual([]);
  });

  it("count the hosts of labels, and of what they change in the same plan", async () => {
    const t = await startApp({ engine });
    const a = await host(t, "a", "darwin");
    await host(t, "b", "darwin");
    await host(t, "c", "darwin");
    await applied(t, {
      changes: [
        change("create", "label", "Picked", label({ label_membership_type: "manual", query: "", hosts: ["a"] })),
      ],
    });
    expect(await t.store.labelMembers.count({ op: "eq", column: "host_id", value: a.id })).toBe(1);
    const plan = await planned(t, [
      set("label", "Picked", { hosts: ["b", "c"] }),
      set("label", "Asked", { query: "SELECT 1" }),
      set("policy", "Of picked", { query: "SELECT 1", labels_include_any: ["Picked"] }),
      set("policy", "Of asked", { query: "SELECT 1", labels_include_any: ["Asked"] }),
    ]);
    expect(plan.changes.map(figures)).toEqual(["get 2 (b, c); lose 1 (a)", "", "get 2 (b, c)", ""]);
    expect(plan.changes[1]!.effect!.not_computed[0]).toMatch(/as they answer its query/);
    expect(plan.changes[3]!.effect!.not_computed[0]).toMatch(/members afterwards are not known/);
    await apply(t, plan.id);
    expect((await planned(t, [remove("policy", "Of picked"), remove("label", "Picked")])).changes.map(figures)).toEqual(
      ["lose 2 (b, c)", "lose 2 (b, c)"],
    );
    const criteria = { label_membership_type: "host_vitals", criteria: { where: "hostname=a" } };
    expect((await planned(t, [set("label", "Computed", criteria)])).changes.map(figures)).toEqual(["get 1 (a)"]);
    const named = label({ label_membership_type: "manual", query: "", hosts: ["a", "b"] });
    expect((await planned(t, [set("label", "Named", named)])).changes.map(figures)).toEqual(["get 2 (a, b)"]);
    const body = { changes: [set("label", "Named", named)] };
    const tried = await t.request("POST", "/plans", body, { "dry-run": "true" });
    expect(((await tried.json()) as { plan: Plan }).plan.changes.map(figures)).toEqual(["get 2 (a, b)"]);
  });

  it("count managed hosts for profiles, and all hosts of a team for its settings", async () => {
    const t = await startApp({ engine });
    const sales = await makeTeam(t, "Sales");
    await turnOnAppleMdm(t);
    await makeManagedMac(t, { display_name: "managed", platform: "darwin" });
    await host(t, "unmanaged", "darwin");
    await host(t, "windows", "windows");
    await host(t, "s", "windows", sales);
    const content = mobileconfig("com.example.wifi", "", "Wifi");
    const sha256 = createHash("sha256").update(content).digest("hex");
    const expiry = { host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 9 } };
    const plan = await planned(
      t,
      [
        set("team_settings", "team_settings", expiry, "Sales"),
        set("configuration_profile", "Wifi", { platform: "darwin", sha256 }),
      ],
      { files: { [sha256]: base64(content) } },
    );
    expect(plan.changes.map(figures)).toEqual([
      "change 1 (s)",
      "get 1 (managed); wrong_platform 1 (windows); not_managed 1 (unmanaged)",
    ]);
    expect(plan.changes[0]!.fields.map(({ path }) => path)).toEqual([
      "host_expiry_settings.host_expiry_enabled",
      "host_expiry_settings.host_expiry_window",
    ]);
    await apply(t, plan.id);
    expect(await t.store.configurationProfiles.count({ op: "eq", column: "name", value: "Wifi" })).toBe(1);
    expect((await planned(t, [remove("team", "Sales")])).changes.map(figures)).toEqual(["lose 1 (s)"]);
  });

  it("apply all changes in one transaction, once, with one activity that names the plan", async () => {
    const t = await startApp({ engine });
    const plan = await planned(
      t,
      [
        set("label", "L", { query: "SELECT 1" }),
        set("policy", "P", { query: "SELECT 1", labels_include_any: ["L"] }),
        set("query", "Q", { query: "SELECT 1" }),
      ],
      { name: "Three" },
    );
    const replies = await Promise.all([1, 2, 3].map(() => t.post(`/plans/${plan.id}/apply`)));
    for (const reply of replies) expect(await reply.json()).toMatchObject({ plan: { id: plan.id, state: "applied" } });
    expect(await t.store.policies.count()).toBe(1);
    const feed = async () =>
      (
        (await (await t.get("/activities?per_page=50")).json()) as { activities: { type: string; details: object }[] }
      ).activities.filter(({ type }) => type === "applied_plan");
    expect((await feed()).map(({ details }) => details)).toEqual([
      { plan_id: plan.id, plan_name: "Three", created_by: "Ada Admin", changes: { create: 3, update: 0, delete: 0 } },
    ]);
    expect((await t.delete(`/plans/${plan.id}`)).status).toBe(200);
    expect((await t.post(`/plans/${plan.id}/apply`)).status).toBe(404);
    expect(await feed()).toHaveLength(1);
  });

  it("are staged: a plan extends another of its author, and takes its place", async () => {
    const t = await startApp({ engine });
    await applied(t, { changes: [change("create", "query", "Q", query())] });
    const first = await planned(t, [set("query", "Q", { interval: 60 }), set("policy", "P", { query: "SELECT 1" })], {
      name: "All",
    });
    const more = [
      set("query", "Q", { description: "d" }),
      set("policy", "P", { resolution: "r" }),
      set("query", "N", { query: "SELECT 2" }),
    ];
    const other = await makeUser(t, "admin");
    expect(await refusedPlan(other, 403, more, { extends: first.id })).toHaveLength(1);
    const second = await planned(t, more, { extends: first.id });
    expect(second).toMatchObject({ name: "All", summary: { create: 2, update: 1, delete: 0 } });
    expect(
      second.changes
        .find(({ name }) => name === "Q")!
        .fields.map(({ path }) => path)
        .sort(),
    ).toEqual(["description", "interval"]);
    expect(second.changes.find(({ name }) => name === "P")).toMatchObject({
      action: "create",
      value: { query: "SELECT 1", resolution: "r" },
    });
    expect(await plansOf(t)).toEqual([second.id]);
    const third = await planned(t, [remove("query", "N"), remove("query", "Q")], { extends: second.id });
    expect(third.changes.map(({ action, name }) => `${action} ${name}`)).toEqual(["delete Q", "create P"]);
    // What the first plan was made against counts for the changes that come from it.
    await applied(t, { changes: [change("update", "query", "Q", query({ description: "by others" }))] });
    expect(await refusedPlan(t, 409, [set("policy", "P2", { query: "SELECT 1" })], { extends: third.id })).toHaveLength(
      1,
    );
    expect(await plansOf(t)).toEqual([third.id]);
  });

  it("are refused if what they were made against has changed, and nothing is written", async () => {
    const t = await startApp({ engine });
    await applied(t, { changes: [change("create", "policy", "P", policy()), change("create", "query", "Q", query())] });
    const plan = await planned(t, [
      set("policy", "P", { query: "SELECT 2" }),
      set("query", "Q", { interval: 60 }),
      set("query", "New", { query: "SELECT 1" }),
    ]);
    await applied(t, {
      changes: [
        change("update", "policy", "P", policy({ description: "x" })),
        change("create", "query", "New", query()),
      ],
    });
    const since = await newestActivity(t);
    const refused = await t.post(`/plans/${plan.id}/apply`);
    expect(refused.status).toBe(409);
    expect(((await errorOf(refused)).errors ?? []).map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
      'base: policy "P" has changed since the plan was made',
      'base: query "New" was created since the plan was made',
    ]);
    expect(await newestActivity(t)).toBe(since);
    const state = await stateOf(t);
    expect(thingValue(state, "query", "Q")).toMatchObject({ interval: 0 });
    expect(thingValue(state, "policy", "P")).toMatchObject({ query: "SELECT 1", description: "x" });
    expect(await (await t.get(`/plans/${plan.id}`)).json()).toMatchObject({ plan: { state: "pending" } });
  });

  it("write nothing if the last change cannot be made any more, and can be applied once it can", async () => {
    const t = await startApp({ engine });
    const labelled = { query: "SELECT 1", labels_include_any: ["L"] };
    await applied(t, { changes: [change("create", "label", "L", label())] });
    const plan = await planned(t, [set("policy", "First", { query: "SELECT 1" }), set("query", "Last", labelled)]);
    await applied(t, { changes: [change("delete", "label", "L")] });
    const since = await newestActivity(t);
    const refused = await t.post(`/plans/${plan.id}/apply`);
    expect(refused.status).toBe(400);
    expect((await errorOf(refused)).errors).toMatchObject([{ reason: expect.stringMatching(/unknown labels: "L"/) }]);
    expect([await t.store.policies.count(), await newestActivity(t)]).toEqual([0, since]);
    expect(await plansOf(t, "?state=pending")).toEqual([plan.id]);
    await applied(t, { changes: [change("create", "label", "L", label())] });
    expect((await apply(t, plan.id)).state).toBe("applied");
  });

  it("are checked when they are made: all errors name their change, and nothing is kept", async () => {
    const t = await startApp({ engine });
    expect(await refusedPlan(t, 422, [set("nonsense", "x", {})])).toMatchObject([{ name: "changes.0.kind" }]);
    expect(
      await refusedPlan(t, 400, [
        set("label", "L", { query: "SELECT 1" }),
        set("policy", "P", { query: "SELECT FROM" }),
      ]),
    ).toMatchObject([{ name: "changes.1.value.query" }]);
    expect(
      await refusedPlan(t, 400, [set("policy", "P", { query: "SELECT 1", labels_include_any: ["None"] })]),
    ).toMatchObject([{ name: "changes.0.value.labels_include_any" }]);
    expect(await refusedPlan(t, 409, [remove("policy", "P")])).toMatchObject([{ name: "changes.0" }]);
    expect(await refusedPlan(t, 404, [set("policy", "P", { query: "SELECT 1" }, "Nowhere")])).toMatchObject([
      { name: "changes.0" },
    ]);
    expect(
      await refusedPlan(t, 422, [set("policy", "P", { query: "SELECT 1" }), set("policy", "P", { query: "SELECT 2" })]),
    ).toMatchObject([{ reason: expect.stringMatching(/twice/) }]);
    expect(await plansOf(t)).toEqual([]);
    // A dry run answers as the request would, and keeps nothing.
    const dry = await t.request(
      "POST",
      "/plans",
      { changes: [set("policy", "P", { query: "SELECT 1" })] },
      { "dry-run": "true" },
    );
    expect(await dry.json()).toMatchObject({ plan: { changes: [{ action: "create", name: "P" }] } });
    expect(await plansOf(t)).toEqual([]);
    const body = { changes: [set("policy", "P", { query: "SELECT 1" })] };
    const tried = await Promise.all([1, 2, 3, 4].map(() => t.request("POST", "/plans", body, { "dry-run": "true" })));
    expect(tried.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const many = Array.from({ length: 30 }, (_, i) => set("query", `q${i}`, { query: "SELECT 1" }));
    const effects = (await planned(t, many)).changes.map(({ effect }) => effect === null);
    expect(effects.filter(Boolean)).toHaveLength(5);
    expect(
      await refusedPlan(
        t,
        422,
        Array.from({ length: 201 }, (_, i) => set("query", `q${i}`, { query: "SELECT 1" })),
      ),
    ).toMatchObject([{ name: "changes" }]);
  });

  it("show no secrets, and keep those that are not given", async () => {
    const t = await startApp({ engine });
    const smtp = {
      enable_smtp: true,
      sender_address: "svc@example.com",
      server: "mail.example.com",
      authentication_type: "authtype_username_and_password",
      user_name: "svc",
      password: secret("first-password-5521"),
    };
    await apply(
      t,
      (await planned(t, [set("config", "smtp_settings", smtp)], { secrets: textsOf("first-password-5521") })).id,
    );
    const plan = await planned(
      t,
      [set("config", "smtp_settings", { password: secret("second-password-77"), port: 2525 })],
      { secrets: textsOf("second-password-77") },
    );
    expect(plan.changes[0]!.fields).toHaveLength(2);
    expect(plan.changes[0]!.fields).toContainEqual({ path: "password", secret: true });
    expect(plan.changes[0]!.fields).toContainEqual(expect.objectContaining({ path: "port", new: 2525 }));
    expect(JSON.stringify(plan)).not.toMatch(/password-/);
    expect(JSON.stringify(await t.store.planContents.list({}))).toMatch(/second-password-77/);
    await apply(t, plan.id);
    expect(JSON.stringify(await t.store.planContents.list({}))).not.toMatch(/password-77/);
    const kept = await planned(t, [set("config", "smtp_settings", { sender_address: "other@example.com" })]);
    expect(kept.changes[0]!.fields.map(({ path }) => path)).toEqual(["sender_address"]);
    await apply(t, kept.id);
    const state = await stateOf(t, { secrets: textsOf("second-password-77") });
    expect(thingValue(state, "config", "smtp_settings")).toMatchObject({
      sender_address: "other@example.com",
      password: secret("second-password-77"),
    });
  });

  it("may be made by whoever may make each of their changes", async () => {
    const t = await startApp({ engine });
    const [sales, other] = [await makeTeam(t, "Sales"), await makeTeam(t, "Other")];
    await host(t, "a", "darwin", sales);
    const ofTeam = set("policy", "P", { query: "SELECT 1" }, "Sales");
    const global = set("policy", "P", { query: "SELECT 1" });
    const labelled = set("label", "L", { query: "SELECT 1" });
    const settings = set(
      "team_settings",
      "team_settings",
      { host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 9 } },
      "Sales",
    );
    const cases = [
      ["admin", [200, 200, 200, 200]],
      ["maintainer", [200, 200, 200, 403]],
      ["gitops", [200, 200, 200, 200]],
      ["technician", [403, 403, 200, 403]],
      ["observer", [403, 403, 403, 403]],
      ["observer_plus", [403, 403, 403, 403]],
      ["plan", [403, 403, 403, 403]],
      [{ [sales]: "admin" }, [200, 403, 403, 200]],
      [{ [sales]: "maintainer" }, [200, 403, 403, 403]],
      [{ [sales]: "gitops" }, [200, 403, 403, 200]],
      [{ [sales]: "observer" }, [403, 403, 403, 403]],
      [{ [other]: "admin" }, [404, 403, 403, 404]],
    ] as const;
    for (const [role, statuses] of cases) {
      const user = await makeUser(t, role);
      for (const [i, input] of [ofTeam, global, labelled, settings].entries()) {
        const response = await user.post("/plans", { changes: [input] });
        const isPlan = role === "plan";
        expect([role, i, response.status], await response.clone().text()).toEqual([
          role,
          i,
          isPlan ? 403 : statuses[i],
        ]);
        if (response.status !== 200) continue;
        const { plan } = (await response.json()) as { plan: Plan };
        expect(plan.may_apply).toBe(true);
        expect((await user.delete(`/plans/${plan.id}`)).status).toBe(200);
      }
    }
    // A maintainer's plan is applied with the maintainer's rights.
    const maintainer = await makeUser(t, { [sales]: "maintainer" });
    await apply(maintainer, (await planned(maintainer, [ofTeam])).id);
    expect(find(await stateOf(t), { kind: "policy", owner: "Sales", name: "P" })).toBeDefined();
    // Which policies automations report is a setting of the team.
    const reported = set("policy", "P", { webhooks_and_tickets_enabled: true }, "Sales");
    expect(await refusedPlan(maintainer, 403, [reported])).toMatchObject([
      { reason: expect.stringMatching(/webhooks_and_tickets_enabled/) },
    ]);
    const plan = await planned(t, [reported]);
    expect((await maintainer.post(`/plans/${plan.id}/apply`)).status).toBe(403);
    // Carves need a right that the role gitops lacks.
    const carving = set(
      "policy",
      "Carving",
      { query: "SELECT * FROM carves WHERE carve = 1 AND path = '/x'" },
      "Sales",
    );
    const gitops = await makeUser(t, { [sales]: "gitops" });
    expect((await gitops.post("/plans", { changes: [carving] })).status).toBe(403);
  });

  it("are read by those who may read all that they are about, and applied by those who may make their changes", async () => {
    const t = await startApp({ engine });
    const [sales, other] = [await makeTeam(t, "Sales"), await makeTeam(t, "Other")];
    await host(t, "a", "darwin", sales);
    const author = await makeUser(t, { [sales]: "maintainer" });
    const plan = await planned(author, [set("policy", "P", { query: "SELECT 1" }, "Sales")]);
    const mixed = await planned(t, [
      set("policy", "P2", { query: "SELECT 1" }, "Sales"),
      set("policy", "P2", { query: "SELECT 1" }, "Other"),
    ]);
    const cases = [
      ["admin", true, true],
      ["observer", true, false],
      ["gitops", true, true],
      [{ [sales]: "observer" }, true, false],
      [{ [sales]: "admin" }, true, true],
      [{ [other]: "admin" }, false, false],
    ] as const;
    for (const [role, reads, applies] of cases) {
      const user = await makeUser(t, role);
      const isGlobal = typeof role === "string";
      expect([role, await plansOf(user)]).toEqual([
        role,
        [...(isGlobal ? [mixed.id] : []), ...(reads ? [plan.id] : [])],
      ]);
      const got = await user.get(`/plans/${plan.id}`);
      expect([role, got.status]).toEqual([role, reads ? 200 : 404]);
      if (reads)
        expect(await got.json()).toMatchObject({ plan: { may_apply: applies, created_by: { id: author.user.id } } });
      if (!applies) {
        expect([role, (await user.post(`/plans/${plan.id}/apply`)).status]).toEqual([role, reads ? 403 : 404]);
        expect([role, (await user.delete(`/plans/${plan.id}`)).status]).toEqual([role, reads ? 403 : 404]);
      }
    }
    // Whoever may not list hosts sees how many they are.
    const gitops = await makeUser(t, "gitops");
    const seen = ((await (await gitops.get(`/plans/${plan.id}`)).json()) as { plan: Plan }).plan;
    expect(seen.changes.map(figures)).toEqual(["get 1 ()"]);
    // The author's roles count when the plan is applied, not when it was made.
    await t.patch(`/users/${author.user.id}`, { teams: [{ id: sales, role: "observer" }] });
    expect((await author.post(`/plans/${plan.id}/apply`)).status).toBe(403);
    await apply(gitops, plan.id);
    expect(await t.store.policies.count()).toBe(1);
  });

  it("end after a day, and are deleted by a job; applied ones stay for a month", async () => {
    const t = await startApp({ engine });
    const old = await planned(t, [set("query", "Old", { query: "SELECT 1" })]);
    const done = await planned(t, [set("query", "Done", { query: "SELECT 1" })]);
    await apply(t, done.id);
    t.clock.advance(24 * 3_600_000);
    expect(await plansOf(t, "?state=expired")).toEqual([old.id]);
    expect(await plansOf(t, "?state=pending")).toEqual([]);
    expect(await plansOf(t, "?state=applied")).toEqual([done.id]);
    const late = await t.post(`/plans/${old.id}/apply`);
    expect(late.status).toBe(409);
    expect((await errorOf(late)).errors).toMatchObject([{ reason: expect.stringMatching(/expired/) }]);
    expect((await t.post("/trigger?name=plan_cleanup")).status).toBe(200);
    await expect.poll(() => plansOf(t)).toEqual([done.id]);
    // The session of the first admin is over by then.
    const later = await makeUser(t, "admin");
    t.clock.advance(30 * 24 * 3_600_000);
    expect((await later.post("/trigger?name=plan_cleanup")).status).toBe(200);
    await expect.poll(() => plansOf(later)).toEqual([]);
  });

  it("cannot be more than fifty of one user", async () => {
    const t = await startApp({ engine });
    for (let i = 0; i < 50; i++) await planned(t, [set("query", "Q", { query: "SELECT 1" })]);
    expect(await refusedPlan(t, 409, [set("query", "Q", { query: "SELECT 1" })])).toMatchObject([
      { reason: expect.stringMatching(/50 plans/) },
    ]);
    const user = await makeUser(t, "admin");
    await planned(user, [set("query", "Q", { query: "SELECT 1" })]);
  });

  it("are made in GitOps mode, but not applied", async () => {
    const t = await startApp({ engine });
    await t.patch("/config", { gitops: { gitops_mode_enabled: true, repository_url: "https://git.example.com/x" } });
    const plan = await planned(t, [set("query", "Q", { query: "SELECT 1" })]);
    const refused = await t.post(`/plans/${plan.id}/apply`);
    expect(refused.status).toBe(403);
    expect((await errorOf(refused)).errors).toMatchObject([{ reason: expect.stringMatching(/git\.example\.com/) }]);
    const gitops = await makeUser(t, "gitops");
    await apply(gitops, plan.id);
  });

  it("are applied in GitOps mode if it excepts all that they change, or with a reason", async () => {
    const t = await startApp({ engine });
    const admin = await makeUser(t, "admin");
    const except = async (exceptions: object) => {
      const all = { labels: false, software: false, secrets: false, ...exceptions };
      expect((await t.patch("/config", { gitops: { exceptions: all } })).status).toBe(200);
    };
    await t.patch("/config", { gitops: { gitops_mode_enabled: true, repository_url: "https://git.example.com/x" } });
    const ofLabel = await planned(admin, [set("label", "L", { query: "SELECT 1" })]);
    const secrets = { secrets: [secret("an-enroll-secret-5521")] };
    const ofSecrets = await planned(admin, [set("enroll_secrets", "enroll_secrets", secrets)], {
      secrets: textsOf("an-enroll-secret-5521"),
    });
    const mixed = await planned(admin, [
      set("label", "M", { query: "SELECT 1" }),
      set("query", "Q", { query: "SELECT 1" }),
    ]);
    const refusal = async (plan: Plan) => {
      const response = await admin.post(`/plans/${plan.id}/apply`);
      const { message, errors } = await errorOf(response);
      return `${response.status} ${message}: ${/determine (.*?), so/.exec(errors![0]!.reason)?.[1]}`;
    };
    expect(await refusal(ofLabel)).toBe("403 GitOps mode is on: labels");
    expect(await refusal(mixed)).toBe("403 GitOps mode is on: labels, queries");

    await except({ secrets: true });
    expect(await refusal(ofLabel)).toBe("403 GitOps mode is on: labels");
    await apply(admin, ofSecrets.id);
    await except({ labels: true });
    await apply(admin, ofLabel.id);
    // A change that is refused by itself refuses the whole plan.
    expect(await refusal(mixed)).toBe("403 GitOps mode is on: queries");
    expect(await t.store.labels.first({ where: { op: "eq", column: "name", value: "M" } })).toBeNull();
    const overrides = async () =>
      (await t.store.activities.list())
        .filter(({ type }) => type === "overrode_gitops_mode")
        .map(({ details }) => details);
    expect(await overrides()).toEqual([]);
    const forced = await admin.request("POST", `/plans/${mixed.id}/apply`, undefined, {
      "x-svc-gitops-override": "Emergency",
    });
    expect(forced.status).toBe(200);
    expect(await overrides()).toEqual([{ method: "POST", path: "/plans/:id/apply", reason: "Emergency" }]);

    // Whoever may turn the mode on can turn it off, and nothing else of the configuration.
    const name = await planned(admin, [set("config", "org_info", { org_name: "X" })]);
    expect(await refusal(name)).toBe("403 GitOps mode is on: the configuration");
    const off = await planned(admin, [set("config", "gitops", { gitops_mode_enabled: false })]);
    await apply(admin, off.id);
    await apply(admin, name.id);
  });
});

it("are refused in GitOps mode by names that the refusals of endpoints have", () => {
  const names = endpointsInFiles().map((key) => {
    const [method, path] = key.split(" ");
    return kindInFiles({ method: method as "GET", path: path! });
  });
  for (const { name } of kinds) expect(names, name).toContain(nameInGitopsMode(name));
});

describe("plans on two servers", () => {
  it("are made on one and applied on the other, and applied once if both are asked", async () => {
    const t = await startApp({ engine: "postgres" });
    await withSecondServer(t, async (there) => {
      const first = await planned(t, [set("query", "Q", { query: "SELECT 1" })]);
      expect((await apply(there, first.id)).state).toBe("applied");
      expect(await t.store.queries.count()).toBe(1);
      const second = await planned(there, [
        set("query", "Q", { interval: 60 }),
        set("policy", "P", { query: "SELECT 1" }),
      ]);
      const replies = await Promise.all([t, there, t, there].map((server) => server.post(`/plans/${second.id}/apply`)));
      for (const reply of replies) expect(await reply.json()).toMatchObject({ plan: { state: "applied" } });
      expect(await t.store.policies.count()).toBe(1);
      expect(await t.store.activities.count({ op: "eq", column: "type", value: "applied_plan" })).toBe(2);
    });
  });
});
