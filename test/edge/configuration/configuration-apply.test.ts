// Side effects of an apply of configuration, and that it is all or nothing.
import { describe, expect, it } from "vitest";
import { backgroundIdle } from "../../../src/server/platform/core/concurrency/background.ts";
import { startApp } from "../../support/app.ts";
import {
  applied,
  change,
  everything,
  find,
  label,
  newestActivity,
  pinsOf,
  policy,
  query,
  refused,
  secret,
  stateOf,
  textsOf,
  thingValue,
} from "../../support/configuration.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeHost } from "../../support/make.ts";

describe.each(rulesEngines)("applies of configuration on %s", (engine) => {
  it("is refused if anything pinned has changed, with the differences, and nothing is written", async () => {
    const t = await startApp({ engine });
    await applied(t, {
      changes: [change("create", "policy", "kept", policy()), change("create", "policy", "gone", policy())],
    });
    const state = await stateOf(t);
    const pins = [...pinsOf(state), { kind: "query", owner: null, name: "new", revision: null }];
    await applied(t, {
      changes: [
        change("update", "policy", "kept", policy({ query: "SELECT 2" })),
        change("delete", "policy", "gone"),
        change("create", "query", "new", query()),
      ],
    });
    const before = await stateOf(t);
    const since = await newestActivity(t);
    const errors = await refused(t, 409, { changes: [change("create", "policy", "more", policy())], pins });
    expect(errors.map(({ reason }) => reason).sort()).toEqual([
      'policy "gone" was deleted since it was read',
      'policy "kept" has changed since it was read',
      'query "new" was created since it was read',
    ]);
    for (const { name } of errors) expect(name).toMatch(/^pins\.\d+$/);
    expect(await stateOf(t)).toEqual(before);
    expect(await newestActivity(t)).toBe(since);

    // The number of further differences is reported.
    const many = Array.from({ length: 130 }, (_, i) => ({ kind: "policy", owner: null, name: `p${i}`, revision: "0" }));
    const told = await refused(t, 409, { changes: [], pins: many });
    expect(told).toHaveLength(101);
    expect(told.at(-1)).toEqual({ name: "pins", reason: "30 more have changed" });
  });

  it("writes nothing if its last change fails, and nothing in a dry run", async () => {
    const t = await startApp({ engine });
    const { changes, secrets } = everything([]);
    const before = await stateOf(t, { secrets });
    const since = await newestActivity(t);
    const members = await t.store.labelMembers.count();
    // Only detected after everything else was written: a label that does not exist, and one that is in use.
    const late = change("create", "query", "Late", query({ labels_include_any: ["No such label"] }), "Sales");
    const errors = await refused(t, 400, { changes: [...changes, late], secrets });
    expect(errors).toEqual([
      {
        name: `changes.${changes.length}.value.labels_include_any`,
        reason: 'query "Late" of team "Sales": query payload verification: unknown labels: "No such label"',
      },
    ]);
    expect(await stateOf(t, { secrets })).toEqual(before);

    const dry = await t.post("/spec/apply", { changes, secrets, dry_run: true, skip_checks: true });
    expect(await dry.json()).toEqual({ applied: { create: 11, update: 9, delete: 0 }, dry_run: true });
    expect(
      (await t.post("/spec/apply", { changes: [...changes, late], secrets, dry_run: true, skip_checks: true })).status,
    ).toBe(400);
    expect(await stateOf(t, { secrets })).toEqual(before);
    expect(await newestActivity(t)).toBe(since);
    expect(await t.store.labelMembers.count()).toBe(members);

    await applied(t, { changes, secrets });
    const inUse = await refused(t, 422, {
      changes: [change("delete", "policy", "Loose", undefined, "No team"), change("delete", "label", "Laptops")],
    });
    expect(inUse[0]!.name).toBe("changes.1");
    expect(inUse[0]!.reason).toMatch(/^label "Laptops": .* is in use .* by policy "Encrypted", query "Users"/);
    expect(find(await stateOf(t), { kind: "policy", owner: "No team", name: "Loose" })).toBeDefined();
  });

  it("keeps the policy ids of webhooks consistent with the policies", async () => {
    const t = await startApp({ engine });
    const { changes, secrets } = everything([]);
    await applied(t, { changes, secrets });
    const ids = async () => {
      const [global] = (await (await t.get("/config")).json()) === null ? [] : [await (await t.get("/config")).json()];
      const teams = (await (await t.get("/teams")).json()) as { teams: { webhook_settings: Hooks }[] };
      const none = (await (await t.get("/teams/0")).json()) as { team: { webhook_settings: Hooks } };
      return [
        (global as { webhook_settings: Hooks }).webhook_settings,
        teams.teams[0]!.webhook_settings,
        none.team.webhook_settings,
      ].map((hooks) => hooks.failing_policies_webhook.policy_ids);
    };
    const rows = await t.store.policies.list();
    const idOf = (scope: string, name: string) => rows.find((row) => row.scope === scope && row.name === name)!.id;
    expect(await ids()).toEqual([[idOf("global", "Encrypted")], [idOf("team", "Up")], [idOf("no_team", "Loose")]]);
    // A change of the webhook itself keeps them.
    const state = await stateOf(t);
    const hooks = thingValue<{ failing_policies_webhook: object }>(state, "config", "webhook_settings");
    expect(hooks.failing_policies_webhook).not.toHaveProperty("policy_ids");
    await applied(t, {
      changes: [
        change("update", "config", "webhook_settings", { ...hooks, interval: "1h" }),
        change("update", "policy", "Encrypted", policy({ webhooks_and_tickets_enabled: true }), "Sales"),
        change("update", "policy", "Up", policy(), "Sales"),
        change("delete", "policy", "Loose", undefined, "No team"),
      ],
    });
    expect(await ids()).toEqual([[idOf("global", "Encrypted")], [idOf("team", "Encrypted")], []]);
    // A policy in another scope's webhook is not reported by it: only its own scope's counts.
    await t.patch("/config", { webhook_settings: { failing_policies_webhook: { policy_ids: [idOf("team", "Up")] } } });
    const now = await stateOf(t);
    expect(thingValue(now, "policy", "Up", "Sales")).toMatchObject({ webhooks_and_tickets_enabled: false });
    expect(thingValue(now, "policy", "Encrypted")).toMatchObject({ webhooks_and_tickets_enabled: false });
  });

  it("deletes the results of policies whose query or platform changes, and of no others", async () => {
    const t = await startApp({ engine });
    await applied(t, {
      changes: [
        change("create", "policy", "asked", policy({ platform: "darwin,windows" })),
        change("create", "policy", "moved", policy({ platform: "darwin,windows" })),
        change("create", "policy", "told", policy({ platform: "windows,darwin" })),
      ],
    });
    const host = await makeHost(t);
    const rows = new Map((await t.store.policies.list()).map((row) => [row.name, row]));
    const results = [...rows.values()].map(({ result_id }) => result_id);
    await t.store.hostPolicies.upsert(
      [{ id: host.id, passing: results, failing: [], critical_count: 0, issues_count: 0 }],
      {
        on: ["id"],
      },
    );
    await applied(t, {
      changes: [
        change("update", "policy", "asked", policy({ query: "SELECT 2", platform: "darwin,windows" })),
        change("update", "policy", "moved", policy({ platform: "linux" })),
        change("update", "policy", "told", policy({ platform: "darwin,windows", description: "words" })),
      ],
    });
    await backgroundIdle(t.services);
    expect((await t.store.hostPolicies.get(host.id))!.passing).toEqual([rows.get("told")!.result_id]);
  });

  it("moves enroll secrets between teams in one apply, and none can be in two places", async () => {
    const t = await startApp({ engine });
    const secrets = textsOf("one", "two", "three", "four");
    const say = (owner: string | null, ...texts: string[]) =>
      change("update", "enroll_secrets", "enroll_secrets", { secrets: texts.map(secret) }, owner);
    await applied(t, {
      secrets,
      changes: [
        ...["A", "B", "C"].map((name) => change("create", "team", name, { description: "" })),
        say("A", "one", "two"),
        say("B", "three"),
        say("C", "four"),
      ],
    });
    expect(await applied(t, { secrets, changes: [say("A", "three"), say("B", "one"), say(null, "two")] })).toEqual({
      create: 0,
      update: 3,
      delete: 0,
    });
    const [taken] = await refused(t, 422, { secrets, changes: [say("A", "three", "four")] });
    expect(taken).toEqual({
      name: "changes.0.value.secrets",
      reason: 'enroll secrets of team "A": a secret is already in use elsewhere',
    });
    await refused(t, 422, { secrets, changes: [say("A", "one"), say("B", "one")] });
    // The secrets of a deleted team are free.
    await applied(t, { secrets, changes: [say("A", "three", "four"), change("delete", "team", "C")] });
    const state = await stateOf(t, { secrets });
    expect(thingValue(state, "enroll_secrets", "enroll_secrets", "A")).toEqual({
      secrets: [secret("three"), secret("four")].sort((a, b) => (a.$secret < b.$secret ? -1 : 1)),
    });

    // Secrets that were not given stay together, or are deleted together.
    const some = textsOf("three");
    const shown = thingValue<{ secrets: unknown[] }>(
      await stateOf(t, { secrets: some }),
      "enroll_secrets",
      "enroll_secrets",
      "A",
    );
    expect(shown.secrets).toEqual([{ $secret: "" }, secret("three")]);
    const kept = change("update", "enroll_secrets", "enroll_secrets", { secrets: [{ $secret: "" }] }, "A");
    expect(await applied(t, { secrets: some, changes: [kept] })).toEqual({ create: 0, update: 1, delete: 0 });
    expect(thingValue(await stateOf(t, { secrets }), "enroll_secrets", "enroll_secrets", "A")).toEqual({
      secrets: [secret("four")],
    });
    const two = { secrets: [{ $secret: "" }, { $secret: "" }] };
    expect(
      await refused(t, 422, { changes: [change("update", "enroll_secrets", "enroll_secrets", two, "A")] }),
    ).toHaveLength(1);
  });
});

