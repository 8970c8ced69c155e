// Configuration as code on the server: everything that files can contain, read in one snapshot and changed in one
// transaction.
import { describe, expect, it } from "vitest";
import type { ConfigurationState, StateThing, ThingChange, ThingKey } from "../../../src/api/edge/configuration.ts";
import { gt } from "../../../src/server/platform/store/query.ts";
import { sections } from "../../../src/server/settings/app-config/sections.ts";
import { startApp, type TestApp } from "../../support/app.ts";
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

async function typesSince({ store }: TestApp, id: number | string | boolean): Promise<string[]> {
  const rows = await store.activities.pick(["type"], { where: gt("id", id as number) });
  return rows.map(({ type }) => type).sort();
}

const withoutRevisions = (things: readonly StateThing[]) =>
  new Map(things.map(({ kind, owner, name, value }) => [JSON.stringify([kind, owner, name]), value]));

/** The expected thing after a change that gives it completely. */
function expectApplied(state: ConfigurationState, changes: readonly ThingChange[]): void {
  for (const { kind, owner, name, action, value } of changes) {
    const thing = find(state, { kind, owner, name });
    if (action === "delete") expect(thing, `${kind} ${name}`).toBeUndefined();
    else if (kind === "team_settings" && owner === "Sales") expect(thing?.value).toMatchObject(value as object);
    else expect(thing?.value, `${kind} ${name}`).toEqual(value);
  }
}

