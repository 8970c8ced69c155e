import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nobody } from "../../src/server/platform/core/context.ts";
import { setupRoutes } from "../../src/server/settings/setup/routes.ts";
import { createFirstAdmin } from "../../src/server/settings/setup/service.ts";
import { errorOf, login, makeTeam, makeUser, PASSWORD } from "../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, type EngineName, rulesEngines } from "../support/engines.ts";

const admin = {
  name: "First",
  email: "First@Example.com",
  password: PASSWORD,
  password_confirmation: PASSWORD,
  admin: true,
};
const post = (t: TestApp, body: unknown, headers: Record<string, string> = {}) =>
  t.raw("/api/v1/setup", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** An app that has not been set up. */
async function startEmpty(engine: EngineName): Promise<TestApp> {
  const t = await startApp({ engine });
  await t.store.configSections.delete({ op: "all" });
  await t.store.users.delete({ op: "all" });
  return t;
}

/** The setup call as from an address, without the HTTP layer. */
const callFrom = (t: TestApp, address: string, body: object, headers: Record<string, string> = {}) =>
  setupRoutes[0]!.run(
    { params: {}, query: {}, body: async () => body },
    { ...t.services, user: nobody, address, requestId: "x", headers: new Headers(headers) },
    { status: 200, headers: {} },
  );

describe.each(rulesEngines)("first-run set-up on %s", (engine) => {
  it("creates a global admin with a session, and sets the names of organization and server", async () => {
    const t = await startEmpty(engine);
    const response = await post(t, { admin, org_info: { org_name: "Example" }, server_url: "https://svc.example.com" });
    expect(response.status).toBe(200);
    const body = (await response.json()) as { token: string };
    expect(body).toEqual({
      admin: expect.objectContaining({
        name: "First",
        email: "first@example.com",
        global_role: "admin",
        force_password_reset: false,
      }),
      org_info: { org_name: "Example", org_logo_url: "" },
      server_url: "https://svc.example.com",
      qengine_enroll_secret: null,
      token: expect.any(String),
    });
    expect(await (await t.as(body.token).get("/config")).json()).toMatchObject({
      org_info: { org_name: "Example" },
      server_settings: { server_url: "https://svc.example.com" },
    });
    expect((await t.store.activities.list()).at(-1)).toMatchObject({
      type: "created_user",
      details: { user_email: "first@example.com" },
    });
    expect((await login(t, "first@example.com", PASSWORD)).status).toBe(200);
    const again = await post(t, { admin });
    expect([again.status, (await errorOf(again)).message]).toEqual([409, "Conflict"]);
  });

  it("is equivalent to a start that creates the admin itself", async () => {
    const t = await startEmpty(engine);
    const made = await createFirstAdmin(t.services, { name: "A", email: "a@example.com", password: PASSWORD });
    expect((await t.as(made.token).get("/me")).status).toBe(200);
    await expect(
      createFirstAdmin(t.services, { name: "B", email: "b@example.com", password: PASSWORD }),
    ).rejects.toMatchObject({ status: 409 });
  });

  it("refuses invalid input, and leaves nothing behind", async () => {
    const t = await startEmpty(engine);
    const cases: [string, object, string][] = [
      ["no admin", {}, "admin"],
      ["no email", { admin: { ...admin, email: undefined } }, "admin.email"],
      ["a weak password", { admin: { ...admin, password: "weak", password_confirmation: "weak" } }, "password"],
      [
        "another confirmation",
        { admin: { ...admin, password_confirmation: "other-Password-7" } },
        "admin.password_confirmation",
      ],
      ["an empty name", { admin: { ...admin, name: " " } }, "name"],
      ["a server URL that is none", { admin, server_url: "ftp://example.com" }, "server_url"],
    ];
    for (const [what, body, field] of cases) {
      const response = await post(t, body);
      expect([response.status, (await errorOf(response)).errors?.[0]?.name], what).toEqual([422, field]);
      const left = [await t.store.users.count(), await t.store.configSections.count(), await t.store.sessions.count()];
      expect(left, what).toEqual([0, 0, 0]);
    }
  });
});

describe.each(bothEngines)("concurrent set-ups on %s", (engine) => {
  it("accepts one of many concurrent requests", async () => {
    const t = await startEmpty(engine);
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, i) => post(t, { admin: { ...admin, email: `first${i}@example.com` } })),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(await t.store.users.count()).toBe(1);
    expect(await t.store.sessions.count()).toBe(1);
  });
});

describe("set-up from another machine", () => {
  it("needs the token that serve prints, in the body or a header", async () => {
    const t = await startEmpty("lowdb");
    const { setupToken } = t.services;
    for (const address of ["192.0.2.7", "2001:db8::7", "128.0.0.1", "unknown"]) {
      await expect(callFrom(t, address, { admin })).rejects.toMatchObject({ status: 403 });
      await expect(callFrom(t, address, { admin, setup_token: `${setupToken}x` })).rejects.toMatchObject({
        status: 403,
      });
      await expect(callFrom(t, address, { admin }, { "x-svc-setup-token": "" })).rejects.toMatchObject({ status: 403 });
    }
    expect(await t.store.users.count()).toBe(0);
    await expect(callFrom(t, "192.0.2.7", { admin }, { "x-svc-setup-token": setupToken })).resolves.toBeDefined();
    await expect(callFrom(t, "192.0.2.7", { admin, setup_token: setupToken })).rejects.toMatchObject({ status: 409 });
  });

  it("is not considered local because a proxy on this machine forwarded it", async () => {
    const t = await startEmpty("lowdb");
    const passedOn: Record<string, string>[] = [{ "x-forwarded-for": "127.0.0.1" }, { forwarded: "for=192.0.2.7" }];
    for (const headers of passedOn)
      await expect(callFrom(t, "127.0.0.1", { admin }, headers)).rejects.toMatchObject({ status: 403 });
    await expect(callFrom(t, "127.0.0.1", { admin })).resolves.toBeDefined();
  });
});

describe("the data folder", () => {
  it("contains no password, token or enroll secret in readable form", async () => {
    const t = await startApp({ engine: "lowdb" });
    const team = await makeTeam(t, "Alpha", { secrets: [{ secret: "canary-team-secret-91" }] });
    await t.post("/spec/enroll_secret", { spec: { secrets: [{ secret: "canary-global-secret-92" }] } });
    const robot = await makeUser(t, { [team]: "observer" });
    const { token } = (await (await login(t, ADMIN.email, ADMIN.password)).json()) as { token: string };
    await login(t, ADMIN.email, "canary-wrong-password-93");
    await t.post("/change_password", { old_password: ADMIN.password, new_password: "canary-new-password-94" });
    const bytes = await everyByte(t.services.settings.data_dir);
    expect(bytes.includes(robot.user.email)).toBe(true);
    for (const canary of [t.token, token, robot.token, ADMIN.password, PASSWORD, "canary-"]) {
      expect(bytes.includes(canary)).toBe(false);
      expect(bytes.includes(Buffer.from(canary).toString("base64").replace(/=+$/, "").slice(0, -1))).toBe(false);
    }
  });
});

async function everyByte(dir: string): Promise<Buffer> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name)));
  return Buffer.concat(await Promise.all(files));
}