describe.each(bothEngines)("concurrent applies of configuration on %s", (engine) => {
  it("lets one of two applies with the same pins succeed", async () => {
    const t = await startApp({ engine });
    const pins = pinsOf(await stateOf(t));
    for (let round = 0; round < 3; round++) {
      const now = round === 0 ? pins : pinsOf(await stateOf(t));
      const answers = await Promise.all(
        ["a", "b"].map((who) =>
          t.post("/spec/apply", {
            pins: [...now, { kind: "policy", owner: null, name: `p${round}`, revision: null }],
            changes: [change("create", "policy", `p${round}`, policy({ description: who }))],
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
    expect(await t.store.policies.count()).toBe(3);
  });

  it("works with concurrent changes of the same objects", async () => {
    const t = await startApp({ engine });
    const { changes, secrets } = everything([]);
    await applied(t, { changes, secrets });
    const team = (await t.store.teams.list())[0]!.id;
    const integrations = thingValue<{ ticketing_a: object[] }>(await stateOf(t, { secrets }), "config", "integrations");
    const answers: Promise<Response>[] = [];
    for (let i = 0; i < 4; i++) {
      const lists = { ...integrations, ticketing_a: i % 2 === 0 ? [] : integrations.ticketing_a };
      answers.push(
        t.post("/spec/apply", {
          skip_checks: true,
          secrets,
          changes: [
            change("update", "config", "integrations", lists),
            change("update", "policy", "Encrypted", policy({ query: `SELECT ${i}` }), "Sales"),
            change("update", "team", "Sales", { description: `round ${i}` }),
            change("update", "label", "Laptops", label({ query: `SELECT ${i}` })),
          ],
        }),
        t.patch("/config", { integrations: { ticketing_a: [] } }),
        t.patch(`/teams/${team}`, { host_expiry_settings: { host_expiry_window: 10 + i } }),
        t.patch(`/teams/${team}/secrets`, { secrets: [{ secret: `round-${i}` }] }),
        t.post("/spec/policies", { specs: [{ name: "Up", team: "Sales", query: `SELECT ${i}` }] }),
        t.post("/spec/queries", { specs: [{ name: "Users", query: `SELECT ${i}` }] }),
        t.post("/spec/labels", { specs: [{ name: "Laptops", query: `SELECT -${i}` }] }),
        t.post("/teams", { name: `Made meanwhile ${i}` }),
      );
    }
    const statuses = new Set((await Promise.all(answers)).map(({ status }) => status));
    expect([...statuses]).toEqual([200]);
  });
});

interface Hooks {
  failing_policies_webhook: { policy_ids: number[] };
}
