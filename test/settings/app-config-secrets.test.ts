// Secrets of the configuration: encrypted, masked for everyone, kept if the mask is sent, and never sent to a new
// address.
import { describe, expect, it } from "vitest";
import type { AppConfig } from "../../src/api/settings/app-config.ts";
import { errorOf, makeTeam, makeUser } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";

const MASK = "********";
const smtp = {
  enable_smtp: true,
  server: "mx.example.com",
  port: 25,
  sender_address: "svc@example.com",
  user_name: "svc",
  password: "canary-smtp",
};
const a = { url: "https://tracker.example.com", username: "u", api_token: "canary-a", project_key: "OPS" };
const b = { url: "https://desk.example.com", email: "u@example.com", api_token: "canary-b", group_id: 7 };
const key = {
  type: "service_account",
  client_email: "x@example.com",
  private_key: "canary-key",
  private_key_id: "canary-id",
  extra: { token: "canary-extra" },
};
const calendar = { domain: "example.com", api_key_json: key };

const patched = async (t: TestApp, body: object): Promise<AppConfig> => {
  const response = await t.patch("/config", body);
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as AppConfig;
};
const refusal = async (t: TestApp, body: object) => {
  const response = await t.patch("/config", body);
  expect(response.status, await response.clone().text()).toBe(422);
  return (await errorOf(response)).errors!.map(({ name }) => name);
};
const kept = (t: TestApp) => t.services.config.current();

