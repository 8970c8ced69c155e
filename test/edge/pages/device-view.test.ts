// A host's own page, with the token that its agent creates (docs/protocols/managed-agent.md, Device page).
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeHost, makeInventory, makeSoftware, makeTeam, makeUser } from "../../support/make.ts";
import { makeManaged } from "../../support/managed.ts";

const TOKEN = "0b0d1f6e-6a0f-4d0f-9a6a-5d1c6d2f3a11";
const OTHER = "7c1e1c52-3a55-4b6e-8f0b-0d8a4c1d9e22";
const paths = ["", "/desktop", "/policies", "/software", "/device_mapping", "/desktopadmin", "/certificates"];

async function withToken(t: TestApp, token = TOKEN, details: Record<string, string> = {}) {
  const agent = await makeManaged(t, details);
  expect((await agent.call("/device_token", { device_auth_token: token })).json).toEqual({});
  return agent;
}

describe.each(rulesEngines)("the device page on %s", (engine) => {
  it("shows the host, without internal data of the organization", async () => {
    const t = await startApp({ engine });
    const agent = await withToken(t);
    const host = await agent.host();
    await t.patch("/config", { org_info: { org_logo_url: "https://example.com/logo.png" } });
    const res = await t.as(null).get(`/device/${TOKEN}`);
    expect(res.status).toBe(200);
    const body = (await res.json()) as { host: Record<string, unknown> };
    const around = {
      self_service: false,
      org_logo_url: "https://example.com/logo.png",
      license: { tier: "premium", expiration: "2100-01-01T00:00:00Z" },
      global_config: { mdm: { enabled_and_configured: false } },
    };
    expect(body).toMatchObject({ ...around, host: { ...around, id: host.id, hostname: host.hostname } });
    expect(body.host).toMatchObject({ dep_assigned_to_svc: false, policies: [], batteries: [], users: [] });
    for (const key of ["labels", "packs", "pack_stats", "additional", "software", "node_key_hash"])
      expect(body.host).not.toHaveProperty(key);
  });

  it("omits premium data on the free tier", async () => {
    const t = await startApp({ engine, tier: "free" });
    await withToken(t);
    const { host } = (await (await t.as(null).get(`/device/${TOKEN}`)).json()) as { host: object };
    expect(host).not.toHaveProperty("policies");
    expect(host).toMatchObject({ license: { tier: "free" } });
    expect((await t.as(null).get(`/device/${TOKEN}/desktop`)).status).toBe(402);
    expect((await t.as(null).get(`/device/${TOKEN}/policies`)).status).toBe(402);
    expect((await t.as(null).get(`/device/${TOKEN}/software`)).status).toBe(200);
  });

  it("says when vulnerability data was imported, so that no vulnerabilities are not mistaken for none known", async () => {
    const t = await startApp({ engine });
    const agent = await withToken(t);
    await makeInventory(t, (await agent.host()).id, [await makeSoftware(t, "Figma", "1.2")]);
    const importedAt = async () =>
      ((await (await t.as(null).get(`/device/${TOKEN}/software`)).json()) as Record<string, unknown>)
        .vulnerability_data_imported_at;
    expect(await importedAt()).toBeNull();
    const imported_at = "2026-01-02T00:00:00.000Z";
    await t.store.vulnerabilityFeeds.insert({ name: "nvd", state: "current", imported_at });
    expect(await importedAt()).toBe(imported_at);
  });

  it("refuses an invalid token, on every path, for every caller", async () => {
    const t = await startApp({ engine });
    await withToken(t);
    for (const caller of [t, t.as(null)])
      for (const path of paths) {
        const res = await caller.get(`/device/${OTHER}${path}`);
        expect(res.status, path).toBe(401);
        expect(await res.json()).toMatchObject({ message: "Authentication required", uuid: expect.any(String) });
      }
    expect((await t.as(null).post(`/device/${OTHER}/refetch`)).status).toBe(401);
    expect((await t.as(null).post(`/device/${OTHER}/debug/errors`, {})).status).toBe(401);
    expect((await t.as(null).request("HEAD", `/device/${OTHER}/ping`)).status).toBe(401);
    expect((await t.as(null).get(`/device/${OTHER}/transparency`)).status).toBe(401);
    for (const empty of ["/device/", "/device//desktop"]) expect((await t.as(null).get(empty)).status, empty).toBe(404);
    for (const odd of [encodeURIComponent("' OR 1=1"), "x".repeat(4_000), "%00"])
      expect((await t.as(null).get(`/device/${odd}`)).status, odd).toBe(401);
  });

  it("is opened by a link that a user asks for, for an hour, also without an agent's token", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { hostname: "mac-1" });
    const link = async () => {
      const res = await t.get(`/hosts/${host.id}/device_url`);
      const { host_id, device_url } = (await res.json()) as { host_id: number; device_url: string };
      expect([res.status, host_id]).toEqual([200, host.id]);
      return device_url.replace(/^.*\/device\//, "");
    };
    const [first, second] = [await link(), await link()];
    expect(second).not.toBe(first);
    expect(await (await t.as(null).get(`/device/${first}`)).json()).toMatchObject({ host: { id: host.id } });
    const feed = (await (await t.get("/activities?activity_type=retrieved_host_my_device_url")).json()) as object;
    const details = { host_id: host.id, host_display_name: "mac-1" };
    expect(feed).toMatchObject({ activities: [{ details }, { details }] });

    t.clock.advance(59 * 60_000);
    const third = await link();
    t.clock.advance(2 * 60_000);
    for (const [token, status] of [
      [first, 401],
      [second, 401],
      [third, 200],
    ] as const)
      expect((await t.as(null).get(`/device/${token}`)).status).toBe(status);
    expect(await t.store.deviceLinks.count()).toBe(3);
    await link();
    expect(await t.store.deviceLinks.count(), "expired ones are deleted").toBe(2);
    await t.delete(`/hosts/${host.id}`);
    expect((await t.as(null).get(`/device/${third}`)).status).toBe(401);
  });

  it("is closed to a link when its maker loses the right to it, and when the host is transferred", async () => {
    const t = await startApp({ engine });
    const [macs, others] = [await makeTeam(t), await makeTeam(t)];
    const host = await makeHost(t, { team_id: macs.id });
    const linkOf = async (user: Pick<TestApp, "get">) => {
      const res = await user.get(`/hosts/${host.id}/device_url`);
      const { device_url } = (await res.json()) as { device_url: string };
      return device_url.replace(/^.*\/device\//, "");
    };
    const statusOf = async (token: string) => (await t.as(null).get(`/device/${token}`)).status;
    const setRole = (id: number, teams: object) => t.patch(`/users/${id}`, { global_role: null, ...teams });
    const roles = { teams: [{ id: macs.id, role: "maintainer" as const }] };
    const [leaving, demoted, moved, deleted] = await Promise.all([1, 2, 3, 4].map(() => makeUser(t, roles)));
    const links = await Promise.all([leaving!, demoted!, moved!, deleted!].map(linkOf));
    expect(await Promise.all(links.map(statusOf))).toEqual([200, 200, 200, 200]);
    expect((await setRole(leaving!.id, { teams: [{ id: others.id, role: "maintainer" }] })).status).toBe(200);
    expect((await setRole(demoted!.id, { teams: [{ id: macs.id, role: "observer" }] })).status).toBe(200);
    expect((await t.delete(`/users/${deleted!.id}`)).status).toBe(200);
    expect(await Promise.all(links.map(statusOf))).toEqual([401, 401, 200, 401]);
    const ofAdmin = await linkOf(t);
    expect(await statusOf(ofAdmin)).toBe(200);
    expect((await t.post("/hosts/transfer", { team_id: others.id, hosts: [host.id] })).status).toBe(200);
    expect([await statusOf(ofAdmin), await statusOf(links[2]!)]).toEqual([401, 401]);
    expect(await statusOf(await linkOf(t))).toBe(200);
    // The host returns within the hour: the links do not.
    expect((await t.post("/hosts/transfer", { team_id: macs.id, hosts: [host.id] })).status).toBe(200);
    expect([await statusOf(ofAdmin), await statusOf(links[2]!)]).toEqual([401, 401]);
    const ofMacs = await linkOf(t);
    const transfers = { team_id: null, filters: { team_id: macs.id } };
    expect((await t.post("/hosts/transfer/filter", transfers)).status).toBe(200);
    expect((await t.post("/hosts/transfer", { team_id: macs.id, hosts: [host.id] })).status).toBe(200);
    expect(await statusOf(ofMacs)).toBe(401);
  });

  it("is available for an hour after the token's last update; a new token replaces the old one immediately", async () => {
    const t = await startApp({ engine });
    const agent = await withToken(t);
    t.clock.advance(59 * 60_000);
    expect((await t.as(null).get(`/device/${TOKEN}`)).status).toBe(200);
    await agent.call("/device_token", { device_auth_token: TOKEN });
    t.clock.advance(59 * 60_000);
    expect((await t.as(null).get(`/device/${TOKEN}`)).status, "sent again: good again").toBe(200);
    t.clock.advance(61_000);
    expect((await t.as(null).get(`/device/${TOKEN}`)).status).toBe(401);
    await agent.call("/device_token", { device_auth_token: OTHER });
    expect((await t.as(null).get(`/device/${OTHER}`)).status).toBe(200);
    expect((await t.as(null).get(`/device/${TOKEN}`)).status).toBe(401);
    expect(JSON.stringify(await t.store.deviceTokens.list())).not.toContain(OTHER);
  });

  it("accepts only tokens that can be in a URL unchanged, and that no other host has", async () => {
    const t = await startApp({ engine });
    const first = await withToken(t);
    const second = await makeManaged(t);
    for (const device_auth_token of ["", "a b", "a/b", "a?b", "a%20b", "ä", "..", "x".repeat(300)]) {
      const { status, json } = await second.call("/device_token", { device_auth_token });
      expect([400, 422], device_auth_token).toContain(status);
      expect(json.errors[0].name).toBe("device_auth_token");
    }
    expect((await second.call("/device_token", { device_auth_token: TOKEN })).status).toBe(409);
    expect((await first.call("/device_token", { device_auth_token: TOKEN })).status).toBe(200);
    const { host } = (await (await t.as(null).get(`/device/${TOKEN}`)).json()) as { host: { id: number } };
    expect(host.id).toBe((await first.host()).id);
  });

  it("returns the number of failing policies to the desktop app, and nothing that identifies the host", async () => {
    const t = await startApp({ engine });
    const agent = await withToken(t);
    const host = await agent.host();
    const made = (await (
      await t.post("/policies", { name: "Disk encrypted", query: "SELECT 1", description: "d", resolution: "r" })
    ).json()) as { policy: { id: number } };
    const { result_id } = (await t.store.policies.get(made.policy.id))!;
    await t.store.hostPolicies.insert({
      id: host.id,
      passing: [],
      failing: [result_id],
      critical_count: 0,
      issues_count: 1,
    });

    const desktop = await (await t.as(null).get(`/device/${TOKEN}/desktop`)).json();
    expect(desktop).toMatchObject({
      failing_policies_count: 1,
      self_service: false,
      notifications: { needs_mdm_migration: false, renew_enrollment_profile: false },
      config: { org_info: { org_name: "Test" }, mdm: { macos_migration: { mode: "" } } },
    });
    for (const name of [host.hostname, host.uuid, host.hardware_serial, host.computer_name])
      expect(JSON.stringify(desktop)).not.toContain(name);

    const { policies } = (await (await t.as(null).get(`/device/${TOKEN}/policies`)).json()) as { policies: unknown };
    expect(policies).toEqual([
      {
        id: made.policy.id,
        name: "Disk encrypted",
        description: "d",
        resolution: "r",
        platform: "",
        critical: false,
        conditional_access_enabled: false,
        response: "fail",
      },
    ]);
  });

  it("shows software, mapping and the Mac's Munki data of this host only", async () => {
    const t = await startApp({ engine });
    const agent = await withToken(t, TOKEN, { platform: "darwin" });
    await withToken(t, OTHER);
    const firefox = await makeSoftware(t, "Firefox", "133.0");
    await makeInventory(t, (await agent.host()).id, [firefox]);
    await agent.call("/device_mapping", { email: "eve@example.com" }, "PUT");
    const software = async (token: string) =>
      (await (await t.as(null).get(`/device/${token}/software?query=fire`)).json()) as { count: number };
    expect((await software(TOKEN)).count).toBe(1);
    expect((await software(OTHER)).count).toBe(0);
    const mapping = (await (await t.as(null).get(`/device/${TOKEN}/device_mapping`)).json()) as object;
    expect(mapping).toMatchObject({ device_mapping: [{ email: "eve@example.com", source: "custom" }] });
    expect(await (await t.as(null).get(`/device/${TOKEN}/certificates?per_page=5`)).json()).toEqual({
      certificates: [],
      meta: { has_next_results: false, has_previous_results: false },
    });
    expect(await (await t.as(null).get(`/device/${TOKEN}/desktopadmin`)).json()).toMatchObject({
      desktopadmin: { munki: null },
    });
  });

  it("requests all details again", async () => {
    const t = await startApp({ engine });
    const agent = await withToken(t);
    const { id } = await agent.host();
    await t.store.hosts.updateEach([{ id, refetch_requested: false }]);
    const res = await t.as(null).post(`/device/${TOKEN}/refetch`);
    expect([res.status, await res.json()]).toEqual([200, {}]);
    expect(await t.store.hosts.get(id)).toMatchObject({ refetch_requested: true });
  });

  it("replies to pings, redirects to the transparency page, and accepts errors", async () => {
    const t = await startApp({ engine });
    await withToken(t);
    const ping = await t.as(null).request("HEAD", `/device/${TOKEN}/ping`);
    expect([ping.status, await ping.text()]).toEqual([200, ""]);
    const moved = await t.as(null).get(`/device/${TOKEN}/transparency`);
    expect([moved.status, moved.headers.get("location")]).toEqual([307, "https://svc.example.com/transparency"]);
    expect((await t.raw("/transparency")).status).toBe(200);
    await t.patch("/config", { org_info: { contact_url: "https://example.com/it" } });
    expect((await t.as(null).get(`/device/${TOKEN}/transparency`)).headers.get("location")).toBe(
      "https://example.com/it",
    );
    const error = { error_source: "desktop", error_message: "boom", error_additional_info: { a: 1 }, vital: true };
    const report = await t.as(null).post(`/device/${TOKEN}/debug/errors`, error);
    expect([report.status, await report.json()]).toEqual([200, {}]);
    const big = JSON.stringify({ error_message: "x".repeat(5 * 1024 * 1024) });
    expect((await t.as(null).post(`/device/${TOKEN}/debug/errors`, big)).status).toBe(413);
  });

  it("limits the errors that one host reports", async () => {
    const t = await startApp({ engine });
    const agent = await withToken(t);
    const report = async () =>
      (await t.as(null).post(`/device/${TOKEN}/debug/errors`, { error_message: "boom" })).status;
    const statuses = [];
    for (let sent = 0; sent < 61; sent++) statuses.push(await report());
    expect(statuses.slice(0, 60).filter((status) => status !== 200)).toEqual([]);
    expect(statuses[60]).toBe(429);
    t.clock.advance(61 * 60_000);
    await agent.call("/device_token", { device_auth_token: TOKEN });
    expect(await report()).toBe(200);
  });

  it("is gone with its host", async () => {
    const t = await startApp({ engine });
    const agent = await withToken(t);
    await t.delete(`/hosts/${(await agent.host()).id}`);
    expect((await t.as(null).get(`/device/${TOKEN}`)).status).toBe(401);
  });
});

