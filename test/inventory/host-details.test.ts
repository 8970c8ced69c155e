// The complete host object, health, certificates, device mapping and the software of one host.
import { describe, expect, it } from "vitest";
import type { Host } from "../../src/api/hosts/host.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeInventory, makeLabel, makeSoftware, makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

const NOW = "2026-03-01T12:00:00.000Z";
const hostOf = async (t: Pick<TestApp, "get">, id: number, query = "") =>
  (await json(t.get(`/hosts/${id}${query}`))).host as Host;
const listOf = async (t: Pick<TestApp, "get">, query: string) => (await json(t.get(`/hosts?${query}`))).hosts as Host[];

let results = 100;
async function makePolicy(t: TestApp, name: string, more: { critical?: boolean; team_id?: number } = {}) {
  return t.store.policies.insert({
    created_at: NOW,
    updated_at: NOW,
    scope: more.team_id === undefined ? "global" : "team",
    name,
    query: "SELECT 1",
    resolution: `mend ${name}`,
    result_id: ++results,
    ...more,
  });
}
async function answer(
  t: TestApp,
  hostId: number,
  passing: readonly { result_id: number }[],
  failing: readonly { result_id: number }[],
) {
  const ids = (rows: readonly { result_id: number }[]) => rows.map(({ result_id }) => result_id);
  await t.store.hostPolicies.upsert(
    [{ id: hostId, passing: ids(passing), failing: ids(failing), critical_count: 0, issues_count: failing.length }],
    { on: ["id"] },
  );
}

