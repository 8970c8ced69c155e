// GitOps mode: people cannot change what files determine, except with a reason, which is recorded.
import { beforeAll, describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import type { AppConfig } from "../../src/api/settings/app-config.ts";
import {
  endpointsInFiles,
  GITOPS_OVERRIDE,
  kindInFiles,
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

  describe("exceptions", () => {
    const kinds = {
      labels: ["labels"],
      software: ["software", "categories of self-service"],
      secrets: ["enroll secrets"],
    } as const;
    const none = { labels: false, software: false, secrets: false };
    const except = (exceptions: object, by: { patch: TestApp["patch"] } = t) =>
      by.patch("/config", { gitops: { exceptions } });
    const withParameters = (path: string) =>
      path.replace(/:\w+/g, "1") + (path.endsWith("/available_for_install") ? "?team_id=0" : "");
    /** The endpoints of all kinds that have an exception, and the exception. */
    const endpoints = endpointsInFiles().flatMap((key) => {
      const [method = "", path = ""] = key.split(" ");
      const kind = kindInFiles({ method: method as "GET", path });
      const [name] = Object.entries(kinds).find(([, names]) => names.some((each) => each === kind)) ?? [];
      return name === undefined ? [] : [{ method, path: withParameters(path), name }];
    });
    const isRefused = async ({ method, path }: (typeof endpoints)[number]) =>
      (await errorOf(await t.request(method, path, method === "GET" ? undefined : {}))).message === "GitOps mode is on";

    it("allow people to change these kinds, and no others", async () => {
      expect(endpoints.length).toBeGreaterThan(15);
      for (const endpoint of endpoints)
        expect(await isRefused(endpoint), `${endpoint.method} ${endpoint.path}`).toBe(true);
      for (const name of Object.keys(kinds)) {
        expect((await except({ ...none, [name]: true })).status).toBe(200);
        for (const endpoint of endpoints)
          expect(await isRefused(endpoint), `${name}: ${endpoint.method} ${endpoint.path}`).toBe(
            endpoint.name !== name,
          );
      }
      expect((await except(none)).status).toBe(200);
    });

    it("are set by global administrators only, stay when others are reset, and are recorded", async () => {
      const gitops = await makeUser(t, "gitops");
      const refused = await except({ labels: true }, gitops);
      expect([refused.status, (await errorOf(refused)).message]).toEqual([403, "forbidden"]);
      expect((await except({ labels: true })).status).toBe(200);
      const { gitops: values } = (await (await gitops.get("/config")).json()) as AppConfig;
      expect(values.exceptions).toEqual({ ...none, labels: true });
      // What is sent back as it was returned changes nothing.
      expect((await except(values.exceptions, gitops)).status).toBe(200);
      const reset = await gitops.patch("/config?overwrite=true", {
        org_info: { org_name: "test" },
        server_settings: { server_url: "https://svc.example.com" },
        gitops: { gitops_mode_enabled: true, repository_url },
      });
      expect(reset.status, await reset.clone().text()).toBe(200);
      const after = (await (await t.get("/config")).json()) as AppConfig;
      expect(after.gitops.exceptions.labels).toBe(true);
      const types = (await t.store.activities.list()).filter(({ type }) => type === "edited_gitops_exceptions");
      expect(types.at(-1)?.details).toEqual({ ...none, labels: true });
      expect((await except({ policies: true })).status).toBe(400);
      expect((await except({ labels: "yes" })).status).toBe(400);
      expect((await except(none)).status).toBe(200);
    });
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

it("has exceptions on the premium tier only", async () => {
  const t = await startApp({ tier: "free" });
  expect((await t.patch("/config", { gitops: { exceptions: { labels: true } } })).status).toBe(422);
  expect((await t.patch("/config", { gitops: { exceptions: { labels: false } } })).status).toBe(200);
});