describe.each(rulesEngines)("configuration on %s", (engine) => {
  it("is returned completely and equals the applied values, for every kind; a second apply changes nothing", async () => {
    const t = await startApp({ engine });
    const first = await makeHost(t, { hardware_serial: "SERIAL-2" });
    const second = await makeHost(t, { hardware_serial: "SERIAL-1" });
    const other = await makeHost(t, { hardware_serial: "", uuid: "some-uuid" });
    const { changes, secrets } = everything(["SERIAL-1", "SERIAL-2", "some-uuid"]);
    expect(await applied(t, { changes, secrets })).toEqual({ create: 11, update: 9, delete: 0 });
    const state = await stateOf(t, { secrets });
    expectApplied(state, changes);
    expect(new Set((await t.store.labelMembers.list()).map(({ host_id }) => host_id))).toEqual(
      new Set([first.id, second.id, other.id]),
    );

    const before = await newestActivity(t);
    const rows = await revisionsOf(t);
    const again = changes.map((one): ThingChange => ({ ...one, action: "update" }));
    expect(await applied(t, { changes: again, secrets, pins: pinsOf(state) })).toEqual({
      create: 0,
      update: 0,
      delete: 0,
    });
    expect(await newestActivity(t)).toBe(before);
    expect(await revisionsOf(t)).toEqual(rows);
    expect(await stateOf(t, { secrets })).toEqual(state);

    // Applying the complete state unchanged is no change either.
    const all = state.things.map(({ kind, owner, name, value }) => change("update", kind, name, value, owner));
    expect(await applied(t, { changes: all, secrets })).toEqual({ create: 0, update: 0, delete: 0 });
    expect(await newestActivity(t)).toBe(before);
  });

  it("changes one field of each kind, and deletes what can be deleted", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { hardware_serial: "SERIAL-1" });
    const { changes, secrets } = everything([]);
    await applied(t, { changes, secrets });
    const state = await stateOf(t, { secrets });
    const edit = (kind: ThingKey["kind"], name: string, owner: string | null, more: object) =>
      change("update", kind, name, { ...thingValue<object>(state, kind, name, owner), ...more }, owner);
    const edits = [
      edit("config", "org_info", null, { org_name: "Renamed" }),
      edit("config", "webhook_settings", null, { interval: "12h" }),
      edit("agent_options", "agent_options", null, { config: { options: { logger_tls_period: 21 } } }),
      change("update", "agent_options", "agent_options", null, "Sales"),
      edit("certificate_authority", "custom_scep_proxy/WIFI", null, { url: "https://scep2.example.com/scep" }),
      edit("label", "Laptops", null, { description: "with a battery" }),
      edit("label", "Picked", null, { hosts: ["SERIAL-1"] }),
      edit("team", "Sales", null, { description: "" }),
      edit("team_settings", "team_settings", "Sales", {
        host_expiry_settings: { host_expiry_enabled: false, host_expiry_window: 0 },
      }),
      edit("enroll_secrets", "enroll_secrets", null, { secrets: [secret("another")] }),
      edit("policy", "Encrypted", null, { webhooks_and_tickets_enabled: false }),
      edit("policy", "Encrypted", "Sales", { labels_include_any: [], labels_exclude_any: ["Picked"] }),
      edit("policy", "Loose", "No team", { query: "SELECT 2" }),
      edit("query", "Users", "Sales", { interval: 60, labels_include_any: ["Picked"] }),
    ];
    const since = await newestActivity(t);
    const all = { ...secrets, ...textsOf("another") };
    expect(await applied(t, { changes: edits, secrets: all })).toEqual({ create: 0, update: edits.length, delete: 0 });
    const after = await stateOf(t, { secrets: all });
    expectApplied(after, edits);
    // Nothing else has changed.
    const told = new Set(edits.map(({ kind, owner, name }) => JSON.stringify([kind, owner, name])));
    const untouched = (state: ConfigurationState) =>
      [...withoutRevisions(state.things)].filter(([key]) => !told.has(key));
    expect(untouched(after)).toEqual(untouched(state));
    expect(await typesSince(t, since)).toEqual([
      "applied_spec_policy",
      "applied_spec_saved_query",
      "edited_agent_options",
      "edited_agent_options",
      "edited_config",
      "edited_custom_scep_proxy",
      "edited_enroll_secrets",
      "edited_label",
      "edited_label",
      "edited_team",
      "edited_team",
    ]);
    const [member] = await t.store.labelMembers.list();
    expect(member!.host_id).toBe(host.id);

    // Labels can be deleted although policies used them, because these are deleted too.
    const gone = [
      change("delete", "policy", "Encrypted", undefined, "Sales"),
      change("delete", "query", "Users", undefined, "Sales"),
      change("delete", "policy", "Encrypted"),
      change("delete", "policy", "Loose", undefined, "No team"),
      change("delete", "label", "Picked"),
      change("delete", "label", "Laptops"),
      change("delete", "team", "Sales"),
      change("delete", "certificate_authority", "custom_scep_proxy/WIFI"),
    ];
    expect(await applied(t, { changes: gone })).toEqual({ create: 0, update: 0, delete: gone.length });
    const left = await stateOf(t, { secrets: all });
    expectApplied(left, gone);
    expect(left.things.filter(({ owner }) => owner === "Sales")).toEqual([]);
    expect(await t.store.policies.count()).toBe(0);
    expect(await t.store.queries.count()).toBe(1);
    expect(await t.store.enrollSecrets.count()).toBe(1);
  });

  it("stores authorities of every type, and each section of the configuration, as given", async () => {
    const t = await startApp({ engine });
    const texts = ["ca-1", "ca-2", "ca-3", "ca-4", "ca-5", "ca-6"];
    const secrets = textsOf(...texts);
    const [one, two, three, four, five, six] = texts.map(secret);
    const url = "https://ca.example.com/x";
    const authorities: Record<string, object> = {
      "hosted_ca_a/A": {
        name: "A",
        url,
        api_token: one,
        profile_id: "p",
        certificate_common_name: "$SVC_VAR_HOST_UUID",
        certificate_user_principal_names: [],
        certificate_seat_id: "$SVC_VAR_HOST_UUID",
      },
      "directory_scep_proxy/directory_scep_proxy": { url, admin_url: url, username: "u", password: two },
      "custom_scep_proxy/B": { name: "B", url, challenge: three },
      "custom_est_proxy/C": { name: "C", url, username: "u", password: four, allow_hostname: false },
      "hosted_est_ca/D": { name: "D", url, client_id: "c", client_secret: five, allow_hostname: false },
      "hosted_scep_ca/hosted_scep_ca": { url, challenge_url: url, username: "u", password: six },
    };
    const make = Object.entries(authorities).map(([name, value]) =>
      change("create", "certificate_authority", name, value),
    );
    expect(await applied(t, { changes: make, secrets })).toMatchObject({ create: 6 });
    const state = await stateOf(t, { secrets });
    for (const [name, value] of Object.entries(authorities))
      expect(thingValue(state, "certificate_authority", name)).toEqual(value);

    const edits: Record<string, object> = {
      server_settings: { live_query_disabled: true, query_report_cap: 7, enable_analytics: true },
      host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 90 },
      activity_expiry_settings: { activity_expiry_enabled: true, activity_expiry_window: 30 },
      features: { enable_software_inventory: false, additional_queries: { a: "SELECT 1", b: "SELECT 2" } },
      sso_settings: {
        enable_sso: true,
        entity_id: "entity",
        issuer_uri: "https://idp.example.com",
        idp_name: "IdP",
        metadata_url: "https://idp.example.com/metadata",
      },
      conditional_access: { directory_tenant_id: "tenant" },
      mdm: {
        windows_enabled_and_configured: true,
        ios_updates: { minimum_version: "17.1", deadline: "2026-05-01", deadline_days: null },
      },
      vulnerability_settings: { databases_path: "/var/lib/vulnerabilities" },
      svc_desktop: { transparency_url: "https://example.com/transparency" },
      gitops: { gitops_mode_enabled: true, repository_url: "https://git.example.com/it" },
      webhook_settings: { interval: "30m" },
      yara_rules: { "eicar.yar": "rule eicar { condition: false }" },
      integrations: {
        calendar: [
          { domain: "example.com", api_key_json: { client_email: "a@example.com", private_key: secret("ca-1") } },
        ],
      },
    };
    const changes = Object.entries(edits).map(([name, more]) =>
      change("update", "config", name, { ...thingValue<object>(state, "config", name), ...more }),
    );
    expect(await applied(t, { changes, secrets })).toEqual({ create: 0, update: changes.length, delete: 0 });
    const after = await stateOf(t, { secrets });
    for (const { name, value } of changes) expect(thingValue(after, "config", name)).toEqual(value);
    const named = state.things.filter(({ kind }) => kind === "config").map(({ name }) => name);
    expect(new Set([...Object.keys(edits), "org_info", "smtp_settings"])).toEqual(new Set(named));
    // Omitted fields of a section are reset to their defaults, because values are complete.
    await applied(t, { changes: [change("update", "config", "features", { additional_queries: { a: "SELECT 1" } })] });
    expect(thingValue(await stateOf(t), "config", "features")).toEqual({
      ...sections.features.defaults,
      enable_host_users: true,
      enable_software_inventory: true,
      additional_queries: { a: "SELECT 1" },
    });
    expect(after.defaults.config.features).toEqual(thingValue(state, "config", "features"));
  });

  it("names hosts as labels do, and skips those that no longer exist", async () => {
    const t = await startApp({ engine });
    const one = await makeHost(t, { hardware_serial: "S1", uuid: "u1", hostname: "alike" });
    const two = await makeHost(t, { hardware_serial: "S2", uuid: "u2", hostname: "alike" });
    const bare = await makeHost(t, { hardware_serial: "", uuid: "", hostname: "bare" });
    const { hosts } = await stateOf(t, { hosts: ["u1", "alike", bare.id, "bare", "nobody", 999_999, "u1"] });
    expect(hosts).toEqual([
      { given: "u1", host: "S1" },
      { given: "alike", host: "S1" },
      { given: "alike", host: "S2" },
      { given: bare.id, host: bare.id },
      { given: "bare", host: bare.id },
      { given: "nobody", host: null },
      { given: 999_999, host: null },
    ]);
    const manual = label({ label_membership_type: "manual", query: "", hosts: ["u2", "nobody", bare.id] });
    await applied(t, { changes: [change("create", "label", "m", manual)] });
    expect(thingValue(await stateOf(t), "label", "m")).toMatchObject({ hosts: [bare.id, "S2"] });
    expect(two.id).not.toBe(one.id);
    await makeHost(t, { uuid: "u3", hardware_serial: "s3" });
    await makeHost(t, { uuid: "s3", hardware_serial: "S4" });
    for (const name of ["alike", "S3"]) {
      const ambiguous = { ...manual, hosts: ["u1", name] };
      const [error] = await refused(t, 422, { changes: [change("update", "label", "m", ambiguous)] });
      expect(error).toMatchObject({
        name: "changes.0.value.hosts",
        reason: expect.stringContaining(`2 hosts have the`),
      });
      expect(thingValue(await stateOf(t), "label", "m")).toMatchObject({ hosts: [bare.id, "S2"] });
    }
  });

  it("names hosts so that no other host is found", async () => {
    const t = await startApp({ engine });
    const uuid = "5e5e5e5e-0001-4000-8000-00000000000a";
    const victim = await makeHost(t, { hardware_serial: "S1", uuid });
    const evil = await makeHost(t, { hardware_serial: uuid, uuid: "S1", hostname: uuid });
    const { hosts } = await stateOf(t, { hosts: [victim.id, evil.id, uuid] });
    expect(hosts).toEqual([
      { given: victim.id, host: uuid },
      { given: evil.id, host: evil.id },
      { given: uuid, host: uuid },
    ]);
  });

  it("records thousands of policies in one small activity", async () => {
    const t = await startApp({ engine });
    const long = "x".repeat(2_000);
    const changes = Array.from({ length: 2_500 }, (_, i) =>
      change("create", "policy", `p${i}`, policy({ query: `SELECT '${long}'` })),
    );
    const since = await newestActivity(t);
    expect(await applied(t, { changes })).toEqual({ create: 2_500, update: 0, delete: 0 });
    const rows = await t.store.activities.list({ where: gt("id", since as number) });
    expect(rows.map(({ type }) => type)).toEqual(["applied_spec_policy"]);
    const details = rows[0]!.details as { policies: { name: string }[]; count: number };
    expect(details.count).toBe(2_500);
    expect(details.policies[0]).toMatchObject({ name: "p0", query: `SELECT '${long}'` });
    expect(details.policies[1_999]).toEqual({ name: "p1999", team: null });
    expect(JSON.stringify(details).length).toBeLessThan(256 * 1024);
  });
});

