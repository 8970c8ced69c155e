// Settings of teams, and of hosts without one.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NoTeam, Team } from "../../src/api/settings/teams.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { readSection, writeSection } from "../../src/server/settings/app-config/rows.ts";
import { sections } from "../../src/server/settings/app-config/sections.ts";
import { errorOf, makeTeam, makeUser } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { PROVIDER_CERTIFICATE } from "../support/provider-certificate.ts";

const hook = "https://hooks.example.com/x";
const a = { url: "https://tracker.example.com", username: "u", api_token: "t-1", project_key: "OPS" };
const b = { url: "https://desk.example.com", email: "u@example.com", api_token: "t-2", group_id: 7 };
const calendar = { domain: "example.com", api_key_json: { client_email: "x@example.com", private_key: "p" } };
const onA = { url: a.url, project_key: a.project_key, enable_failing_policies: true };
const onB = { url: b.url, group_id: b.group_id, enable_failing_policies: true };
const provider = {
  provider_idp_id: "id-1",
  provider_assertion_consumer_service_url: "https://idp.example.com/acs",
  provider_audience_uri: "https://idp.example.com/audience",
  provider_certificate: PROVIDER_CERTIFICATE,
};

const ok = async <T>(answer: Promise<Response>): Promise<T> => {
  const response = await answer;
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as T;
};
const patched = async (t: Pick<TestApp, "patch">, id: number, body: object) =>
  (await ok<{ team: Team }>(t.patch(`/teams/${id}`, body))).team;
const fieldsOf = async (response: Response) => {
  const { errors } = await errorOf(response);
  return [response.status, ...(errors ?? []).map(({ name }) => name)];
};

/** Device management of Apple and Android is turned on by certificates and connections, not by a setting. */
async function turnOn(t: TestApp, fields: object) {
  const mdm = await readSection(t.store, sections.mdm);
  await writeSection(t.store, sections.mdm, { ...mdm, ...fields }, t.clock.iso());
  await t.store.notify(channels.config, "mdm");
}
const feedOf = async (t: TestApp, after: number) =>
  (await t.store.activities.list({ offset: after, order: [{ column: "id", direction: "asc" }] })).map(
    ({ type, details }) => ({ type, ...details }),
  );

