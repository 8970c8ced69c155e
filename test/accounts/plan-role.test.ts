// The role plan: it compares files with the server and tries applies out, and can change nothing.
import { describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import { fullPath } from "../../src/api/paths.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { allowLocal, startFake } from "../support/ca-fakes.ts";
import {
  applied,
  change,
  everything,
  find,
  policy,
  query,
  secret,
  stateOf,
  textsOf,
} from "../support/configuration.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeTeam, makeUser } from "../support/make.ts";

const DRY = { "dry-run": "true" };
const planner = (t: TestApp, teamId?: number) =>
  makeUser(t, teamId === undefined ? "plan" : { teams: [{ id: teamId, role: "plan" }] }, { api_only: true });
const tryOut = (caller: Caller, body: object) => caller.request("POST", "/spec/apply", body, DRY);

describe.each(rulesEngines)("the role plan on %s", (engine) => {
  it("reads what gitops may write, without any secret and without files", async () => {
    const t = await startApp({ engine });
    const { changes, secrets } = everything([]);
    await applied(t, { changes, secrets });
    const user = await planner(t);
    const reply = await user.post("/spec/state", {});
    const text = await reply.text();
    expect(reply.status).toBe(200);
    for (const one of Object.values(secrets)) expect(text).not.toContain(one);
    expect(JSON.parse(text)).toEqual(await stateOf(await makeUser(t, "gitops", { api_only: true })));
    const withFiles = await user.post("/spec/state", { files: true });
    expect(withFiles.status).toBe(403);
    expect(await withFiles.text()).toContain("an export needs the role gitops or admin");
  });

  it("tries applies out, with the server's checks, and writes nothing", async () => {
    const t = await startApp({ engine });
    const user = await planner(t);
    const before = await stateOf(t);
    const body = { changes: [change("create", "policy", "p", policy()), change("create", "query", "q", query())] };
    const tried = await tryOut(user, body);
    expect(await tried.json()).toEqual({ applied: { create: 2, update: 0, delete: 0 }, dry_run: true });
    expect(tried.headers.get("dry-run")).toBe("true");
    const wrong = await tryOut(user, { changes: [change("create", "policy", "p", policy({ platform: "amiga" }))] });
    expect(wrong.status).toBe(400);
    // The field alone does not suffice, because only the header is read before the body.
    for (const more of [{}, { dry_run: false }, { dry_run: true }]) {
      const refused = await user.post("/spec/apply", { ...body, ...more });
      expect(refused.status).toBe(403);
      expect(await refused.text()).toContain("may only try it out");
    }
    expect((await user.request("POST", "/spec/apply", body, { "dry-run": "false" })).status).toBe(403);
    expect(await stateOf(t)).toEqual(before);
  });

  it("lets the server connect to nothing", async () => {
    const asked: string[] = [];
    const { url, close } = await startFake((request) => {
      asked.push(request.url.pathname);
      return { status: 404 };
    });
    const t = await startApp({ engine, settings: { ...allowLocal, check_integrations: true } });
    const value = { name: "CA", url: `${url}/scep`, challenge: secret("challenge") };
    const body = {
      changes: [change("create", "certificate_authority", "custom_scep_proxy/CA", value)],
      secrets: textsOf("challenge"),
    };
    const tried = await tryOut(await planner(t), body);
    expect(tried.status).toBe(200);
    expect(tried.headers.get("dry-run-unchecked")).toContain("certificate authorities");
    expect(asked).toEqual([]);
    expect((await tryOut(t, body)).status).toBe(422);
    expect(asked.length).toBeGreaterThan(0);
    await close();
  });

  it("concerns one team only where it is a role of a team", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t, "Own"), await makeTeam(t, "Other")];
    await applied(t, {
      changes: [own, other].map(({ name }) => change("create", "policy", "p", policy(), name)),
    });
    const user = await planner(t, own.id);
    const state = await stateOf(user);
    expect(state).toEqual(await stateOf(await makeUser(t, { teams: [{ id: own.id, role: "gitops" }] })));
    expect(find(state, { kind: "policy", owner: "Own", name: "p" })).toBeDefined();
    expect(find(state, { kind: "policy", owner: "Other", name: "p" })).toBeUndefined();
    const added = (owner: string | null) => ({ changes: [change("create", "policy", "new", policy(), owner)] });
    expect((await tryOut(user, added("Own"))).status).toBe(200);
    expect((await tryOut(user, added("Other"))).status).toBe(404);
    expect((await tryOut(user, added(null))).status).toBe(403);
    expect((await user.post("/spec/apply", added("Own"))).status).toBe(403);
    // Another role on another team gives no rights on this one.
    const mixed = await makeUser(t, {
      teams: [
        { id: own.id, role: "plan" },
        { id: other.id, role: "gitops" },
      ],
    });
    expect((await mixed.post("/spec/apply", added("Own"))).status).toBe(404);
    expect((await mixed.post("/spec/apply", added("Other"))).status).toBe(200);
    expect(find(await stateOf(t), { kind: "policy", owner: "Own", name: "new" })).toBeUndefined();
  });

  it("is refused by every endpoint that changes something, also of its own account", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const users = [await planner(t), await planner(t, team.id)];
    const open: string[] = [];
    let refused = 0;
    for (const { endpoint } of allEndpoints) {
      const { method, access } = endpoint;
      const key = `${method} ${endpoint.path}`;
      if (access === "none" || method === "GET" || ["POST /spec/state", "POST /logout"].includes(key)) continue;
      const path = fullPath(endpoint).replaceAll(/:[a-z_]+/g, "1");
      for (const user of users)
        for (const headers of key === "POST /spec/apply" ? [{}] : [{}, DRY]) {
          const { status } = await user.request(method, path, endpoint.hasBody ? {} : undefined, headers);
          if (status === 403) refused++;
          else open.push(`${key}: ${status}`);
        }
    }
    expect(open).toEqual([]);
    expect(refused).toBeGreaterThan(500);
  });

  it("is for API-only users, on the free tier too; on teams it is premium", async () => {
    const t = await startApp({ engine });
    const person = await makeUser(t, "observer");
    const reply = await t.patch(`/users/${person.id}`, { global_role: "plan" });
    expect(reply.status).toBe(422);
    expect(await reply.text()).toContain("role plan can only be set for API-only users");
    const free = await startApp({ engine, tier: "free" });
    const made = { name: "CI", email: "ci@example.com", password: "a long password 1!", api_only: true };
    expect((await free.post("/users/admin", { ...made, global_role: "plan" })).status).toBe(200);
    expect((await stateOf(await planner(free))).tier).toBe("free");
  });
});
