// Settings with an address that this server connects to: a private one is refused in every place where it can be set.
import { describe, expect, it } from "vitest";
import { makeTeam } from "../../support/accounts.ts";
import { startApp, type TestApp } from "../../support/app.ts";

const reason = (host: string) =>
  `Cannot send to ${host}: private addresses are blocked. Start the server with --outbound-allow ${host}.`;
const PRIVATE = "https://10.0.0.5/hook";
const hook = (destination_url: string) => ({
  activities_webhook: { enable_activities_webhook: true, destination_url },
});
const failing = (destination_url: string) => ({
  failing_policies_webhook: { enable_failing_policies_webhook: true, destination_url },
});

async function refusal(reply: Promise<Response>): Promise<[number, string | undefined, string | undefined]> {
  const response = await reply;
  const { errors } = (await response.json()) as { errors?: { name: string; reason: string }[] };
  return [response.status, errors?.[0]?.name, errors?.[0]?.reason];
}

const ca = { name: "WIFI", url: "https://10.0.0.5/scep", challenge: "c" };
const idp = { entity_id: "our-name", issuer_uri: "https://idp.example.com", idp_name: "IdP" };
const jira = { url: "https://10.0.0.5", username: "u", api_token: "t", project_key: "P" };

/** Every place where such an address is set: the request, and the name in the error. */
const places: [name: string, set: (t: TestApp, team: number) => Promise<Response>][] = [
  [
    "webhook_settings.activities_webhook.destination_url",
    (t) => t.patch("/config", { webhook_settings: hook(PRIVATE) }),
  ],
  [
    "webhook_settings.failing_policies_webhook.destination_url",
    (t) => t.patch("/config?dry_run=true", { webhook_settings: failing(PRIVATE) }),
  ],
  [
    "integrations.ticketing_a.0.url",
    (t) =>
      t.patch("/config?force=true", { integrations: { ticketing_a: [{ ...jira, enable_failing_policies: false }] } }),
  ],
  [
    "sso_settings.metadata_url",
    (t) => t.patch("/config", { sso_settings: { ...idp, enable_sso: true, metadata_url: PRIVATE } }),
  ],
  [
    "mdm.end_user_authentication.metadata_url",
    (t) => t.patch("/config", { mdm: { end_user_authentication: { ...idp, metadata_url: PRIVATE } } }),
  ],
  [
    "webhook_settings.failing_policies_webhook.destination_url",
    (t, team) => t.patch(`/teams/${team}`, { webhook_settings: failing(PRIVATE) }),
  ],
  [
    "webhook_settings.failing_policies_webhook.destination_url",
    (t) => t.post("/teams", { name: "Beta", webhook_settings: failing(PRIVATE) }),
  ],
  [
    "webhook_settings.failing_policies_webhook.destination_url",
    (t) => t.patch("/teams/0", { webhook_settings: failing(PRIVATE) }),
  ],
  [
    "specs.0.webhook_settings.failing_policies_webhook.destination_url",
    (t) => t.post("/spec/teams", { specs: [{ name: "Alpha", webhook_settings: failing(PRIVATE) }] }),
  ],
  ["url", (t) => t.patch("/webhooks/destinations", { url: PRIVATE, rotate_secret: true })],
  ["custom_scep_proxy.url", (t) => t.post("/certificate_authorities?skip_check=true", { custom_scep_proxy: ca })],
];

describe("a private address", () => {
  it.each(places)("is refused as %s, with advice, and nothing is changed", async (name, set) => {
    const t = await startApp();
    const team = await makeTeam(t, "Alpha");
    const before = await (await t.get("/config")).json();
    const activities = await t.store.activities.count();
    expect(await refusal(set(t, team))).toEqual([422, name, reason("10.0.0.5")]);
    expect(await (await t.get("/config")).json()).toEqual(before);
    expect(await t.store.activities.count()).toBe(activities);
  });

  it.each(["127.0.0.1", "[::1]", "0x7f.1", "localhost", "a.localhost", "192.168.1.1:8443"])(
    "is recognized as %s",
    async (host) => {
      const t = await startApp({ settings: { outbound_allow: "" } });
      const set = t.patch("/config", { webhook_settings: hook(`http://${host}/`) });
      const { hostname } = new URL(`http://${host}/`);
      expect(await refusal(set)).toEqual([
        422,
        "webhook_settings.activities_webhook.destination_url",
        reason(hostname.replace(/[[\]]/g, "")),
      ]);
    },
  );

  it("can be set if outbound_allow lists it, and names can be set anyway", async () => {
    const t = await startApp({ settings: { outbound_allow: "10.0.0.0/8,127.0.0.1" } });
    for (const host of ["10.0.0.5", "localhost", "hooks.internal", "hooks.example.com"])
      expect((await t.patch("/config", { webhook_settings: hook(`https://${host}/`) })).status, host).toBe(200);
  });

  it("that was set while it was allowed blocks no other change", async () => {
    const t = await startApp({ settings: { outbound_allow: "10.0.0.5" } });
    await t.patch("/config", { webhook_settings: hook(PRIVATE) });
    Object.assign(t.services.settings, { outbound_allow: [] });
    expect((await t.patch("/config", { org_info: { org_name: "New" } })).status).toBe(200);
    expect((await t.patch("/config", { webhook_settings: hook(PRIVATE) })).status).toBe(200);
    const other = await refusal(t.patch("/config", { webhook_settings: hook("https://10.0.0.6/") }));
    expect(other).toEqual([422, "webhook_settings.activities_webhook.destination_url", reason("10.0.0.6")]);
  });
});

describe("configuration as code", () => {
  it("refuses it by the same rule, with the setting", async () => {
    const t = await startApp();
    const { things } = (await (await t.post("/spec/state", {})).json()) as {
      things: { kind: string; name: string; owner: string | null; value: object }[];
    };
    const webhooks = things.find(({ name }) => name === "webhook_settings")!;
    const value = { ...webhooks.value, ...hook(PRIVATE) };
    const change = { action: "update", kind: webhooks.kind, owner: webhooks.owner, name: webhooks.name, value };
    const [status, name, why] = await refusal(t.post("/spec/apply", { changes: [change] }));
    expect([status, why]).toEqual([422, expect.stringContaining(reason("10.0.0.5"))]);
    expect(name).toContain("activities_webhook.destination_url");
  });
});

it("an address where a cloud platform returns credentials is refused without advice to allow it", async () => {
  const t = await startApp();
  const hosts = ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "168.63.129.16", "100.100.100.200"];
  for (const host of hosts) {
    const [status, , reason] = await refusal(t.patch("/config", { webhook_settings: hook(`https://${host}/latest`) }));
    expect([status, reason], host).toEqual([422, expect.stringContaining("Cannot send to")]);
    expect(reason, host).not.toContain("--outbound-allow");
  }
});