describe.each(rulesEngines)("a team's settings on %s", (engine) => {
  let t: TestApp;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
  });
  afterAll(() => t.close());

  it("are changed field by field; lists are replaced, and null removes the host status webhook", async () => {
    const id = await makeTeam(t, "Fields");
    const status = { enable_host_status_webhook: true, destination_url: hook, host_percentage: 5, days_count: 3 };
    const first = await patched(t, id, {
      webhook_settings: { host_status_webhook: status },
      host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 9 },
    });
    expect(first.webhook_settings.host_status_webhook).toEqual(status);
    expect(first.webhook_settings.failing_policies_webhook.enable_failing_policies_webhook).toBe(false);
    const second = await patched(t, id, {
      webhook_settings: {
        host_status_webhook: { days_count: 4 },
        failing_policies_webhook: { enable_failing_policies_webhook: true, destination_url: hook, policy_ids: [1, 2] },
      },
    });
    expect(second.webhook_settings).toEqual({
      host_status_webhook: { ...status, days_count: 4 },
      failing_policies_webhook: {
        enable_failing_policies_webhook: true,
        destination_url: hook,
        policy_ids: [1, 2],
        host_batch_size: 0,
      },
      failing_policies_mail: { enable_failing_policies_mail: false, recipients: [], digest: "daily" },
      host_activities_webhook: null,
    });
    expect(second.host_expiry_settings).toEqual({ host_expiry_enabled: true, host_expiry_window: 9 });
    const third = await patched(t, id, {
      webhook_settings: { host_status_webhook: null, failing_policies_webhook: { policy_ids: [3] } },
    });
    expect(third.webhook_settings).toMatchObject({
      host_status_webhook: null,
      failing_policies_webhook: { enable_failing_policies_webhook: true, policy_ids: [3] },
    });
    const { team } = await ok<{ team: Team }>(t.get(`/teams/${id}`));
    expect(team).toEqual(third);
    const { agent_options: _, ...rest } = team;
    expect(await patched(t, id, rest)).toEqual(team);
    expect(await patched(t, id, { features: { enable_host_users: false } })).toEqual({
      ...team,
      features: { ...team.features, enable_host_users: false },
    });
    expect(await fieldsOf(await t.patch(`/teams/${id}`, { agent_options: { config: {} } }))).toEqual([
      400,
      "agent_options",
    ]);
    // Where other code reads them.
    expect((await t.store.teams.get(id))!.settings.webhook_settings?.failing_policies_webhook.policy_ids).toEqual([3]);
  });

  it("refuse invalid values, with the field, and change nothing", async () => {
    const id = await makeTeam(t, "Rules");
    await ok(t.patch("/config", { integrations: { ticketing_a: [a], ticketing_b: [b], calendar: [] } }));
    const before = await ok(t.get(`/teams/${id}`));
    const failing = { enable_failing_policies_webhook: true, destination_url: hook };
    const cases: [string, object, string][] = [
      [
        "a webhook without a destination",
        { webhook_settings: { failing_policies_webhook: { enable_failing_policies_webhook: true } } },
        "webhook_settings.failing_policies_webhook.destination_url",
      ],
      [
        "a host status webhook without days",
        {
          webhook_settings: {
            host_status_webhook: { enable_host_status_webhook: true, destination_url: hook, host_percentage: 1 },
          },
        },
        "webhook_settings.host_status_webhook.days_count",
      ],
      [
        "a tracker that the configuration does not have",
        { integrations: { ticketing_a: [{ ...onA, project_key: "OTHER" }] } },
        "integrations.ticketing_a.0.url",
      ],
      [
        "a help desk that the configuration does not have",
        { integrations: { ticketing_b: [{ ...onB, url: "https://other.example.com" }] } },
        "integrations.ticketing_b.0.url",
      ],
      ["the same tracker twice", { integrations: { ticketing_a: [onA, onA] } }, "integrations.ticketing_a.1.url"],
      [
        "a webhook and a tracker",
        { webhook_settings: { failing_policies_webhook: failing }, integrations: { ticketing_a: [onA] } },
        "integrations.ticketing_a.0.enable_failing_policies",
      ],
      [
        "two trackers",
        { integrations: { ticketing_a: [onA], ticketing_b: [onB] } },
        "integrations.ticketing_b.0.enable_failing_policies",
      ],
      [
        "a calendar without the global one",
        { integrations: { calendar: { enable_calendar_events: true, webhook_url: hook } } },
        "integrations.calendar.enable_calendar_events",
      ],
      [
        "conditional access without a provider",
        { integrations: { conditional_access_enabled: true } },
        "integrations.conditional_access_enabled",
      ],
      [
        "expiry without days",
        { host_expiry_settings: { host_expiry_enabled: true } },
        "host_expiry_settings.host_expiry_window",
      ],
      ["a wrong type", { integrations: { ticketing_a: {} } }, "integrations.ticketing_a"],
      [
        "a percentage over a hundred",
        { webhook_settings: { host_status_webhook: { host_percentage: 101 } } },
        "webhook_settings.host_status_webhook.host_percentage",
      ],
      ["encryption while MDM is off", { mdm: { enable_disk_encryption: true } }, "mdm.enable_disk_encryption"],
      [
        "encryption of Macs while MDM is off",
        { mdm: { disk_encryption: { macos: true } } },
        "mdm.disk_encryption.macos",
      ],
      [
        "updates while MDM is off",
        { mdm: { macos_updates: { minimum_version: "14", deadline: "2026-05-01" } } },
        "mdm.macos_updates",
      ],
      [
        "Windows updates while MDM is off",
        { mdm: { windows_updates: { deadline_days: 1, grace_period_days: 1 } } },
        "mdm.windows_updates",
      ],
      [
        "a setup while MDM is off",
        { mdm: { macos_setup: { enable_end_user_authentication: true } } },
        "mdm.macos_setup",
      ],
      [
        "profiles, which another endpoint stores",
        { mdm: { android_settings: { custom_settings: [{ path: "x.json" }] } } },
        "mdm.android_settings.custom_settings",
      ],
      [
        "a bootstrap package, which another endpoint stores",
        { mdm: { macos_setup: { bootstrap_package: "https://example.com/x.pkg" } } },
        "mdm.macos_setup.bootstrap_package",
      ],
      ["a script of the setup", { mdm: { macos_setup: { script: "setup.sh" } } }, "mdm.macos_setup.script"],
      ["software of the setup", { mdm: { macos_setup: { software: [{}] } } }, "mdm.macos_setup.software"],
    ];
    for (const [what, body, field] of cases) {
      const found = await fieldsOf(await t.patch(`/teams/${id}`, { description: "changed", ...body }));
      expect([found[0], found.includes(field)], `${what}: ${found.join(", ")}`).toEqual([422, true]);
      expect(await ok(t.get(`/teams/${id}`)), what).toEqual(before);
    }
    const made = await fieldsOf(await t.post("/teams", { name: "Never", mdm: { enable_disk_encryption: true } }));
    expect(made).toEqual([422, "mdm.enable_disk_encryption"]);
    expect((await ok<{ teams: Team[] }>(t.get("/teams?query=never"))).teams).toEqual([]);
    // Values that turn nothing on are valid.
    await patched(t, id, { mdm: (before as { team: Team }).team.mdm });
  });

  it("of device management follow its rules once it is on, and are recorded", async () => {
    const id = await makeTeam(t, "Managed");
    await turnOn(t, { enabled_and_configured: true, windows_enabled_and_configured: true });
    const start = await t.store.activities.count();
    const team = { team_id: id, team_name: "Managed" };
    const { mdm } = await patched(t, id, {
      mdm: {
        macos_settings: { enable_disk_encryption: true },
        windows_require_bitlocker_pin: true,
        macos_updates: { minimum_version: "14.1", deadline: "2026-05-01" },
        windows_updates: { deadline_days: 5, grace_period_days: 2 },
        macos_setup: { enable_end_user_authentication: true },
      },
    });
    expect(mdm).toMatchObject({
      enable_disk_encryption: true,
      macos_updates: { minimum_version: "14.1", deadline: "2026-05-01", update_new_hosts: true },
      macos_settings: { custom_settings: [] },
      macos_setup: { enable_end_user_authentication: true, script: "", software: [] },
    });
    expect(await feedOf(t, start)).toEqual([
      { type: "edited_macos_min_version", ...team, minimum_version: "14.1", deadline: "2026-05-01" },
      { type: "edited_windows_updates", ...team, deadline_days: 5, grace_period_days: 2 },
      { type: "enabled_macos_update_new_hosts", ...team },
      { type: "enabled_macos_disk_encryption", ...team },
      { type: "enabled_macos_setup_end_user_auth", ...team },
      {
        type: "edited_team",
        ...team,
        changes: [{ path: "mdm.windows_require_bitlocker_pin", old: false, new: true }],
      },
    ]);
    for (const [body, field] of [
      [{ windows_updates: { deadline_days: 31 } }, "mdm.windows_updates.deadline_days"],
      [{ windows_updates: { grace_period_days: null } }, "mdm.windows_updates.grace_period_days"],
      [{ enable_disk_encryption: false, windows_require_bitlocker_pin: true }, "mdm.windows_require_bitlocker_pin"],
      [{ ios_updates: { minimum_version: "17" } }, "mdm.ios_updates.deadline"],
      [{ macos_updates: { deadline: "soon" } }, "mdm.macos_updates.deadline"],
    ] as const)
      expect(await fieldsOf(await t.patch(`/teams/${id}`, { mdm: body }))).toEqual([422, field]);
    // Settings that were turned on can be turned off, or stay, after device management is turned off.
    await turnOn(t, { enabled_and_configured: false, windows_enabled_and_configured: false });
    await patched(t, id, { mdm });
    const off = await patched(t, id, { mdm: { windows_updates: { deadline_days: null, grace_period_days: null } } });
    expect(off.mdm.windows_updates).toEqual({ deadline_days: null, grace_period_days: null });
  });

  it("follow the organization's integrations: one that is removed there is removed from teams", async () => {
    const id = await makeTeam(t, "Tickets");
    await ok(
      t.patch("/config", {
        conditional_access: provider,
        integrations: { ticketing_a: [a], ticketing_b: [b], calendar: [calendar] },
      }),
    );
    const start = await t.store.activities.count();
    const team = await patched(t, id, {
      name: "Desk",
      integrations: {
        ticketing_a: [{ ...onA, enable_failing_policies: false }],
        ticketing_b: [onB],
        calendar: { enable_calendar_events: true, webhook_url: hook },
        conditional_access_enabled: true,
      },
    });
    const who = { team_id: id, team_name: "Desk" };
    expect(await feedOf(t, start)).toMatchObject([
      { type: "enabled_conditional_access_automations", ...who },
      { type: "edited_team", ...who, changes: [{ path: "name", old: "Tickets", new: "Desk" }, {}, {}, {}, {}] },
    ]);
    expect(team.integrations.ticketing_b).toEqual([onB]);
    await ok(t.patch("/teams/0", { integrations: { ticketing_b: [onB] } }));
    await ok(t.patch("/config", { integrations: { ticketing_b: [], calendar: [] } }));
    expect((await ok<{ team: Team }>(t.get(`/teams/${id}`))).team.integrations).toEqual({
      ticketing_a: [{ ...onA, enable_failing_policies: false }],
      ticketing_b: [],
      calendar: { enable_calendar_events: false, webhook_url: hook },
      conditional_access_enabled: true,
    });
    expect((await ok<{ team: NoTeam }>(t.get("/teams/0"))).team.integrations.ticketing_b).toEqual([]);
  });

  it("of hosts without a team are sent back as they were returned, and take no other fields", async () => {
    const { team } = await ok<{ team: NoTeam }>(t.get("/teams/0"));
    expect(await ok(t.patch("/teams/0", team))).toEqual({ team });
    for (const [body, status, field] of [
      [{ name: "x" }, 422, "name"],
      [{ id: 5 }, 422, "id"],
      [{ description: "x" }, 400, "description"],
      [{ features: { enable_host_users: false } }, 400, "features"],
      [{ secrets: [] }, 400, "secrets"],
      [{ mdm: {} }, 400, "mdm"],
      [{ integrations: { calendar: {} } }, 400, "integrations.calendar"],
    ] as const) {
      const response = await t.patch("/teams/0", body);
      const { errors } = (await response.json()) as { errors: { name: string }[] };
      expect([response.status, errors[0]!.name]).toEqual([status, field]);
    }
  });

  it("can be changed by the team's admins and gitops, but not another team's", async () => {
    const mine = await makeTeam(t, "Mine");
    const other = await makeTeam(t, "Other");
    const body = { webhook_settings: { host_status_webhook: null } };
    for (const role of ["admin", "gitops", "maintainer", "observer"] as const) {
      const person = await makeUser(t, { [mine]: role });
      const full = role === "admin" || role === "gitops";
      expect([role, (await person.patch(`/teams/${mine}`, body)).status]).toEqual([role, full ? 200 : 403]);
      expect([role, (await person.patch(`/teams/${other}`, body)).status]).toEqual([role, full ? 404 : 403]);
      expect((await person.get("/teams/0")).status).toBe(403);
      expect((await person.patch("/teams/0", {})).status).toBe(403);
    }
  });
});

