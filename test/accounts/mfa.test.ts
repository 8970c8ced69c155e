import { describe, expect, it } from "vitest";
import type { User } from "../../src/api/accounts/users.ts";
import { mailSignInLink } from "../../src/server/accounts/sign-in/mfa.ts";
import { nobody } from "../../src/server/platform/core/context.ts";
import { issueToken } from "../../src/server/platform/mail/one-time.ts";
import { errorOf, login, makeUser, PASSWORD } from "../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { mailOf, type Smtp, startRaw, tokenIn, useMail } from "../support/smtp.ts";

const MINUTE = 60_000;
const EMAIL = "mia@example.com";
const person = {
  name: "Mia <b>",
  email: EMAIL,
  password: PASSWORD,
  global_role: "observer",
  admin_forced_password_reset: false,
};
/** The app with a user who signs in with a mailed link. */
async function withMia(engine: "lowdb" | "postgres"): Promise<{ t: TestApp; smtp: Smtp; user: User }> {
  const t = await startApp({ engine });
  const smtp = await mailOf(t);
  const response = await t.post("/users/admin", { ...person, mfa_enabled: true });
  const { user } = (await response.json()) as { user: User };
  expect(user).toMatchObject({ mfa_enabled: true, email: EMAIL });
  return { t, smtp, user };
}
const ask = (t: TestApp, password = PASSWORD, more: object = { supports_email_verification: true }) =>
  t.as(null).post("/login", { email: EMAIL, password, ...more });
const finish = (t: TestApp, token: unknown) => t.as(null).post("/sessions", { token });
const linkOf = async (smtp: Smtp) => tokenIn(await smtp.mailTo(EMAIL), "/login/mfa/");
const expectError = async (response: Response, status: number, name?: string, reason = /./) => {
  const body = await errorOf(response);
  expect([response.status, body.errors?.[0]?.name], JSON.stringify(body)).toEqual([status, name]);
  expect(body.errors?.[0]?.reason).toMatch(reason);
};
const signIns = async (t: TestApp) =>
  (await t.store.activities.list()).filter(({ type }) => /^user_(logged_in|failed_login)$/.test(type));

