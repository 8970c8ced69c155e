// GitOps mode: people cannot change what files determine, except with a reason, which is recorded.
import { beforeAll, describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import {
  endpointsInFiles,
  GITOPS_OVERRIDE,
  overrideHeader,
  reasonInHeader,
} from "../../src/api/settings/gitops-mode.ts";
import { errorOf, makeTeam, makeUser } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";

const repository_url = "https://git.example.com/devices";

const overrides = async (t: TestApp) =>
  (await t.store.activities.list()).filter(({ type }) => type === "overrode_gitops_mode").map(({ details }) => details);

describe.each(rulesEngines)("GitOps mode on %s", (engine) => {
  let t: TestApp;
  let team: number;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
    team = await makeTeam(t, "Sales");
    const on = await t.patch("/config", { gitops: { gitops_mode_enabled: true, repository_url } });
    expect(on.status).toBe(200);
    return () => t.close();
  });
  const withReason = (
    method: string,
    path: string,
    body: unknown,
    reason: string,
    extra: Record<string, string> = {},
  ) =>
    t.raw(`/api/v1/svc${path}`, {
      method,
      headers: {
        authorization: `Bearer ${t.token}`,
        "content-type": "application/json",
        [GITOPS_OVERRIDE]: reason,
        ...extra,
      },
      body: JSON.stringify(body),
    });

  it("refuses changes of people in every place that files determine, and says where to make them", async () => {
    for (const [method, path, body] of [
      ["POST", "/labels", { name: "L", query: "SELECT 1" }],
      ["POST", "/global/policies", { name: "P", query: "SELECT 1" }],
      ["POST", "/queries", { name: "Q", query: "SELECT 1" }],
      ["POST", "/teams", { name: "Other" }],
      ["DELETE", `/teams/${team}`, undefined],
      ["PATCH", "/config", { org_info: { org_name: "X" } }],
      ["PATCH", "/config", { org_info: { org_name: "X" }, gitops: { gitops_mode_enabled: false } }],
      ["POST", "/spec/enroll_secret", { spec: { secrets: [] } }],
      ["POST", "/disk_encryption", { enable_disk_encryption: true }],
      ["POST", "/packs", { name: "P" }],
      ["POST", "/spec/packs", { specs: [{ name: "P" }] }],
      ["POST", "/software/self_service_categories", { team_id: team, name: "Tools" }],
      ["POST", "/custom_variables", { name: "TOKEN", value: "kept-secret" }],
      ["PUT", "/spec/secret_variables", { secrets: [{ name: "TOKEN", value: "kept-secret" }] }],
    ] as const) {
      const response = await t.request(method, path, body);
      const { message, errors } = await errorOf(response);
      expect([response.status, message], `${method} ${path}`).toEqual([403, "GitOps mode is on"]);
      expect(errors![0]!.reason).toContain(repository_url);
      expect(errors![0]!.reason).toContain(GITOPS_OVERRIDE);
    }
    const teamAdmin = await makeUser(t, { [team]: "admin" });
    expect((await teamAdmin.patch(`/teams/${team}`, { description: "x" })).status).toBe(403);
    expect(await overrides(t)).toEqual([]);
  });

  it("does not concern the role gitops, the apply of files, reading, and what no file determines", async () => {
    const gitops = await makeUser(t, "gitops");
    expect((await gitops.post("/labels", { name: "By files", query: "SELECT 1" })).status).toBe(200);
    expect((await t.get("/labels")).status).toBe(200);
    const config = await (await t.get("/config")).json();
    expect((await t.patch("/config", config)).status, "what changes nothing").toBe(200);
    expect((await t.patch("/config?overwrite=true", { gitops: { repository_url } })).status).toBe(403);
    expect((await t.post("/hosts/delete", { ids: [999] })).status).not.toBe(403);
    const observer = await makeUser(t, "observer");
    // Who may not change it anyway is refused for that.
    expect((await errorOf(await observer.post("/labels", { name: "No" }))).message).toBe("forbidden");
  });

  it("is overridden with a reason, which is recorded with the change; refused and dry requests are not", async () => {
    const body = { name: "Urgent", query: "SELECT 1" };
    expect((await withReason("POST", "/labels", body, "", {})).status).toBe(403);
    expect((await withReason("POST", "/labels", body, "x".repeat(501))).status).toBe(400);
    expect((await withReason("POST", "/labels", body, "incident 7", { "Dry-Run": "true" })).status).toBe(200);
    expect((await withReason("POST", "/labels", { name: "" }, "incident 7")).status).toBe(422);
    expect(await overrides(t)).toEqual([]);
    expect((await withReason("POST", "/labels", body, "incident 7")).status).toBe(200);
    expect(await overrides(t)).toEqual([{ method: "POST", path: "/labels", reason: "incident 7" }]);
  });

  it("takes reasons in every language, encoded, and none with line breaks", async () => {
    const reason = "Störung – 12 ☃ 100%";
    const body = { name: "Snow", query: "SELECT 1" };
    for (const broken of ["UTF-8''a%0Ab", "UTF-8''%", "UTF-8''%ff", "UTF-8''", "UTF-8''%20"])
      expect((await withReason("POST", "/labels", body, broken)).status, broken).toBe(400);
    expect((await withReason("POST", "/labels", body, overrideHeader(reason)!)).status).toBe(200);
    expect((await overrides(t)).at(-1)).toMatchObject({ reason });
    expect(overrideHeader("incident 7")).toBe("incident 7");
    expect(reasonInHeader(overrideHeader("utf-8''x")!)).toBe("utf-8''x");
  });

  it("can be turned off by those who turned it on", async () => {
    expect((await t.patch("/config", { gitops: { gitops_mode_enabled: false } })).status).toBe(200);
    expect((await t.post("/labels", { name: "Again", query: "SELECT 1" })).status).toBe(200);
  });
});

it("knows only endpoints that exist", () => {
  const known = new Set(allEndpoints.map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`));
  expect(endpointsInFiles().filter((key) => !known.has(key))).toEqual([]);
});
