import { hash } from "@node-rs/argon2";
import { describe, expect, it } from "vitest";
import type { Session } from "../../src/api/accounts/sessions.ts";
import { days, minutes } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { errorOf, login, makeTeam, makeUser, PASSWORD } from "../support/accounts.ts";
import { ADMIN, startApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";

const tokenOf = async (response: Response): Promise<string> => {
  expect(response.status).toBe(200);
  return ((await response.json()) as { token: string }).token;
};

describe.each(rulesEngines)("sessions on %s", (engine) => {
  it("are created with the email in any letter case, and recorded", async () => {
    const t = await startApp({ engine });
    const response = await login(t, "ADA@Example.com", ADMIN.password);
    expect(response.status).toBe(200);
    const body = (await response.json()) as { token: string; user: object };
    expect(Buffer.from(body.token, "base64url")).toHaveLength(32);
    expect(body.user).toMatchObject({ email: ADMIN.email, global_role: "admin", teams: [], mfa_enabled: false });
    expect((await t.as(body.token).get("/me")).status).toBe(200);
    expect(
      await t.store.activities.first({ where: { op: "eq", column: "type", value: "user_logged_in" } }),
    ).toMatchObject({
      actor_email: ADMIN.email,
      details: { public_ip: "" },
      svc_initiated: false,
    });
  });

  it.each([
    ["a wrong password", ADMIN.email, "correct-horse-battery-2"],
    ["an unknown user", "nobody@example.com", ADMIN.password],
    ["an empty password", ADMIN.email, ""],
    ["text that no store keeps", "nul\u0000@example.com", "\ud800 lone"],
  ])("refuse %s, after at least a second, and record it without an actor", async (_, email, password) => {
    const t = await startApp({ engine });
    const before = t.clock.now();
    const response = await login(t, email, password);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      message: "Authentication failed",
      errors: [{ name: "base", reason: "Authentication failed" }],
      uuid: expect.any(String),
    });
    expect(t.clock.now() - before).toBeGreaterThanOrEqual(1000);
    const [activity] = await t.store.activities.list({ order: [{ column: "id", direction: "desc" }], limit: 1 });
    expect(activity).toMatchObject({
      type: "user_failed_login",
      actor_id: null,
      actor_full_name: null,
      svc_initiated: false,
      details: { public_ip: "" },
    });
  });

  it("refuse users of single sign-on, with any password", async () => {
    const t = await startApp({ engine });
    const made = await t.post("/users/admin", {
      name: "Sue",
      email: "sue@example.com",
      sso_enabled: true,
      global_role: "observer",
    });
    expect(made.status).toBe(200);
    expect((await login(t, "sue@example.com", PASSWORD)).status).toBe(401);
  });

  it("are ended by their logout, and no others", async () => {
    const t = await startApp({ engine });
    const token = await tokenOf(await login(t, ADMIN.email, ADMIN.password));
    expect(await (await t.as(token).post("/logout")).json()).toEqual({});
    expect((await t.as(token).get("/me")).status).toBe(401);
    expect((await t.get("/me")).status).toBe(200);
  });

  it("expire if they are not used for their lifetime, and not otherwise", async () => {
    const t = await startApp({ engine });
    const unused = await tokenOf(await login(t, ADMIN.email, ADMIN.password));
    t.clock.advance(days(4));
    expect((await t.get("/me")).status).toBe(200);
    t.clock.advance(days(2));
    expect((await t.get("/me")).status).toBe(200);
    const refused = await t.as(unused).get("/me");
    expect(refused.status).toBe(401);
    expect((await errorOf(refused)).message).toBe("Authentication required");
  });

  it("expire after ninety days even in use", async () => {
    const t = await startApp({ engine });
    for (let day = 0; day < 88; day += 4) {
      t.clock.advance(days(4));
      expect((await t.get("/me")).status).toBe(200);
    }
    t.clock.advance(days(3));
    expect((await t.get("/me")).status).toBe(401);
  });

  it("never expire for an API-only user", async () => {
    const t = await startApp({ engine });
    const robot = await makeUser(t, "observer");
    t.clock.advance(days(400));
    expect((await robot.get("/me")).status).toBe(200);
  });

  it("store their last use at most once a minute", async () => {
    const t = await startApp({ engine });
    const accessed = async () => (await t.store.sessions.get(1))!;
    const before = await accessed();
    t.clock.advance(minutes(1) - 1);
    await t.get("/me");
    expect(await accessed()).toEqual(before);
    t.clock.advance(1);
    await t.get("/me");
    await t.get("/me");
    expect(await accessed()).toMatchObject({ accessed_at: t.clock.iso(), revision: before.revision + 1 });
  });

  it("reply 401 to headers without a token", async () => {
    const t = await startApp({ engine });
    const headers = [
      "",
      "Bearer",
      "Bearer ",
      t.token,
      `Basic ${t.token}`,
      `Bearer ${t.token} x`,
      "Bearer \u00e9",
      "Bearer null",
    ];
    for (const authorization of headers)
      expect((await t.raw("/api/v1/svc/me", { headers: { authorization } })).status, authorization).toBe(401);
  });

  it("can be read and deleted by their user; others' do not exist for it", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Alpha");
    const one = await makeUser(t, "maintainer");
    const two = await makeUser(t, { [team]: "admin" });
    const { sessions } = (await (await one.get(`/users/${one.user.id}/sessions`)).json()) as {
      sessions: { session_id: number; user_id: number }[];
    };
    expect(sessions).toEqual([
      {
        session_id: expect.any(Number),
        user_id: one.user.id,
        created_at: t.clock.iso(),
        kind: "session",
        name: "",
        accessed_at: t.clock.iso(),
        expires_at: null,
        address: "",
        user_agent: "",
        current: true,
      },
    ]);
    const id = sessions[0]!.session_id;
    expect(await (await one.get(`/sessions/${id}`)).json()).toEqual(sessions[0]);
    expect((await two.get(`/sessions/${id}`)).status).toBe(404);
    expect((await two.delete(`/sessions/${id}`)).status).toBe(404);
    expect((await two.get(`/users/${one.user.id}/sessions`)).status).toBe(403);
    expect((await two.delete(`/users/${one.user.id}/sessions`)).status).toBe(403);
    expect((await one.get("/me")).status).toBe(200);
    expect((await one.delete(`/sessions/${id}`)).status).toBe(200);
    expect((await one.get("/me")).status).toBe(401);
  });

  it("lets a global admin see and end any session", async () => {
    const t = await startApp({ engine });
    const one = await makeUser(t, "observer");
    const { sessions } = (await (await t.get(`/users/${one.user.id}/sessions`)).json()) as {
      sessions: { session_id: number }[];
    };
    expect((await t.get(`/sessions/${sessions[0]!.session_id}`)).status).toBe(200);
    expect((await t.delete(`/users/${one.user.id}/sessions`)).status).toBe(200);
    expect((await one.get("/me")).status).toBe(401);
    expect((await t.get("/sessions/999")).status).toBe(404);
    expect((await t.get("/users/999/sessions")).status).toBe(404);
    expect((await t.delete("/sessions/999")).status).toBe(404);
  });

  it("contain the address from which they were opened, their last use and their expiry", async () => {
    const t = await startApp({ engine, settings: { session_duration: "2d", session_max_age: "7d" } });
    const agent = `svc/${"1".repeat(300)}`;
    const token = await tokenOf(await login(t, ADMIN.email, ADMIN.password, { "user-agent": agent }));
    const opened = t.clock.now();
    const own = async () => {
      const { sessions } = (await (await t.as(token).get("/users/1/sessions")).json()) as { sessions: Session[] };
      return sessions.find(({ current }) => current)!;
    };
    expect(await own()).toMatchObject({
      user_agent: agent.slice(0, 255),
      expires_at: new Date(opened + days(2)).toISOString(),
    });
    for (const day of [1, 2, 3, 4, 5, 6]) {
      t.clock.advance(days(1));
      const { accessed_at, expires_at } = await own();
      expect(accessed_at).toBe(t.clock.iso());
      expect(expires_at).toBe(new Date(opened + days(Math.min(day + 2, 7))).toISOString());
    }
    t.clock.advance(days(1));
    expect((await t.as(token).get("/me")).status).toBe(401);
  });

  it("are not listed when they have expired", async () => {
    const t = await startApp({ engine });
    await login(t, ADMIN.email, ADMIN.password);
    t.clock.advance(days(4));
    expect((await t.get("/me")).status).toBe(200);
    t.clock.advance(days(2));
    const { sessions } = (await (await t.get("/users/1/sessions")).json()) as { sessions: Session[] };
    expect(sessions.map(({ current }) => current)).toEqual([true]);
    expect((await t.get("/sessions/2")).status).toBe(404);
  });
});