describe.each(rulesEngines)("multi-factor sign-in on %s", (engine) => {
  it("accepts the password, mails a link, and creates a session for the link", async () => {
    const { t, smtp, user } = await withMia(engine);
    const asked = await ask(t);
    expect([asked.status, await asked.json()]).toEqual([202, { message: expect.stringContaining("15 minutes") }]);
    expect(await signIns(t)).toEqual([]);
    const mail = await smtp.mailTo(EMAIL);
    expect(mail.html).toContain("Hello Mia &lt;b&gt;,");
    const finished = await finish(t, tokenIn(mail, "/login/mfa/"));
    expect(finished.status).toBe(200);
    const reply = (await finished.json()) as { user: User; token: string; available_teams: unknown[] };
    expect(reply.user).toMatchObject({ id: user.id, mfa_enabled: true });
    expect(reply.available_teams).toEqual([]);
    expect((await t.as(reply.token).get("/me")).status).toBe(200);
    const activities = await signIns(t);
    expect(activities.map(({ type, actor_id }) => [type, actor_id])).toEqual([["user_logged_in", user.id]]);
  });

  it("does not mention links without the right password", async () => {
    const { t, smtp } = await withMia(engine);
    const wrong = await ask(t, "wrong-Password-1");
    const unknown = await t
      .as(null)
      .post("/login", { email: "x@example.com", password: "wrong-Password-1", supports_email_verification: true });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect((await errorOf(wrong)).errors).toEqual((await errorOf(unknown)).errors);
    expect(smtp.mails).toEqual([]);
    expect((await signIns(t)).map(({ type }) => type)).toEqual(["user_failed_login", "user_failed_login"]);
  });

  it("replies 400 to clients that cannot continue with a link, and sends none", async () => {
    const { t, smtp } = await withMia(engine);
    await expectError(
      await ask(t, PASSWORD, { supports_email_verification: false }),
      400,
      "supports_email_verification",
    );
    expect(smtp.mails).toEqual([]);
    expect(await t.store.sessions.count()).toBe(1);
    // Without the field, a client is one that can.
    const { status } = await ask(t, PASSWORD, {});
    expect([status, smtp.mails.length]).toEqual([202, 1]);
  });

  it("accepts a link once, for 15 minutes, and no token of another kind", async () => {
    const { t, smtp, user } = await withMia(engine);
    await ask(t);
    const first = await linkOf(smtp);
    expect((await finish(t, first)).status).toBe(200);
    const bad = [first, "", "x", t.token, await issueToken(t.services, "password_reset", user.id, MINUTE)];
    await ask(t);
    const late = await linkOf(smtp);
    t.clock.advance(15 * MINUTE);
    for (const token of [...bad, late]) {
      const before = t.clock.now();
      await expectError(await finish(t, token), 401, "base", /^Authentication failed$/);
      expect(t.clock.now() - before).toBe(1_000);
    }
    await expectError(await finish(t, 7), 422, "token");
    expect((await signIns(t)).filter(({ type }) => type === "user_failed_login").length).toBe(6);
  });

  it("ends a link when the password changes, and with the account", async () => {
    const { t, smtp, user } = await withMia(engine);
    const changes = [
      () => t.patch(`/users/${user.id}`, { new_password: "another-Horse-2" }),
      () => t.patch(`/users/${user.id}`, { sso_enabled: true, mfa_enabled: false }),
    ];
    for (const change of changes) {
      await ask(t, change === changes[0] ? PASSWORD : "another-Horse-2");
      const token = await linkOf(smtp);
      expect((await change()).status).toBe(200);
      await expectError(await finish(t, token), 401, "base");
    }
    const token = await issueToken(t.services, "mfa", user.id, MINUTE);
    await expectError(await finish(t, token), 401, "base");
    await t.delete(`/users/${user.id}`);
    await expectError(await finish(t, token), 401, "base");
  });

  it("creates no link for a password that was changed while it was verified", async () => {
    const { t, smtp, user } = await withMia(engine);
    const row = (await t.store.users.get(user.id))!;
    await t.patch(`/users/${user.id}`, { new_password: "another-Horse-2" });
    const ctx = { ...t.services, user: nobody, address: "", requestId: "r" };
    await expect(mailSignInLink(ctx, row, true)).rejects.toMatchObject({ status: 401 });
    expect(smtp.mails).toEqual([]);
    expect(await t.store.oneTimeTokens.count()).toBe(0);
  });

  it("limits both steps separately", async () => {
    const { t, smtp } = await withMia(engine);
    for (let i = 0; i < 10; i++) expect((await ask(t)).status).toBe(202);
    const limited = await ask(t);
    expect([limited.status, Number(limited.headers.get("retry-after")) > 0]).toEqual([429, true]);
    const token = await linkOf(smtp);
    // Refusals take a second each: ten fit into the minute.
    for (let i = 0; i < 10; i++) expect((await finish(t, "x")).status).toBe(401);
    expect((await finish(t, token)).status).toBe(429);
    t.clock.advance(MINUTE);
    expect((await finish(t, token)).status).toBe(200);
  });

  it("reports a mail that cannot be sent, and lets nobody in", async () => {
    const { t } = await withMia(engine);
    const port = await startRaw((socket) => socket.end("554 5.7.1 not today\r\n"));
    await useMail(t, port);
    const refused = await ask(t);
    expect([refused.status, (await errorOf(refused)).message]).toEqual([500, "Mail Error"]);
    const off = { smtp_settings: { enable_smtp: false } };
    expect((await t.patch("/config?force=true", off)).status).toBe(200);
    await expectError(await ask(t), 500, "base", /^email not configured$/);
  });

  it("prevents turning mail off, except with force, until nobody needs it", async () => {
    const { t, user } = await withMia(engine);
    const off = { smtp_settings: { enable_smtp: false } };
    for (const path of ["/config", "/config?dry_run=true"])
      await expectError(await t.patch(path, off), 422, "smtp_settings.enable_smtp", /^1 user signs in/);
    expect((await t.patch("/config", { smtp_settings: { sender_address: "other@example.com" } })).status).toBe(200);
    expect((await ask(t)).status).toBe(202);
    // An admin can let the user in without it.
    expect((await t.patch(`/users/${user.id}`, { mfa_enabled: false })).status).toBe(200);
    expect((await t.patch("/config", off)).status).toBe(200);
    expect((await login(t, EMAIL, PASSWORD)).status).toBe(200);
  });

  it("requires the premium tier, a person, outgoing mail, and no single sign-on", async () => {
    const t = await startApp({ engine });
    const mfa = { mfa_enabled: true };
    const { user } = await makeUser(t, "observer", { api_only: false, email: "b@example.com" });
    await expectError(await t.post("/users/admin", { ...person, ...mfa }), 400, "mfa_enabled");
    await expectError(await t.patch(`/users/${user.id}`, mfa), 400, "mfa_enabled");
    await mailOf(t);
    await expectError(await t.post("/users/admin", { ...person, ...mfa, api_only: true }), 422, "mfa_enabled");
    const sso = { sso_enabled: true, password: undefined };
    await expectError(await t.post("/users/admin", { ...person, ...mfa, ...sso }), 409, "base");
    await expectError(await t.patch(`/users/${user.id}`, { ...mfa, sso_enabled: true }), 409, "base");
    const robot = await makeUser(t, "observer");
    await expectError(await t.patch(`/users/${robot.user.id}`, mfa), 422, "mfa_enabled");
    expect((await t.patch(`/users/${user.id}`, mfa)).status).toBe(200);
    await expectError(await t.patch(`/users/${user.id}`, { sso_enabled: true }), 409, "base");
    expect((await login(t, "b@example.com", PASSWORD)).status).toBe(202);
    expect((await t.patch(`/users/${user.id}`, { mfa_enabled: false })).status).toBe(200);
    expect((await login(t, "b@example.com", PASSWORD)).status).toBe(200);
  });

  it("is ignored for new users on the free tier, and 402 in changes", async () => {
    const t = await startApp({ engine, tier: "free" });
    await mailOf(t);
    const made = (await (await t.post("/users/admin", { ...person, mfa_enabled: true })).json()) as { user: User };
    expect(made.user.mfa_enabled).toBe(false);
    await expectError(await t.patch(`/users/${made.user.id}`, { mfa_enabled: true }), 402, "base");
    expect((await login(t, ADMIN.email, ADMIN.password)).status).toBe(200);
  });
});

describe.each(bothEngines)("concurrent use of a mailed link on %s", (engine) => {
  it("creates one session for a link that is used many times concurrently", async () => {
    const { t, smtp } = await withMia(engine);
    await ask(t);
    const token = await linkOf(smtp);
    const answers = await Promise.all(Array.from({ length: 6 }, () => finish(t, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401, 401]);
    expect((await signIns(t)).filter(({ type }) => type === "user_logged_in").length).toBe(1);
  });
});