describe.each(bothEngines)("concurrent changes of integrations on %s", (engine) => {
  it("never keep an integration that the organization removed concurrently", async () => {
    const t = await startApp({ engine });
    const id = await makeTeam(t, "Race");
    for (let round = 0; round < 8; round++) {
      await ok(t.patch("/config", { integrations: { ticketing_a: [a] } }));
      await ok(t.patch(`/teams/${id}`, { integrations: { ticketing_a: [] }, description: "" }));
      const changes = [
        () => t.patch("/config", { integrations: { ticketing_a: [] } }),
        () => t.patch(`/teams/${id}`, { integrations: { ticketing_a: [onA] } }),
        () => t.patch(`/teams/${id}`, { description: "kept" }),
      ];
      if (round % 2 === 1) changes.reverse();
      const replies = await Promise.all(changes.map((change) => change()));
      for (const { status } of replies) expect([200, 422]).toContain(status);
      const { team } = await ok<{ team: Team }>(t.get(`/teams/${id}`));
      expect([team.integrations.ticketing_a, team.description]).toEqual([[], "kept"]);
    }
  });
});

describe.each(rulesEngines)("team 0 on %s", (engine) => {
  it("has the settings of hosts without a team", async () => {
    const t = await startApp({ engine });
    await ok(t.patch("/config", { integrations: { ticketing_a: [a] } }));
    const webhook = {
      enable_failing_policies_webhook: false,
      destination_url: "",
      policy_ids: [],
      host_batch_size: 0,
    };
    const noMail = { enable_failing_policies_mail: false, recipients: [], digest: "daily" as const };
    const none: NoTeam = {
      id: 0,
      name: "No team",
      webhook_settings: {
        failing_policies_webhook: webhook,
        failing_policies_mail: noMail,
        host_activities_webhook: null,
      },
      integrations: { ticketing_a: [], ticketing_b: [] },
    };
    expect(await ok(t.get("/teams/0"))).toEqual({ team: none });
    const start = await t.store.activities.count();
    const on = { ...webhook, enable_failing_policies_webhook: true, destination_url: hook };
    const { team } = await ok<{ team: NoTeam }>(
      t.patch("/teams/0", { webhook_settings: { failing_policies_webhook: on } }),
    );
    expect(team).toEqual({
      ...none,
      webhook_settings: { ...none.webhook_settings, failing_policies_webhook: on },
    });
    expect(await fieldsOf(await t.patch("/teams/0", { integrations: { ticketing_a: [onA] } }))).toEqual([
      422,
      "integrations.ticketing_a.0.enable_failing_policies",
    ]);
    const off = { webhook_settings: null, integrations: { ticketing_a: [onA] } };
    expect(await ok(t.patch("/teams/0", off))).toEqual({
      team: { ...none, integrations: { ticketing_a: [onA], ticketing_b: [] } },
    });
    expect(await ok(t.patch("/teams/0", off))).toEqual(await ok(t.get("/teams/0")));
    expect(await fieldsOf(await t.patch("/teams/0", { integrations: { ticketing_b: [onB] } }))).toEqual([
      422,
      "integrations.ticketing_b.0.url",
      "integrations.ticketing_b.0.enable_failing_policies",
    ]);
    expect(await feedOf(t, start)).toMatchObject([
      { type: "edited_team", team_id: 0, team_name: "No team", changes: [{}, {}] },
      { type: "edited_team", team_id: 0, team_name: "No team", changes: [{}, {}, {}] },
    ]);
    expect((await ok<{ teams: Team[] }>(t.get("/teams"))).teams).toEqual([]);
    for (const role of ["maintainer", "observer"] as const) {
      const person = await makeUser(t, role);
      expect((await person.get("/teams/0")).status).toBe(200);
      expect((await person.patch("/teams/0", {})).status).toBe(403);
    }
    expect((await t.delete("/teams/0")).status).toBe(405);
  });

  it("is premium", async () => {
    const t = await startApp({ engine, tier: "free" });
    expect((await t.get("/teams/0")).status).toBe(402);
    expect((await t.patch("/teams/0", {})).status).toBe(402);
  });
});