describe.each(bothEngines)("the state that is read while it changes on %s", (engine) => {
  it("is a snapshot: concurrent changes are in it completely or not at all", async () => {
    const t = await startApp({ engine });
    let done = false;
    const writing = (async () => {
      for (let i = 0; i < 12; i++) {
        const action = i === 0 ? "create" : "update";
        const text = `SELECT ${i}`;
        await applied(t, {
          changes: [
            change(action, "policy", "p", policy({ query: text })),
            change(action, "query", "q", query({ query: text })),
            change(action, "label", "l", label({ query: text })),
          ],
        });
      }
      done = true;
    })();
    let seen = 0;
    while (!done) {
      const state = await stateOf(t);
      const texts = new Set(
        (["policy", "query", "label"] as const).map((kind) => {
          const thing = state.things.find((one) => one.kind === kind);
          return thing ? (thing.value as { query: string }).query : "none";
        }),
      );
      expect([...texts]).toHaveLength(1);
      seen++;
    }
    await writing;
    expect(seen).toBeGreaterThan(0);
  });
});

/** Revisions of the rows of the configuration, which every write increases. */
async function revisionsOf({ store }: TestApp) {
  const rows = await Promise.all(
    [
      store.configSections,
      store.teams,
      store.labels,
      store.labelMembers,
      store.policies,
      store.policyLabels,
      store.queries,
      store.queryLabels,
      store.enrollSecrets,
      store.certificateAuthorities,
    ].map(async (collection) =>
      (await (collection as TestApp["store"]["teams"]).list()).map(({ id, revision }) => [id, revision]),
    ),
  );
  return rows;
}
