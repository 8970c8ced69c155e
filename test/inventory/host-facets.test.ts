// Counts of hosts by the values of fields.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HostFacetsReply, hostFacetNames } from "../../src/api/inventory/host-facets.ts";
import { withoutFields } from "../../src/server/inventory/host-list/selector/without-fields.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeScene, type Scene } from "../support/hosts.ts";
import { makeHost, makeUser } from "../support/make.ts";

describe.each(bothEngines)("facets of hosts on %s", (engine) => {
  let t: TestApp;
  let scene: Scene;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
    scene = await makeScene(t);
  });
  afterAll(() => t.close());

  async function facets(query: string, caller: Pick<TestApp, "get"> = t): Promise<HostFacetsReply> {
    const res = await caller.get(`/hosts/facets?${query}`);
    expect(res.status, `${query}: ${await res.clone().text()}`).toBe(200);
    return (await res.json()) as HostFacetsReply;
  }
  /** The counts of one facet by value. */
  async function counts(by: string, query = "", caller: Pick<TestApp, "get"> = t) {
    const { facets: list } = await facets(`by=${by}&${query}`, caller);
    expect(list.map((facet) => facet.by)).toEqual([by]);
    return Object.fromEntries(list[0]!.values.map(({ value, count }) => [String(value), count]));
  }

  it("count every host by each field", async () => {
    const { teamId, labelId, policyId, teamPolicyId, solutionId } = scene;
    const { count } = await facets("by=platform");
    expect(count).toBe(5);
    expect(await counts("platform")).toEqual({ windows: 2, "": 1, darwin: 1, ubuntu: 1 });
    expect(await counts("status")).toEqual({ online: 2, offline: 3, new: 0, missing: 2 });
    expect(await counts("team")).toEqual({ 0: 3, [teamId]: 2 });
    expect(await counts("label")).toMatchObject({ [labelId]: 2 });
    expect(await counts("disk_encryption_enabled")).toEqual({ null: 3, true: 1, false: 1 });
    expect(await counts("hardware_model")).toEqual({ "": 4, "MacBook Pro": 1 });
    expect(await counts("mdm_enrollment_status")).toEqual({
      enrolled: 2,
      automatic: 1,
      manual: 1,
      pending: 1,
      unenrolled: 1,
    });
    expect(await counts("mdm")).toMatchObject({ [solutionId]: 2 });
    expect(await counts("os_settings")).toEqual({ pending: 1, failed: 1 });
    expect(await counts("os_settings_disk_encryption")).toEqual({ action_required: 1, verified: 1 });
    expect(await counts("failing_policy")).toEqual({ [policyId]: 1, [teamPolicyId]: 1 });
    expect(await counts("has_issues")).toEqual({ true: 2, false: 3 });
    expect(await counts("has_critical_vulnerabilities")).toEqual({ true: 0, false: 5 });
    expect(await counts("vulnerable")).toEqual({ true: 2, false: 3 });
  });

  it("agree with the list that is filtered by the value", async () => {
    const listed = async (query: string) =>
      ((await (await t.get(`/hosts/count?${query}`)).json()) as { count: number }).count;
    const filterOf: Record<string, (value: unknown) => string> = {
      status: (value) => `status=${value}`,
      team: (value) => `team_id=${value}`,
      label: (value) => `label_id=${value}`,
      mdm: (value) => `mdm_id=${value}`,
      mdm_enrollment_status: (value) => `mdm_enrollment_status=${value}`,
      os_settings: (value) => `os_settings=${value}`,
      os_settings_disk_encryption: (value) => `os_settings_disk_encryption=${value}`,
      failing_policy: (value) => `policy_id=${value}&policy_response=failing`,
      platform: (value) => `where=${encodeURIComponent(`platform = "${value}"`)}`,
      has_issues: (value) => `where=${encodeURIComponent(value ? "issues > 0" : "issues = 0")}`,
      has_critical_vulnerabilities: (value) =>
        `where=${encodeURIComponent(value ? "critical_vulnerabilities > 0" : "critical_vulnerabilities = 0")}`,
      vulnerable: (value) => `where=${encodeURIComponent(value ? "cve != none" : "cve = none")}`,
    };
    const { facets: list } = await facets(`by=${Object.keys(filterOf).join(",")}`);
    for (const { by, values } of list)
      for (const { value, count } of values) expect(await listed(filterOf[by]!(value)), `${by} ${value}`).toBe(count);
  });

  it("count each field with the filters on other fields, in parameters and selectors", async () => {
    const { teamId } = scene;
    expect(await counts("status", "status=online")).toEqual({ online: 2, offline: 3, new: 0, missing: 2 });
    expect(await counts("platform", "status=online")).toEqual({ darwin: 1, windows: 1 });
    expect(await counts("team", `team_id=${teamId}&status=online`)).toEqual({ 0: 1, [teamId]: 1 });
    const where = `where=${encodeURIComponent("(platform = darwin) and (team = Lab and seen < 7d)")}`;
    expect(await facets(`by=platform&${where}`)).toMatchObject({ count: 1 });
    expect(await counts("platform", where)).toEqual({ darwin: 1 });
    expect(await counts("team", where)).toEqual({ [teamId]: 1 });
    expect(await counts("platform", `where=${encodeURIComponent("platform = darwin and team = Lab")}`)).toEqual({
      darwin: 1,
      ubuntu: 1,
    });
    expect(await counts("team", `where=${encodeURIComponent("platform = darwin and team = Lab")}`)).toEqual({
      [teamId]: 1,
    });
  });

  it("return names of what has ids, and the sum of all further values", async () => {
    const { facets: list } = await facets("by=team,label,failing_policy,mdm");
    const labels = list.map(({ values }) => values.map(({ label }) => label));
    expect(labels[0]).toEqual(["No team", "Lab"]);
    expect(labels[1]).toContain("On loan");
    expect([...labels[2]!].sort()).toEqual(["Disk encrypted", "Firewall on"]);
    expect(labels[3]![0]).toBe("Svc, https://svc.example.com");
    const many = await Promise.all(
      Array.from({ length: 23 }, (_, n) => makeHost(t, { hostname: `m${n}`, hardware_model: `Model ${n}` })),
    );
    const [models] = (await facets("by=hardware_model")).facets;
    expect(models!.values).toHaveLength(20);
    expect(models!.values.reduce((sum, { count }) => sum + count, 0) + models!.other).toBe(5 + many.length);
    for (const { id } of many) await t.store.hosts.delete({ op: "eq", column: "id", value: id });
  });

  it("count for users of a team only its hosts", async () => {
    const { token } = await makeUser(t, { teams: [{ id: scene.teamId, role: "observer" }] });
    const observer = t.as(token);
    const reply = await facets(`by=${hostFacetNames.join(",")}`, observer);
    expect(reply.count).toBe(2);
    expect(await counts("team", "", observer)).toEqual({ [scene.teamId]: 2 });
    expect(await counts("status", "", observer)).toEqual({ online: 1, offline: 1, new: 0, missing: 1 });
    expect(await counts("mdm", "", observer)).toEqual({ [scene.solutionId]: 1 });
    expect(await counts("vulnerable", "", observer)).toEqual({ true: 1, false: 1 });
    expect((await observer.get("/hosts/facets?by=platform&team_id=0")).status).toBe(403);
  });

  it("refuse fields that hosts are not counted by", async () => {
    for (const [by, reason] of [
      ["platfrm,uuid", "hosts are not counted by platfrm, uuid; did you mean platform?"],
      ["zzzz", `hosts are not counted by zzzz; one of ${hostFacetNames.join(", ")}`],
      [",", `needs one of ${hostFacetNames.join(", ")}`],
    ]) {
      const res = await t.get(`/hosts/facets?by=${by}`);
      expect(res.status).toBe(422);
      expect(((await res.json()) as { errors: unknown }).errors).toEqual([{ name: "by", reason }]);
    }
    expect((await t.get("/hosts/facets")).status).toBe(400);
    expect((await t.get("/hosts/facets?by=platform&where=platform")).status).toBe(400);
  });
});

it.each([
  ["platform = darwin", ["platform"], undefined],
  ["platform = darwin and seen < 7d", ["platform"], "seen < 7d"],
  ["(platform = darwin) and seen < 7d", ["platform"], "seen < 7d"],
  [
    "(not platform = darwin and (seen < 7d or online)) and issues > 1",
    ["platform"],
    "(seen < 7d or online) and issues > 1",
  ],
  ["(platform = darwin or platform = ios) and seen < 7d", ["platform"], "seen < 7d"],
  ["platform = darwin or seen < 7d", ["platform"], "platform = darwin or seen < 7d"],
  ["software(name = x)", ["name"], "software(name = x)"],
])("%s without conditions on %s is %s", (text, fields, expected) => {
  expect(withoutFields(text, fields)).toBe(expected);
});