describe.each(rulesEngines)("details of a host on %s", (engine) => {
  it("show policies with the host's results, and count failing ones as issues", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t);
    const [good, bad, open] = [await makePolicy(t, "good"), await makePolicy(t, "bad"), await makePolicy(t, "open")];
    await answer(t, host.id, [good], [bad]);
    const shown = await hostOf(t, host.id);
    expect(shown.policies).toMatchObject([
      { id: good.id, name: "good", response: "pass" },
      { id: bad.id, name: "bad", response: "fail", resolution: "mend bad" },
      { id: open.id, name: "open", response: "" },
    ]);
    const issues = { failing_policies_count: 1, total_issues_count: 1, critical_vulnerabilities_count: 0 };
    expect(shown.issues).toEqual(issues);
    const [listed] = await listOf(t, "");
    expect(listed!.issues).toEqual(issues);
    expect(listed).not.toHaveProperty("policies");
    expect((await listOf(t, "populate_policies=true"))[0]!.policies).toMatchObject([
      { response: "pass" },
      { response: "fail" },
      { response: "" },
    ]);
    for (const flag of ["disable_failing_policies=true", "disable_issues=1"])
      expect((await listOf(t, flag))[0]!.issues).toMatchObject({ failing_policies_count: 0, total_issues_count: 0 });
    expect((await listOf(t, "disable_failing_policies=true&disable_issues=false"))[0]!.issues).toEqual(issues);
  });

  it("show the packs that target the host directly, by label or by team", async () => {
    const t = await startApp({ engine });
    const [team, otherTeam] = [await makeTeam(t), await makeTeam(t)];
    const host = await makeHost(t, { team_id: team.id, display_name: "mac 1" });
    const other = await makeHost(t);
    const [mine, notMine] = [await makeLabel(t, "mine", [host.id]), await makeLabel(t, "not mine", [other.id])];
    const times = { created_at: NOW, updated_at: NOW };
    const [byHost, byLabel, byTeam, none] = await t.store.packs.insertMany(
      ["by host", "by label", "by team", "none"].map((name) => ({ ...times, name })),
    );
    await t.store.packTargets.insertMany([
      { pack_id: byHost!.id, host_id: host.id },
      { pack_id: byHost!.id, host_id: other.id },
      { pack_id: byLabel!.id, label_id: mine.id },
      { pack_id: byLabel!.id, label_id: notMine.id },
      { pack_id: byTeam!.id, team_id: team.id },
      { pack_id: byTeam!.id, team_id: otherTeam.id },
      { pack_id: none!.id, host_id: other.id },
      { pack_id: none!.id, label_id: notMine.id },
      { pack_id: none!.id, team_id: otherTeam.id },
    ]);
    expect((await hostOf(t, host.id)).packs).toMatchObject([
      { id: byHost!.id, name: "by host", host_ids: [host.id], hosts: [{ name: "mac 1" }], label_ids: [], team_ids: [] },
      { id: byLabel!.id, label_ids: [mine.id, notMine.id], host_ids: [], disabled: false, type: null },
      { id: byTeam!.id, team_ids: [team.id], teams: [{ id: team.id, name: team.name }] },
    ]);
    expect((await hostOf(t, other.id)).packs?.map(({ name }) => name)).toEqual(["by host", "by label", "none"]);
  });

  it("add ids to the query costs that the agent reports", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const host = await makeHost(t, { team_id: team.id });
    const times = { created_at: NOW, updated_at: NOW };
    const [global, ofTeam, renamed] = await t.store.queries.insertMany([
      { ...times, name: "uptime", query: "SELECT 1", description: "how long", automations_enabled: true },
      { ...times, name: "uptime", query: "SELECT 1", team_id: team.id, discard_data: true },
      // Agents skip names that begin like this: they get another one.
      { ...times, name: "query.users", query: "SELECT 1" },
    ]);
    const pack = await t.store.packs.insert({ ...times, name: "old pack" });
    const entry = await t.store.scheduledQueries.insert({
      ...times,
      pack_id: pack.id,
      query_id: global!.id,
      name: "uptime",
      description: "in the pack",
      interval: 60,
    });
    await t.store.queryResults.insert({
      query_id: global!.id,
      host_id: host.id,
      last_fetched: NOW,
      row_count: 0,
      rows: [],
    });
    const cost = (pack_name: string, name: string) => ({
      scheduled_query_name: name,
      query_name: name,
      pack_name,
      average_memory: 1,
      denylisted: false,
      executions: 2,
      interval: 60,
      last_executed: NOW,
      output_size: 3,
      system_time: 4,
      user_time: 5,
      wall_time: 6,
    });
    const told = (pack_name: string, type: string, name = "uptime") => ({
      pack_name,
      type,
      query_stats: [cost(pack_name, name)],
    });
    await t.store.hostDetails.insert({
      id: host.id,
      users: [],
      batteries: [],
      pack_stats: [
        told("Global", "global"),
        told(`team-${team.id}`, `team-${team.id}`),
        told("old pack", ""),
        told("gone pack", ""),
        told("old pack", "", "gone query"),
        told("Global", "global", "_query.users"),
      ],
    });
    const { pack_stats: stats } = await hostOf(t, host.id);
    expect(stats!.map(({ pack_id, query_stats }) => [pack_id, query_stats[0]!.scheduled_query_id])).toEqual([
      [null, global!.id],
      [null, ofTeam!.id],
      [pack.id, entry.id],
      [null, null],
      [pack.id, null],
      [null, renamed!.id],
    ]);
    expect(stats![0]).toMatchObject({ type: "global", query_stats: [{ wall_time: 6, last_executed: NOW }] });
    const kept = { automations_enabled: true, discard_data: false };
    const unknown = { description: "", automations_enabled: false, discard_data: false, last_fetched: null };
    expect(stats!.map(({ query_stats }) => query_stats[0])).toMatchObject([
      { query_name: "uptime", description: "how long", ...kept, last_fetched: NOW },
      { query_name: "uptime", description: "", automations_enabled: false, discard_data: true, last_fetched: null },
      { query_name: "uptime", description: "in the pack", ...kept, last_fetched: null },
      { query_name: "uptime", ...unknown },
      { query_name: "gone query", ...unknown },
      { query_name: "query.users", scheduled_query_name: "query.users" },
    ]);
    expect((await listOf(t, ""))[0]!.pack_stats).toBeNull();
  });

  it("contain vulnerabilities by id or with details, and only on request", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t);
    const [old, good] = [await makeSoftware(t, "Figma", "1.0"), await makeSoftware(t, "zsh", "5", "deb_packages")];
    await makeInventory(t, host.id, [old, good]);
    await t.store.softwareCves.insertMany(["CVE-2026-2", "CVE-2026-1"].map((cve) => ({ software_id: old.id, cve })));
    const found = async (query: string) =>
      (await listOf(t, query))[0]!.software?.map(({ vulnerabilities }) => vulnerabilities);
    expect(await found("")).toBeUndefined();
    expect(await found("populate_software=false")).toBeUndefined();
    expect(await found("populate_software=without_vulnerability_details")).toEqual([
      ["CVE-2026-1", "CVE-2026-2"],
      null,
    ]);
    const first = { cve: "CVE-2026-1", details_link: "https://nvd.nist.gov/vuln/detail/CVE-2026-1", cvss_score: null };
    expect(await found("populate_software=true")).toMatchObject([[first, { cve: "CVE-2026-2" }], null]);
    expect((await hostOf(t, host.id)).software![0]!.vulnerabilities).toMatchObject([first, {}]);
    expect(await hostOf(t, host.id, "?exclude_software=1")).not.toHaveProperty("software");
    const named = (await json(
      t.get(`/hosts/identifier/${host.uuid}?exclude_svc_maintained_policies=true&exclude_software=true`),
    )) as { host: Host };
    expect(named.host.id).toBe(host.id);

    const titles = async (query: string) =>
      ((await json(t.get(`/hosts/${host.id}/software?${query}`))).software as { name: string }[]).map(
        ({ name }) => name,
      );
    expect(await titles("vulnerable=true")).toEqual(["Figma"]);
    expect(await titles("vulnerable=1&query=zsh")).toEqual([]);
    expect(await titles("vulnerable=0")).toEqual(["Figma", "zsh"]);
    // Scores and exploits are unknown, so none can match.
    for (const query of ["min_cvss_score=1", "max_cvss_score=10", "exploit=true", "self_service=true"])
      expect(await titles(query), query).toEqual([]);
    expect(await json(t.get(`/hosts/${host.id}/software`))).toMatchObject({
      software: [{ installed_versions: [{ vulnerabilities: ["CVE-2026-1", "CVE-2026-2"] }] }, {}],
    });
  });

  it("contain a host's health, cached for a minute, with its time", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { os_version: "Ubuntu 24.04", disk_encryption_enabled: true });
    const bad = await makePolicy(t, "bad", { critical: true });
    const worse = await makePolicy(t, "worse");
    const old = await makeSoftware(t, "Figma", "1.0");
    await makeInventory(t, host.id, [old]);
    await t.store.softwareCves.insert({ software_id: old.id, cve: "CVE-2026-1" });
    await answer(t, host.id, [], [bad, worse]);
    const health = () => json(t.get(`/hosts/${host.id}/health`));
    const first = {
      host_id: host.id,
      health: {
        updated_at: NOW,
        os_version: "Ubuntu 24.04",
        disk_encryption_enabled: true,
        failing_policies_count: 2,
        failing_critical_policies_count: 1,
        failing_policies: [
          { id: bad.id, name: "bad", critical: true, resolution: "mend bad", svc_maintained: false },
          { id: worse.id, name: "worse", critical: false, resolution: "mend worse", svc_maintained: false },
        ],
        vulnerable_software: [{ id: old.id, name: "Figma", version: "1.0" }],
      },
      vulnerability_data_imported_at: null,
    };
    expect(await health()).toEqual(first);
    await answer(t, host.id, [worse], [bad]);
    t.clock.advance(59_999);
    expect(await health()).toEqual(first);
    t.clock.advance(1);
    expect(await health()).toMatchObject({
      health: { updated_at: t.clock.iso(), failing_policies_count: 1, failing_policies: [{ name: "bad" }] },
    });
    const fresh = await makeHost(t);
    expect(await json(t.get(`/hosts/${fresh.id}/health`))).toMatchObject({
      health: { disk_encryption_enabled: null, failing_policies: [], vulnerable_software: [] },
    });
    await t.delete(`/hosts/${host.id}`);
    expect((await t.get(`/hosts/${host.id}/health`)).status).toBe(404);
    const team = await makeTeam(t);
    const foreign = await makeUser(t, { teams: [{ id: team.id, role: "admin" }] });
    expect((await foreign.get(`/hosts/${fresh.id}/health`)).status).toBe(404);
  });

  it("list certificates in the requested order, in pages", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { platform: "darwin" });
    const name = (common_name: string) => ({ country: "DE", organization: "O", organizational_unit: "", common_name });
    const made = (common_name: string, not_valid_after: string | null, serial: string) => ({
      sha1: common_name,
      scope: "user",
      username: "ada",
      not_valid_before: "2026-01-01T00:00:00.000Z",
      not_valid_after,
      certificate_authority: false,
      common_name,
      key_algorithm: "rsaEncryption",
      key_strength: 2048,
      key_usage: "Digital Signature",
      serial,
      signing_algorithm: "sha256WithRSAEncryption",
      subject: name(common_name),
      issuer: name("CA"),
    });
    await t.store.hostDetails.insert({
      id: host.id,
      users: [],
      batteries: [],
      certificates: [
        made("b", "2027-01-01T00:00:00.000Z", "0a"),
        made("a", null, "4f0e8b1c5a9d3e7f0b2c4d6e8f1a3b5c7d9e0f12"),
        made("c", "2026-06-01T00:00:00.000Z", ""),
      ],
    });
    const listed = async (query: string) => {
      const reply = await json(t.get(`/hosts/${host.id}/certificates${query}`));
      return (reply.certificates as { common_name: string }[]).map(({ common_name }) => common_name).join("");
    };
    expect(await json(t.get(`/hosts/${host.id}/certificates?page=0&per_page=2`))).toMatchObject({
      certificates: [
        { id: 2, common_name: "a", not_valid_after: null, serial: "4f0e8b1c5a9d3e7f0b2c4d6e8f1a3b5c7d9e0f12" },
        {
          id: 1,
          common_name: "b",
          not_valid_after: "2027-01-01T00:00:00.000Z",
          serial: 10,
          key_strength: 2048,
          subject: { country: "DE", common_name: "b" },
          issuer: { common_name: "CA" },
          source: "user",
          username: "ada",
        },
      ],
      meta: { has_next_results: true, has_previous_results: false },
    });
    expect(await listed("")).toBe("abc");
    expect(await listed("?order_key=common_name&order_direction=desc")).toBe("cba");
    expect(await listed("?order_key=not_valid_after")).toBe("cba");
    expect(await listed("?order_key=not_valid_after&order_direction=desc")).toBe("abc");
    expect(await listed("?page=1&per_page=2")).toBe("c");
    const bare = await makeHost(t);
    expect(await json(t.get(`/hosts/${bare.id}/certificates`))).toMatchObject({ certificates: [] });
    for (const bad of ["order_key=serial", "per_page=0", "page=-1", "order_direction=desc"])
      expect((await t.get(`/hosts/${host.id}/certificates?${bad}`)).status, bad).toBe(400);
  });

  it("map a host to one custom address, in addition to those from other sources", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const host = await makeHost(t, { team_id: team.id });
    await t.store.hostEmails.insertMany([
      { host_id: host.id, email: "b@example.com", source: "browser_profiles" },
      { host_id: host.id, email: "ada@example.com", source: "mdm_idp_accounts" },
    ]);
    const put = (email: unknown, as = t.token, more = {}) =>
      t.as(as).request("PUT", `/hosts/${host.id}/device_mapping`, { email, ...more });
    const others = [
      { email: "b@example.com", source: "browser_profiles" },
      { email: "ada@example.com", source: "mdm_idp_accounts" },
    ];
    const mapping = (...custom: string[]) => ({
      host_id: host.id,
      device_mapping: [others[0], ...custom.map((email) => ({ email, source: "custom" })), others[1]],
    });
    expect(await json(t.get(`/hosts/${host.id}/device_mapping`))).toEqual(mapping());
    expect(await json(put(" Ada@Example.com "))).toEqual(mapping("ada@example.com"));
    expect(await json(put("two@example.com", t.token, { source: "custom" }))).toEqual(mapping("two@example.com"));
    expect(await json(put("two@example.com"))).toEqual(mapping("two@example.com"));
    for (const bad of [
      "",
      "nobody",
      "a@b@c",
      "a b@c.d",
      `${"x".repeat(300)}@example.com`,
      null,
      7,
      ["a@b.c"],
      undefined,
    ]) {
      const res = await put(bad);
      expect([res.status, await res.json()], String(bad)).toMatchObject([422, { errors: [{ name: "email" }] }]);
    }
    const other = await put("x@example.com", t.token, { source: "browser_profiles" });
    expect([other.status, await other.json()]).toMatchObject([422, { errors: [{ name: "source" }] }]);
    expect(await json(t.get(`/hosts/${host.id}/device_mapping`))).toEqual(mapping("two@example.com"));
    expect((await hostOf(t, host.id)).end_users).toMatchObject([
      {
        idp_username: "ada@example.com",
        other_emails: [
          { email: "b@example.com", source: "browser_profiles" },
          { email: "two@example.com", source: "custom" },
        ],
      },
    ]);
    await Promise.all(Array.from({ length: 6 }, (_, i) => put(`many-${i}@example.com`)));
    expect(await t.store.hostEmails.count(eq("source", "custom"))).toBe(1);
    const observer = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    expect((await put("x@example.com", observer.token)).status).toBe(403);
    expect((await observer.get(`/hosts/${host.id}/device_mapping`)).status).toBe(200);
    const maintainer = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    expect((await put("m@example.com", maintainer.token)).status).toBe(200);
    const foreign = await makeUser(t, { teams: [{ id: (await makeTeam(t)).id, role: "admin" }] });
    expect((await put("x@example.com", foreign.token)).status).toBe(404);
    expect((await t.request("PUT", "/hosts/99999/device_mapping", { email: "a@example.com" })).status).toBe(404);
  });
});

describe("details of a host on the free tier", () => {
  it("omit premium data", async () => {
    const t = await startApp({ tier: "free" });
    const host = await makeHost(t);
    const bad = await makePolicy(t, "bad", { critical: true });
    await answer(t, host.id, [], [bad]);
    const old = await makeSoftware(t, "Figma", "1.0");
    await makeInventory(t, host.id, [old]);
    await t.store.softwareCves.insert({ software_id: old.id, cve: "CVE-2026-1" });
    const { health } = (await json(t.get(`/hosts/${host.id}/health`))) as { health: Record<string, object[]> };
    expect(health).not.toHaveProperty("failing_critical_policies_count");
    expect(health.failing_policies![0]).not.toHaveProperty("critical");
    const shown = await hostOf(t, host.id);
    expect(shown.issues).toEqual({ failing_policies_count: 1, total_issues_count: 1 });
    expect(shown.software![0]!.vulnerabilities).toEqual([
      { cve: "CVE-2026-1", details_link: "https://nvd.nist.gov/vuln/detail/CVE-2026-1" },
    ]);
    expect((await t.get(`/hosts/${host.id}/software?min_cvss_score=1`)).status).toBe(402);
  });
});