describe.each(rulesEngines)("secrets of the configuration on %s", (engine) => {
  it("are masked for every role and encrypted in the store", async () => {
    const t = await startApp({ engine });
    const shown = await patched(t, {
      smtp_settings: smtp,
      integrations: { ticketing_a: [a], ticketing_b: [b], calendar: [calendar] },
    });
    expect(shown.smtp_settings!.password).toBe(MASK);
    expect(shown.integrations).toMatchObject({
      ticketing_a: [{ ...a, api_token: MASK }],
      ticketing_b: [{ ...b, api_token: MASK }],
      calendar: [
        {
          domain: "example.com",
          api_key_json: {
            type: "service_account",
            client_email: "x@example.com",
            private_key: MASK,
            private_key_id: MASK,
            extra: MASK,
          },
        },
      ],
    });
    expect(await kept(t)).toMatchObject({
      smtp_settings: { password: "canary-smtp" },
      integrations: { ticketing_a: [{ api_token: "canary-a" }], calendar: [calendar] },
    });
    const rows = await t.store.configSections.list();
    expect(JSON.stringify(rows.map(({ value }) => value))).not.toContain("canary");
    const team = await makeTeam(t, "Alpha");
    for (const role of ["admin", "maintainer", "observer", "gitops"] as const)
      for (const person of [await makeUser(t, role), await makeUser(t, { [team]: role })]) {
        const text = await (await person.get("/config")).text();
        expect(text).not.toContain("canary");
        const full = person.user.global_role === "admin" || person.user.global_role === "gitops";
        for (const name of ["smtp_settings", "sso_settings", "agent_options"])
          expect([role, name, name in JSON.parse(text)]).toEqual([role, name, full]);
      }
    const feed = JSON.stringify((await t.store.activities.list()).map(({ details }) => details));
    expect(feed).toContain("smtp_settings.password");
    expect(feed).not.toContain("canary");
  });

  it("of entries stay with their entry in any order, and are deleted with it", async () => {
    const t = await startApp({ engine });
    const second = { ...a, project_key: "SEC", api_token: "canary-2" };
    const shown = await patched(t, { integrations: { ticketing_a: [a, second], calendar: [calendar] } });
    const [first, other] = shown.integrations.ticketing_a;
    // Masks that clients create are masks too.
    await patched(t, {
      integrations: {
        ticketing_a: [{ ...other, username: "new", api_token: "***" }, first],
        calendar: shown.integrations.calendar,
      },
    });
    expect((await kept(t)).integrations).toMatchObject({
      ticketing_a: [
        { project_key: "SEC", username: "new", api_token: "canary-2" },
        { project_key: "OPS", api_token: "canary-a" },
      ],
      calendar: [calendar],
    });
    await patched(t, { integrations: { ticketing_a: [first] } });
    expect((await kept(t)).integrations.ticketing_a).toMatchObject([{ project_key: "OPS", api_token: "canary-a" }]);
    expect(await refusal(t, { integrations: { ticketing_a: [first, other] } })).toContain(
      "integrations.ticketing_a.1.api_token",
    );
    await patched(t, { integrations: { ticketing_a: [{ ...first, api_token: "canary-3" }] } });
    expect((await kept(t)).integrations.ticketing_a).toMatchObject([{ api_token: "canary-3" }]);
  });

  it("are not sent to an address that they were not given for", async () => {
    const t = await startApp({ engine });
    const shown = await patched(t, {
      smtp_settings: smtp,
      integrations: { ticketing_a: [a], ticketing_b: [b], calendar: [calendar] },
    });
    const { ticketing_a, ticketing_b, calendar: calendars } = shown.integrations;
    const evil = "https://evil.example.com";
    expect(await refusal(t, { smtp_settings: { server: "evil.example.com" } })).toEqual(["smtp_settings.password"]);
    expect(await refusal(t, { smtp_settings: { ...shown.smtp_settings, server: "evil.example.com" } })).toEqual([
      "smtp_settings.password",
    ]);
    expect(await refusal(t, { smtp_settings: { port: 2525, password: MASK } })).toEqual(["smtp_settings.password"]);
    for (const [integrations, field] of [
      [{ ticketing_a: [{ ...ticketing_a[0], url: evil }] }, "integrations.ticketing_a.0.api_token"],
      [{ ticketing_a: [{ ...ticketing_a[0], project_key: "X" }] }, "integrations.ticketing_a.0.api_token"],
      [{ ticketing_b: [{ ...ticketing_b[0], url: evil }] }, "integrations.ticketing_b.0.api_token"],
      [
        { calendar: [{ ...calendars[0], domain: "evil.example.com" }] },
        "integrations.calendar.0.api_key_json.private_key",
      ],
      [
        { calendar: [{ ...calendars[0], api_key_json: { ...key, more: MASK } }] },
        "integrations.calendar.0.api_key_json.more",
      ],
    ] as const)
      expect(await refusal(t, { integrations })).toContain(field);
    // Turning it off and on with another address is a change of address too.
    await patched(t, { smtp_settings: { enable_smtp: false, server: "" } });
    expect(await refusal(t, { smtp_settings: { enable_smtp: true, server: "evil.example.com" } })).toEqual([
      "smtp_settings.password",
    ]);
    await patched(t, { smtp_settings: { enable_smtp: true, server: "mx2.example.com", password: "canary-smtp" } });
    expect((await kept(t)).smtp_settings).toMatchObject({ server: "mx2.example.com", password: "canary-smtp" });
    await patched(t, { smtp_settings: { server: "mx3.example.com", user_name: "", password: "" } });
    expect((await kept(t)).smtp_settings.password).toBe("");
  });
});

describe.each(bothEngines)("concurrent changes of secrets on %s", (engine) => {
  it("survive concurrent changes", async () => {
    const t = await startApp({ engine });
    const shown = await patched(t, { smtp_settings: smtp, integrations: { ticketing_a: [a] } });
    await patched(t, { smtp_settings: { password: "************" } });
    expect((await kept(t)).smtp_settings.password).toBe("canary-smtp");
    const replies = await Promise.all([
      t.patch("/config", { smtp_settings: { domain: "example.com" } }),
      t.patch("/config", { smtp_settings: { verify_ssl_certs: false } }),
      t.patch("/config", { integrations: { ticketing_a: [{ ...shown.integrations.ticketing_a[0], username: "n" }] } }),
      t.patch("/config", { integrations: { ticketing_b: [b] } }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await kept(t)).toMatchObject({
      smtp_settings: { password: "canary-smtp", domain: "example.com", verify_ssl_certs: false },
      integrations: {
        ticketing_a: [{ username: "n", api_token: "canary-a" }],
        ticketing_b: [{ api_token: "canary-b" }],
      },
    });
  });
});