describe.each(rulesEngines)("POST /spec/teams on %s", (engine) => {
  it("creates and changes teams by name; omitted fields stay, and the same request again does nothing", async () => {
    const t = await startApp({ engine });
    const spec = {
      name: "Spec",
      agent_options: { config: { options: { logger_tls_period: 30 } } },
      features: { enable_host_users: false },
      host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 9 },
      secrets: [{ secret: "spec-secret" }],
    };
    const first = await t.post("/spec/teams", { specs: [spec, { name: "Other" }] });
    const ids = ((await first.json()) as { team_ids_by_name: Record<string, number> }).team_ids_by_name;
    expect(Object.keys(ids)).toEqual(["Spec", "Other"]);
    const teamOf = async (name: string) =>
      ((await (await t.get(`/teams/${ids[name]}`)).json()) as { team: Record<string, unknown> }).team;
    expect(await teamOf("Spec")).toMatchObject({
      agent_options: spec.agent_options,
      features: { enable_host_users: false, enable_software_inventory: true },
      host_expiry_settings: spec.host_expiry_settings,
      secrets: [{ secret: "spec-secret" }],
    });

    const before = await t.store.activities.count();
    expect((await t.post("/spec/teams", { specs: [spec, { name: "Other" }] })).status).toBe(200);
    expect(await t.store.activities.count()).toBe(before);
    await t.post("/spec/teams", { specs: [{ name: "spec", agent_options: null }] });
    expect(await teamOf("Spec")).toMatchObject({
      agent_options: null,
      host_expiry_settings: { host_expiry_window: 9 },
    });

    for (const [what, given] of [
      ["scripts", ["lib/a.sh"]],
      ["software", { packages: [{ url: "https://example.com/a.deb" }] }],
    ] as const) {
      const response = await t.post("/spec/teams", { specs: [{ name: "Spec", [what]: given }] });
      expect([response.status, await response.text()]).toEqual([422, expect.stringContaining(`POST /${what}/batch`)]);
      const empty = { specs: [{ name: "Spec", [what]: what === "scripts" ? [] : {} }] };
      expect((await t.post("/spec/teams", empty)).status).toBe(200);
    }
    const dry = await t.post("/spec/teams?dry_run=true", { specs: [{ name: "New" }, { name: "Spec", features: {} }] });
    expect(await dry.json()).toEqual({ team_ids_by_name: { Spec: ids.Spec } });
    expect(await t.store.teams.count()).toBe(2);
  });

  it("refuses all of them if one is invalid, with its name", async () => {
    const t = await startApp({ engine });
    const refusals: [object, number, string][] = [
      [{ name: "B", surprise: 1 }, 400, "specs.1.surprise"],
      [{ name: "B", mdm: { surprise: 1 } }, 400, "specs.1.mdm.surprise"],
      [{ name: "B", agent_options: { confg: {} } }, 400, "specs.1.agent_options.confg"],
      [
        { name: "B", host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 0 } },
        422,
        "specs.1.host_expiry_settings.host_expiry_window",
      ],
      [
        { name: "B", mdm: { windows_updates: { deadline_days: 31, grace_period_days: 1 } } },
        422,
        "specs.1.mdm.windows_updates",
      ],
      [{ name: "B", scripts: ["run.sh"] }, 422, "specs.1.scripts"],
      [{ name: "B", secrets: [{ secret: " " }] }, 422, "specs.1.secrets"],
      [{ name: "a" }, 422, "specs.1.name"],
      [{}, 400, "specs.1.name"],
    ];
    for (const [spec, status, name] of refusals) {
      const res = await t.post("/spec/teams", { specs: [{ name: "A" }, spec] });
      expect(res.status, JSON.stringify(spec)).toBe(status);
      const { errors } = (await res.json()) as { errors: { name: string }[] };
      expect(errors.map((error) => error.name)).toContain(name);
      expect(await t.store.teams.count()).toBe(0);
    }
    const forced = { name: "B", surprise: 1, agent_options: { confg: {} } };
    expect((await t.post("/spec/teams?force=true", { specs: [forced] })).status).toBe(200);
  });
});
