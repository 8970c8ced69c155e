import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { forgotPassword } from "../../src/server/accounts/users/password-reset.ts";
import { minutes } from "../../src/server/platform/core/clock.ts";
import { nobody } from "../../src/server/platform/core/context.ts";
import { mailIdle } from "../../src/server/platform/mail/later.ts";
import { issueToken } from "../../src/server/platform/mail/one-time.ts";
import { errorOf, login, makeUser } from "../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { mailOf, SMTP_PASSWORD, startRaw, tokenIn, useMail } from "../support/smtp.ts";

const HOUR = 3_600_000;
const FRESH = "another-Horse-battery-2";
const forgot = (t: TestApp, email: string, headers: Record<string, string> = {}) =>
  t.as(null).request("POST", "/forgot_password", { email }, headers);
const reset = (t: TestApp, token: string, password = FRESH, more: object = {}) =>
  t.as(null).post("/reset_password", { new_password: password, password_reset_token: token, ...more });
const expectError = async (response: Response, status: number, name: string, reason: RegExp) => {
  const body = await errorOf(response);
  expect(response.status, JSON.stringify(body)).toBe(status);
  expect(body.errors?.[0]?.name).toBe(name);
  expect(body.errors?.[0]?.reason).toMatch(reason);
};
const expectRefused = (response: Response) => expectError(response, 401, "base", /^Authentication failed$/);

