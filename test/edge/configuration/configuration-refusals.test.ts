// Reasons for which applies are refused, permissions, and that secrets are never returned.
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import type { ConfigurationState, ThingChange } from "../../../src/api/edge/configuration.ts";
import { type Caller, startApp } from "../../support/app.ts";
import { allowLocal, startFake } from "../../support/ca-fakes.ts";
import {
  applied,
  change,
  everything,
  find,
  label,
  pinsOf,
  policy,
  query,
  refOf,
  refused,
  secret,
  stateOf,
  textsOf,
  thingValue,
} from "../../support/configuration.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

describe.each(rulesEngines)("refusals of configuration on %s", (engine) => {
  it("creates missing objects and changes existing ones, otherwise 409", async () => {
    const t = await startApp({ engine });
    const { changes, secrets } = everything([]);
    await applied(t, { changes, secrets });
    const created = changes.filter(({ action }) => action === "create");
    for (const one of created) {
      const [error] = await refused(t, 409, { changes: [one], secrets });
      expect(error!.name).toBe("changes.0");
      expect(error!.reason).toContain("already exists");
      const missing = one.kind === "certificate_authority" ? "custom_scep_proxy/NONE" : "None such";
      const value = one.kind === "certificate_authority" ? { ...(one.value as object), name: "NONE" } : one.value;
      for (const action of ["update", "delete"] as const) {
        const [error] = await refused(t, 409, { changes: [{ ...one, name: missing, action, value: value! }], secrets });
        expect(error!.reason).toContain("does not exist");
      }
    }
    const twice = change("create", "team", "SALES", { description: "" });
    expect((await refused(t, 409, { changes: [twice] }))[0]!.reason).toContain("a team with the name Sales exists");
    const settings = thingValue(await stateOf(t), "team_settings", "team_settings", "Sales");
    expect(
      await refused(t, 409, { changes: [change("create", "team_settings", "team_settings", settings, "Sales")] }),
    ).toHaveLength(1);
    expect(
      await refused(t, 422, { changes: [change("delete", "team_settings", "team_settings", undefined, "Sales")] }),
    ).toHaveLength(1);
    expect(await refused(t, 404, { changes: [change("create", "policy", "p", policy(), "Nobody")] })).toHaveLength(1);
    expect(
      await refused(t, 422, {
        changes: [change("delete", "team", "Sales"), change("create", "policy", "p", policy(), "Sales")],
      }),
    ).toHaveLength(1);
  });

  it("names unknown kinds, and the kinds that it knows", async () => {
    const t = await startApp({ engine });
    const key = { kind: "profil", owner: null, name: "p" };
    const errors = await refused(t, 422, {
      changes: [change("create", "label", "l", label()), { ...key, action: "create", value: {} }],
      pins: [{ ...key, revision: null }],
    });
    expect(errors.map(({ name }) => name)).toEqual(["changes.1.kind", "pins.0.kind"]);
    expect(errors[0]!.reason).toMatch(/^must be one of config, .*policy/);
  });

  it("names all invalid changes, of every kind", async () => {
    const t = await startApp({ engine });
    const smtp = thingValue(await stateOf(t), "config", "smtp_settings");
    const wrong: [ThingChange, number, string][] = [
      [change("update", "config", "org_info", { org_name: 7 }), 400, "value.org_name"],
      [change("update", "config", "org_info", { org_nam: "x" }), 400, "value.org_nam"],
      [change("update", "config", "no_such", {}), 422, "name"],
      [change("update", "config", "smtp_settings", { ...smtp, port: 99_999 }), 422, "value.port"],
      [change("update", "config", "org_info", null), 422, "value"],
      [change("update", "agent_options", "agent_options", { confg: {} }), 400, "value.confg"],
      [
        change("create", "certificate_authority", "custom_scep_proxy/A", { name: "A", url: "https://a.example.com" }),
        422,
        "value.challenge",
      ],
      [change("create", "certificate_authority", "no_such/A", {}), 422, "name"],
      [change("create", "label", "l", label({ query: "" })), 422, "value.query"],
      [change("create", "label", "macOS", label()), 422, "name"],
      [change("create", "team", " ", { description: "" }), 422, "name"],
      [change("create", "team", "No team", { description: "" }), 422, "name"],
      [change("create", "team", "T", { description: 1 }), 400, "value.description"],
      [change("create", "policy", "p", policy({ query: " " })), 400, "value.query"],
      [change("create", "policy", "p", policy({ platform: "amiga" })), 400, "value.platform"],
      [change("create", "policy", "p", policy({ team: "x" })), 422, "value.team"],
      [change("create", "query", "q", query({ query: "" })), 400, "value.query"],
      [change("create", "query", "q", query({ interval: -1 })), 422, "value.interval"],
      [change("create", "query", "q", query({ logging: "loud" })), 400, "value.logging"],
      [change("create", "query", "q", query(), "No team"), 422, "owner"],
      [change("update", "enroll_secrets", "enroll_secrets", { secrets: ["plain"] }), 422, "value.secrets.0"],
      [
        change("update", "enroll_secrets", "enroll_secrets", { secrets: [{ $secret: "unknown" }] }),
        422,
        "value.secrets.0",
      ],
    ];
    for (const [one, status, name] of wrong) {
      const errors = await refused(t, status, { changes: [change("create", "policy", "fine", policy()), one] });
      expect(errors[0]!.name, JSON.stringify(one)).toBe(`changes.1.${name}`);
      expect(errors[0]!.reason).toMatch(/^[a-z ]+( ".*")?( of .*)?: ./);
    }
    const both = await refused(t, 400, {
      changes: [
        change("create", "policy", "a", policy({ query: "" })),
        change("create", "policy", "b", policy({ platform: "amiga" })),
      ],
    });
    expect(both.map(({ name }) => name)).toEqual(["changes.0.value.query", "changes.1.value.platform"]);
    const twice = change("create", "policy", "a", policy());
    expect((await refused(t, 422, { changes: [twice, twice] }))[0]!.reason).toBe('policy "a": is changed twice');
    expect(await t.store.policies.count()).toBe(0);

    // Rules that involve the rest of the configuration name their change too.
    await applied(t, { changes: [change("create", "team", "T", { description: "" })] });
    const settings = thingValue<Record<string, object>>(await stateOf(t), "team_settings", "team_settings", "T");
    const broken = { ...settings, host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 0 } };
    const [rule] = await refused(t, 422, {
      changes: [change("update", "team_settings", "team_settings", broken, "T")],
    });
    expect(rule!.name).toBe("changes.0.value.host_expiry_settings.host_expiry_window");
    const unknown = { ...settings, mdm: { ...settings.mdm, surprise: true } };
    const [key] = await refused(t, 400, {
      changes: [change("update", "team_settings", "team_settings", unknown, "T")],
    });
    expect(key!.name).toBe("changes.0.value.mdm.surprise");
  });

  it("lets team admins and gitops read and write only objects of their teams", async () => {
    const t = await startApp({ engine });
    const { changes, secrets } = everything([]);
    await applied(t, { changes, secrets });
    const sales = (await t.store.teams.list())[0]!;
    const other = await makeTeam(t, "Other");
    await applied(t, { changes: [change("create", "policy", "theirs", policy(), "Other")] });
    const onSales = (role: "admin" | "gitops" | "maintainer" | "observer") =>
      makeUser(t, { teams: [{ id: sales.id, role }] });
    const gitops = await onSales("gitops");
    const admin = await onSales("admin");
    const kindsOf = async (caller: Caller) => [
      ...new Set(
        (await stateOf(caller)).things.map(({ kind, owner, name }) =>
          kind === "team" ? `team ${name}` : `${kind} of ${owner}`,
        ),
      ),
    ];
    const own = ["team Sales", "agent_options of Sales", "team_settings of Sales", "policy of Sales", "query of Sales"];
    expect(new Set(await kindsOf(gitops))).toEqual(new Set(own));
    expect(new Set(await kindsOf(admin))).toEqual(new Set([...own, "enroll_secrets of Sales"]));
    expect((await stateOf(gitops)).labels).toEqual(["Laptops", "Picked", "Recent"]);
    for (const role of ["maintainer", "observer"] as const) {
      const caller = await onSales(role);
      expect((await caller.post("/spec/state", {})).status).toBe(403);
      expect((await caller.post("/spec/apply", { changes: [] })).status).toBe(403);
    }

    expect(
      await applied(gitops, { changes: [change("update", "policy", "Up", policy({ query: "SELECT 3" }), "Sales")] }),
    ).toMatchObject({ update: 1 });
    await applied(admin, {
      secrets,
      changes: [change("update", "enroll_secrets", "enroll_secrets", { secrets: [] }, "Sales")],
    });
    const denied: [Caller, number, ThingChange][] = [
      [gitops, 403, change("update", "enroll_secrets", "enroll_secrets", { secrets: [] }, "Sales")],
      [gitops, 403, change("create", "policy", "p", policy())],
      [gitops, 403, change("create", "query", "q", query())],
      [gitops, 403, change("create", "policy", "p", policy(), "No team")],
      [gitops, 404, change("create", "policy", "p", policy(), "Other")],
      [gitops, 404, change("create", "policy", "p", policy(), "Missing")],
      [gitops, 404, change("delete", "policy", "theirs", undefined, "Other")],
      [gitops, 409, change("update", "team", "Other", { description: "mine" })],
      [gitops, 409, change("update", "team", "Missing", { description: "mine" })],
      [gitops, 403, change("create", "team", "New", { description: "" })],
      [gitops, 403, change("delete", "team", "Sales")],
      [gitops, 403, change("create", "label", "l", label())],
      [admin, 403, change("delete", "label", "Laptops")],
      [admin, 403, change("update", "config", "org_info", {})],
      [admin, 403, change("update", "agent_options", "agent_options", {})],
      [admin, 403, change("delete", "certificate_authority", "custom_scep_proxy/WIFI")],
    ];
    for (const [caller, status, one] of denied) {
      const before = await stateOf(t);
      // All or nothing: an allowed change beside it is not made either.
      const errors = await refused(caller, status, {
        changes: [change("create", "policy", "fine", policy(), "Sales"), one],
      });
      expect(errors[0]!.name).toMatch(/^changes\.1/);
      expect(await stateOf(t)).toEqual(before);
    }
    // For its pins, invisible objects do not exist.
    const pin = { kind: "policy", owner: "Other", name: "theirs", revision: null };
    expect(await applied(gitops, { changes: [], pins: [pin] })).toEqual({ create: 0, update: 0, delete: 0 });
    expect(other.id).not.toBe(sales.id);

    for (const role of ["admin", "gitops"] as const) {
      const caller = await makeUser(t, role);
      expect(await stateOf(caller)).toEqual(await stateOf(t));
      expect(await applied(caller, { changes: [change("create", "label", `by ${role}`, label())] })).toMatchObject({
        create: 1,
      });
    }
    for (const role of ["maintainer", "observer", "observer_plus", "technician"] as const) {
      const caller = await makeUser(t, role);
      expect((await caller.post("/spec/state", {})).status).toBe(403);
      expect((await caller.post("/spec/apply", { changes: [] })).status).toBe(403);
    }
  });

  it("has no teams on the free tier", async () => {
    const t = await startApp({ engine, tier: "free" });
    await makeTeam(t, "Left behind");
    const state = await stateOf(t);
    expect(state.tier).toBe("free");
    expect(state.things.filter(({ owner, kind }) => owner !== null || kind === "team")).toEqual([]);
    expect(await applied(t, { changes: [change("create", "policy", "p", policy({ critical: true }))] })).toMatchObject({
      create: 1,
    });
    expect(thingValue(await stateOf(t), "policy", "p")).toMatchObject({ critical: false });
    for (const one of [
      change("create", "team", "T", { description: "" }),
      change("create", "policy", "p", policy(), "Left behind"),
      change("create", "policy", "p", policy(), "No team"),
      change("update", "agent_options", "agent_options", null, "Left behind"),
    ])
      expect(await refused(t, 402, { changes: [one] })).toHaveLength(1);
    await applied(t, { changes: [change("create", "label", "l", label())] });
    const narrowed = change("create", "query", "q", query({ labels_include_any: ["l"] }));
    expect((await refused(t, 400, { changes: [narrowed] }))[0]!.name).toBe("changes.0.value.labels_include_any");
  });

  it("checks new authorities and trackers by connecting to them, and skips unchanged ones", async () => {
    const tool = await startFake(() => ({ status: 404 }));
    const { url, requests: asked } = tool;
    const t = await startApp({ engine, settings: { ...allowLocal, check_integrations: true } });
    const secrets = textsOf("challenge-1", "token-1");
    const authority = (more: object = {}) => ({
      name: "CA",
      url: `${url}/scep`,
      challenge: secret("challenge-1"),
      ...more,
    });
    const tracker = {
      enable_software_vulnerabilities: false,
      enable_failing_policies: false,
      url,
      username: "bot",
      api_token: secret("token-1"),
      project_key: "OPS",
    };
    const lists = { ticketing_a: [tracker], ticketing_b: [], calendar: [], conditional_access_enabled: false };
    const changes = [
      change("create", "certificate_authority", "custom_scep_proxy/CA", authority()),
      change("update", "config", "integrations", lists),
    ];
    const [first] = await refused(t, 422, { changes: [changes[0]!], secrets, skip_checks: false });
    expect(first!.name).toBe("changes.0.value.url");
    const [second] = await refused(t, 422, { changes: [changes[1]!], secrets, skip_checks: false });
    expect(second!.name).toBe("changes.0.value.ticketing_a.0.url");
    expect(asked.length).toBeGreaterThan(1);
    await applied(t, { changes, secrets });

    asked.length = 0;
    const again = changes.map((one): ThingChange => ({ ...one, action: "update" }));
    const policyToo = change("create", "policy", "p", policy());
    expect(await applied(t, { changes: [...again, policyToo], secrets, skip_checks: false })).toEqual({
      create: 1,
      update: 0,
      delete: 0,
    });
    expect(asked).toEqual([]);
    const moved = change("update", "certificate_authority", "custom_scep_proxy/CA", authority({ url: `${url}/other` }));
    await refused(t, 422, { changes: [moved], secrets, skip_checks: false });
    expect(asked.length).toBeGreaterThan(0);
    // A new URL does not get the secret of the old one.
    const kept = { ...authority({ url: `${url}/other` }), challenge: { $secret: "" } };
    const [error] = await refused(t, 422, { changes: [{ ...moved, value: kept as never }] });
    expect(error!.name).toBe("changes.0.value.challenge");
  });

  it("reveals no secret in replies, errors, activities or logs; equal ones have the same ref", async () => {
    const lines: string[] = [];
    const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    const t = await startApp({ engine, log });
    const { changes, secrets } = everything([]);
    const replies: string[] = [];
    const send = async (path: string, body: object) => {
      const response = await t.post(path, body);
      replies.push(await response.clone().text());
      return response;
    };
    await send("/spec/apply", { changes, secrets, skip_checks: true });
    const none = (await (await send("/spec/state", {})).json()) as ConfigurationState;
    const all = (await (await send("/spec/state", { secrets })).json()) as ConfigurationState;
    expect(thingValue(none, "config", "smtp_settings")).toMatchObject({ password: { $secret: "" } });
    expect(thingValue(all, "config", "smtp_settings")).toMatchObject({ password: secret("smtp-password-2f81") });
    expect(pinsOf(none)).toEqual(pinsOf(all));
    // A wrong guess has no effect.
    const wrong = await stateOf(t, { secrets: { [refOf("x")]: "smtp-password-2f82" } });
    expect(thingValue(wrong, "config", "smtp_settings")).toMatchObject({ password: { $secret: "" } });
    // Another secret has another revision; the same one has the same.
    const smtp = thingValue(all, "config", "smtp_settings");
    const revision = (state: ConfigurationState) =>
      find(state, { kind: "config", owner: null, name: "smtp_settings" })!.revision;
    const more = { ...secrets, ...textsOf("changed password") };
    await send("/spec/apply", {
      changes: [change("update", "config", "smtp_settings", { ...smtp, password: secret("changed password") })],
      secrets: more,
    });
    expect(revision(await stateOf(t))).not.toBe(revision(all));
    await send("/spec/apply", { changes: [change("update", "config", "smtp_settings", smtp)], secrets });
    expect(revision(await stateOf(t))).toBe(revision(all));
    // The existing secret is kept, but not sent to another server.
    const kept = { ...smtp, password: { $secret: "" } };
    expect(
      await applied(t, { changes: [change("update", "config", "smtp_settings", { ...kept, domain: "d" })] }),
    ).toMatchObject({ update: 1 });
    const moved = change("update", "config", "smtp_settings", { ...kept, server: "evil.example.com" });
    expect((await refused(t, 422, { changes: [moved] }))[0]!.name).toBe("changes.0.value.password");
    // Secrets in plain text are refused.
    const plain = change("update", "config", "smtp_settings", { ...smtp, password: "plainly wrong" });
    const [error] = await refused(t, 422, { changes: [plain] });
    expect(error).toEqual({
      name: "changes.0.value.password",
      reason: 'configuration section "smtp_settings": a secret must be {"$secret": ref} or ""',
    });
    const activities = JSON.stringify(await t.store.activities.list());
    const texts = [...Object.values(more), "plainly wrong"];
    for (const text of texts) {
      expect(
        replies.some((reply) => reply.includes(text)),
        text,
      ).toBe(false);
      expect(
        lines.some((line) => line.includes(text)),
        text,
      ).toBe(false);
      expect(activities.includes(text), text).toBe(false);
    }
  });
});

it("names the label whose custom host vital does not exist, and lists those that do", async () => {
  const t = await startApp();
  const criteria = { vital: "custom_host_vital", custom_host_vital_id: 99, value: "Berlin" };
  const value = { ...label(), query: "", label_membership_type: "host_vitals", criteria, hosts: null };
  const changes = [change("create", "label", "Fine", label()), change("create", "label", "Berlin", value)];
  expect(await refused(t, 422, { changes })).toEqual([
    {
      name: "changes.1.value.criteria",
      reason: 'label "Berlin": there is no custom host vital with the id 99',
    },
  ]);
  const made = await t.post("/custom_host_vitals", { name: "Site" });
  const { custom_host_vital } = (await made.json()) as { custom_host_vital: { id: number } };
  expect((await stateOf(t)).custom_host_vitals).toEqual([custom_host_vital.id]);
});