describe.each(bothEngines)("passwords that change at a sign-in on %s", (engine) => {
  it("update an outdated password hash at a sign-in, without ending anything", async () => {
    const t = await startApp({ engine });
    const old = await hash(ADMIN.password, { memoryCost: 4096, timeCost: 1, parallelism: 1 });
    await t.store.users.update({ where: eq("id", 1), set: { password_hash: old } });
    const stored = async () => (await t.store.users.get(1))!.password_hash;
    expect((await login(t, ADMIN.email, "correct-horse-battery-2")).status).toBe(401);
    expect(await stored()).toBe(old);
    // Concurrent sign-ins must not block each other.
    const replies = await Promise.all([1, 2, 3].map(() => login(t, ADMIN.email, ADMIN.password)));
    for (const reply of replies) await tokenOf(reply);
    const today = await stored();
    expect(today).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect((await t.get("/me")).status).toBe(200);
    await tokenOf(await login(t, ADMIN.email, ADMIN.password));
    expect(await stored()).toBe(today);
  });

  it("are not created with a password that was changed while it was verified", async () => {
    const t = await startApp({ engine });
    const signIns = Array.from({ length: 4 }, () => login(t, ADMIN.email, ADMIN.password));
    const changing = t.post("/change_password", { old_password: ADMIN.password, new_password: PASSWORD });
    const tokens: string[] = [];
    for (const response of await Promise.all(signIns))
      if (response.status === 200) tokens.push(((await response.json()) as { token: string }).token);
    expect((await changing).status).toBe(200);
    for (const token of tokens) expect((await t.as(token).get("/me")).status).toBe(401);
  });
});