describe.each(rulesEngines)("a forgotten password on %s", (engine) => {
  it("is replaced with the mailed link; all sessions end, and the old password becomes invalid", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const response = await forgot(t, " ADA@example.com ");
    expect([response.status, await response.json()]).toEqual([200, {}]);
    const mail = await smtp.mailTo(ADMIN.email);
    expect(mail.subject).toBe("Choose a new password");
    expect(mail.text).toContain("https://svc.example.com/login/reset/");
    const token = tokenIn(mail, "/login/reset/");
    expect(mail.html).toContain(`href="https://svc.example.com/login/reset/${token}"`);
    const done = await reset(t, token, FRESH, { new_password_confirmation: FRESH });
    expect([done.status, await done.json()]).toEqual([200, {}]);
    expect((await t.get("/me")).status).toBe(401);
    expect((await login(t, ADMIN.email, ADMIN.password)).status).toBe(401);
    expect((await login(t, ADMIN.email, FRESH)).status).toBe(200);
    expect((await smtp.mailTo(ADMIN.email)).subject).toBe("Your password was changed");
  });

  it("gets the same reply, equally fast, for an unknown address, and nothing is mailed", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    await t.post("/users/admin", {
      name: "Sso",
      email: "sso@example.com",
      sso_enabled: true,
      global_role: "observer",
    });
    const answers = [];
    for (const email of [ADMIN.email, "nobody@example.com", "sso@example.com"]) {
      const before = t.clock.now();
      const response = await forgot(t, email);
      const { uuid: _, ...body } = (await response.json()) as Record<string, unknown>;
      const headers = Object.fromEntries(response.headers);
      delete headers["x-request-id"];
      answers.push({ status: response.status, body, headers, took: t.clock.now() - before });
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    await mailIdle(t.services);
    await smtp.quiet();
    expect(smtp.mails.map(({ rcpt }) => rcpt)).toEqual([[ADMIN.email]]);
    expect(await t.store.oneTimeTokens.count()).toBe(1);
  });

  it("does not wait for the mail: a hanging mail server blocks nobody", async () => {
    const t = await startApp({ engine, settings: { mail_timeout: "60s" } });
    await useMail(t, await startRaw(() => {}));
    const started = performance.now();
    expect((await forgot(t, ADMIN.email)).status).toBe(200);
    expect((await t.get("/me")).status).toBe(200);
    // Sooner than the 60 seconds that the mail has.
    expect(performance.now() - started).toBeLessThan(50_000);
    // The app stops although the mail has not been sent yet.
  });

  it("is refused with 500 if outgoing mail is not configured or turned off", async () => {
    const t = await startApp({ engine });
    await expectError(await forgot(t, ADMIN.email), 500, "base", /^email not configured$/);
    const smtp = await mailOf(t);
    await useMail(t, smtp.port, { enable_smtp: false });
    await expectError(await forgot(t, ADMIN.email), 500, "base", /^email not configured$/);
    expect(await t.store.oneTimeTokens.count()).toBe(0);
  });

  it("without mail is logged once a minute, in a line without a stack trace", async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const t = await startApp({ engine, log: pino({ level: "error" }, sink) });
    for (let i = 0; i < 5; i++) await forgot(t, `${i}@example.com`);
    t.clock.advance(minutes(1));
    await forgot(t, ADMIN.email);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(JSON.parse(line)).toMatchObject({ status: 500, reason: "email not configured", msg: "request failed" });
      expect(line).not.toContain("stack");
    }
  });

  it("accepts a token once, within an hour", async () => {
    const t = await startApp({ engine });
    await mailOf(t);
    const [user] = await t.store.users.list();
    const first = await issueToken(t.services, "password_reset", user!.id, HOUR);
    t.clock.advance(HOUR);
    await expectRefused(await reset(t, first));
    const second = await issueToken(t.services, "password_reset", user!.id, HOUR);
    expect((await reset(t, second)).status).toBe(200);
    await expectRefused(await reset(t, second, "yet-another-Horse-3"));
    expect((await login(t, ADMIN.email, FRESH)).status).toBe(200);
  });

  it("refuses invalid tokens, those of another kind, and outdated ones, after a delay of a second", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const [user] = await t.store.users.list();
    await forgot(t, ADMIN.email);
    const old = tokenIn(await smtp.mailTo(ADMIN.email), "/login/reset/");
    await forgot(t, ADMIN.email);
    const fresh = tokenIn(await smtp.mailTo(ADMIN.email), "/login/reset/");
    const others = [
      old,
      "",
      "x",
      t.token,
      await issueToken(t.services, "mfa", user!.id, HOUR),
      await issueToken(t.services, "email_change", user!.id, HOUR, { email: "x@example.com" }),
      await issueToken(t.services, "cli_login", user!.id, HOUR),
    ];
    for (const token of others) {
      const before = t.clock.now();
      await expectRefused(await reset(t, token));
      expect(t.clock.now() - before).toBe(1_000);
    }
    expect((await reset(t, fresh)).status).toBe(200);
  });

  it("refuses bad passwords with the reason, and the token stays valid", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    await forgot(t, ADMIN.email);
    const token = tokenIn(await smtp.mailTo(ADMIN.email), "/login/reset/");
    for (const password of [
      "short-1",
      "no digits in here!",
      "only1letters2here",
      `a-1${"x".repeat(46)}`,
      ADMIN.password,
    ])
      await expectError(await reset(t, token, password), 422, "new_password", /password/);
    const differs = { new_password_confirmation: "different-Horse-9" };
    await expectError(await reset(t, token, FRESH, differs), 422, "new_password_confirmation", /not the same/);
    for (const [body, name] of [
      [{ new_password: FRESH }, "password_reset_token"],
      [{ password_reset_token: token }, "new_password"],
      [{ new_password: FRESH, password_reset_token: ["a"] }, "password_reset_token"],
    ] as const)
      await expectError(await t.as(null).post("/reset_password", body), 422, name, /./);
    expect((await t.get("/me")).status).toBe(200);
    expect((await reset(t, token)).status).toBe(200);
  });

  it("completes a required reset, and ends the user's other links", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const required = { api_only: false, email: "p@example.com", admin_forced_password_reset: true };
    const { user } = await makeUser(t, "observer", required);
    await issueToken(t.services, "email_change", user.id, HOUR, { email: "new@example.com" });
    await issueToken(t.services, "mfa", user.id, HOUR);
    await forgot(t, "p@example.com");
    const token = tokenIn(await smtp.mailTo("p@example.com"), "/login/reset/");
    expect(await t.store.oneTimeTokens.count()).toBe(3);
    expect((await reset(t, token)).status).toBe(200);
    expect(await t.store.oneTimeTokens.count()).toBe(0);
    const session = (await (await login(t, "p@example.com", FRESH)).json()) as { token: string };
    expect((await t.as(session.token).get("/me")).status).toBe(200);
  });

  it("ends an unused link after a change of the password, a required reset, a new address or the deletion of the user", async () => {
    const t = await startApp({ engine });
    const { user } = await makeUser(t, "observer", { api_only: false });
    const waits = () => issueToken(t.services, "password_reset", user.id, HOUR);
    const changes = [
      () => t.patch(`/users/${user.id}`, { new_password: FRESH }),
      () => t.post(`/users/${user.id}/require_password_reset`, { require: true }),
      () => t.patch(`/users/${user.id}`, { email: "elsewhere@example.com" }),
      () => t.patch(`/users/${user.id}`, { sso_enabled: true }),
      () => t.delete(`/users/${user.id}`),
    ];
    for (const change of changes) {
      const token = await waits();
      expect((await change()).status).toBe(200);
      await expectRefused(await reset(t, token, "third-Horse-battery-3"));
    }
  });

  it("is limited to ten mails an hour per account, from all addresses", async () => {
    const t = await startApp({ engine });
    await mailOf(t);
    const from = (i: number) => ({ ...t.services, user: nobody, address: `203.0.113.${i}`, requestId: "r" });
    for (let i = 0; i < 10; i++) await forgotPassword(from(i), ADMIN.email.toUpperCase());
    await expect(forgotPassword(from(10), ADMIN.email)).rejects.toMatchObject({ status: 429 });
    await forgotPassword(from(10), "nobody@example.com");
    t.clock.advance(HOUR);
    await forgotPassword(from(10), ADMIN.email);
  });

  it("is limited to ten mails an hour per address", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    for (let i = 0; i < 10; i++) expect((await forgot(t, `n${i}@example.com`)).status).toBe(200);
    const limited = await forgot(t, ADMIN.email);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBe(3600);
    t.clock.advance(HOUR);
    expect((await forgot(t, ADMIN.email)).status).toBe(200);
    await smtp.mailTo(ADMIN.email);
  });

  it("stores no token and no password of the mail server in readable form", async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const t = await startApp({ engine, log: pino({ level: "trace" }, sink) });
    const smtp = await mailOf(t, { auth: true, refuse: /^refused@/ });
    await useMail(t, smtp.port, {
      authentication_type: "authtype_username_and_password",
      user_name: "postmaster",
      password: SMTP_PASSWORD,
    });
    await makeUser(t, "observer", { api_only: false, email: "refused@example.com" });
    await forgot(t, ADMIN.email);
    const token = tokenIn(await smtp.mailTo(ADMIN.email), "/login/reset/");
    await forgot(t, "refused@example.com");
    await mailIdle(t.services);
    expect((await t.get(`/email/change/${token}`)).status).toBe(404);
    expect(lines.join("")).toContain("550 5.1.1 No such user here");
    const rows = JSON.stringify(await t.store.oneTimeTokens.list());
    expect(rows).toContain("token_hash");
    const config = await (await t.get("/config")).text();
    const feed = await (await t.get("/activities")).text();
    for (const text of [lines.join(""), rows, config, feed])
      for (const secret of [token, SMTP_PASSWORD, Buffer.from(SMTP_PASSWORD).toString("base64")])
        expect(text).not.toContain(secret);
  });
});

describe.each(bothEngines)("concurrent password resets on %s", (engine) => {
  it("leaves one valid link of many concurrent requests", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    await Promise.all(Array.from({ length: 6 }, () => forgot(t, ADMIN.email)));
    await mailIdle(t.services);
    const tokens = smtp.mails.map((mail) => tokenIn(mail, "/login/reset/"));
    expect(new Set(tokens).size).toBe(6);
    const answers = [];
    for (const token of tokens) answers.push((await reset(t, token)).status);
    expect(answers.sort()).toEqual([200, 401, 401, 401, 401, 401]);
  });

  it("accepts the new password of one of many concurrent calls with the same token", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    await forgot(t, ADMIN.email);
    const token = tokenIn(await smtp.mailTo(ADMIN.email), "/login/reset/");
    const passwords = Array.from({ length: 8 }, (_, i) => `concurrent-Horse-${i}`);
    const answers = await Promise.all(passwords.map((password) => reset(t, token, password)));
    const won = answers.flatMap(({ status }, i) => (status === 200 ? [passwords[i]!] : []));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
    expect((await login(t, ADMIN.email, won[0]!)).status).toBe(200);
  });
});