it("writes no token to the log, also if the server fails", async () => {
  const lines: string[] = [];
  const t = await startApp({ log: pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }) });
  await withToken(t);
  t.store.deviceTokens.first = () => Promise.reject(new Error("the disk is on fire"));
  expect((await t.as(null).get(`/device/${TOKEN}/desktop`)).status).toBe(500);
  expect(lines.join("")).toContain("the disk is on fire");
  expect(lines.join("")).not.toContain(TOKEN);
});

it("limits failed requests of an address, but not valid ones", async () => {
  const t = await startApp();
  await withToken(t);
  for (let i = 0; i < 1_000; i++) await t.as(null).get(`/device/${TOKEN}/desktop`);
  expect((await t.as(null).get(`/device/${TOKEN}/desktop`)).status).toBe(200);
  for (let i = 0; i < 720; i++) expect((await t.as(null).get(`/device/guess-${i}`)).status).toBe(401);
  const limited = await t.as(null).get("/device/guess");
  expect(limited.status).toBe(429);
  expect(Number(limited.headers.get("retry-after"))).toBe(3600);
  expect((await t.as(null).get(`/device/${TOKEN}`)).status).toBe(200);
  t.clock.advance(3_601_000);
  expect((await t.as(null).get("/device/guess")).status).toBe(401);
});
