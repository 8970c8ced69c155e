// The user's own account, and the targets of mailed links.
import { describe, expect, it } from "vitest";
import { days, minutes } from "../../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { issueToken } from "../../../src/server/platform/mail/one-time.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { WebVisitor } from "../../support/web.ts";

const FRESH = "another-Sailing-43";
const fresh = { new_password: FRESH, new_password_again: FRESH };

async function signedIn(t: TestApp): Promise<WebVisitor> {
  const visitor = new WebVisitor(t);
  await visitor.signIn(ADMIN.email, ADMIN.password);
  return visitor;
}

const member = (t: TestApp, more: object = {}) => makeUser(t, "observer", { api_only: false, ...more });
const mailed = (
  t: TestApp,
  kind: "mfa" | "password_reset" | "email_change",
  userId: number,
  data?: { email: string },
) => issueToken(serviceContext(t.services), kind, userId, minutes(15), data ?? null);

describe.each(rulesEngines)("my account on %s", (engine) => {
  it("shows who I am and my roles", async () => {
    const t = await startApp({ engine });
    const { text } = await (await signedIn(t)).get("/profile");
    expect(text).toContain(ADMIN.name);
    expect(text).toContain(ADMIN.email);
    expect(text).toContain("<dd>admin</dd>");
  });

  it("creates an API token that works, shows it once, and ends it", async () => {
    const t = await startApp({ engine });
    const visitor = await signedIn(t);
    await visitor.get("/profile");
    const { status, text } = await visitor.post("/profile/tokens", { name: "nightly <job>", expires_in: "7d" });
    expect(status).toBe(200);
    const [, token] = /id="new-token">([\w-]{43})</.exec(text)!;
    expect((await t.as(token!).get("/me")).status).toBe(200);
    const later = (await visitor.get("/profile")).text;
    expect(later).not.toContain(token);
    expect(later).toContain("nightly &lt;job&gt;");
    expect(later).toContain("in 7 days");
    const again = await visitor.post("/profile/tokens", { name: "nightly <job>", expires_in: "7d" });
    expect([again.status, again.text.includes("a token with the name")]).toEqual([409, false]);
    expect(again.text).toContain("A token with the name nightly &lt;job&gt; exists");
    for (const fields of [
      { name: "", expires_in: "7d" },
      { name: "x", expires_in: "9000d" },
      { name: "x", expires_in: "soon" },
    ]) {
      const seen = await visitor.post("/profile/tokens", fields);
      expect(seen.status, JSON.stringify(fields)).toBe(422);
      expect(seen.text).toMatch(/role="alert"|class="wrong"/);
    }
    const [, id] =
      /\/profile\/sessions\/(\d+)\/end"[^>]*><input[^>]*><button class="danger little">End<span class="hidden"> nightly/.exec(
        later,
      )!;
    expect((await visitor.post(`/profile/sessions/${id}/end`)).location).toBe("/profile?status=ended");
    expect((await t.as(token!).get("/me")).status).toBe(401);
  });

  it("ends my other sessions, and those of nobody else", async () => {
    const t = await startApp({ engine });
    const other = await member(t);
    const stranger = new WebVisitor(t);
    await stranger.signIn(other.user.email, PASSWORD);
    const visitor = await signedIn(t);
    const sessions = await t.store.sessions.list({});
    const first = Math.min(...sessions.filter(({ user_id }) => user_id === 1).map(({ id }) => id));
    const theirs = sessions.find(({ user_id }) => user_id === other.user.id)!;
    await visitor.get("/profile");
    await visitor.post(`/profile/sessions/${theirs.id}/end`);
    expect((await stranger.get("/")).status).toBe(200);
    expect((await t.get("/me")).status).toBe(200);
    await visitor.post(`/profile/sessions/${first}/end`);
    expect((await t.get("/me")).status).toBe(401);
    expect((await visitor.get("/profile")).status).toBe(200);
  });

  it("changes my email only with the password, and not to one that is taken", async () => {
    const t = await startApp({ engine });
    const { user } = await member(t);
    const visitor = new WebVisitor(t);
    await visitor.signIn(user.email, PASSWORD);
    await visitor.get("/profile");
    const change = (email: string, password = PASSWORD) => visitor.post("/profile/email", { email, password });
    const refused = [
      await change("new-me@example.com", "wrong-Pass-word-1"),
      await change("new-me@example.com", ""),
      await change("no address"),
      await change(ADMIN.email),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 422, 422, 409]);
    expect(refused[0]!.text).toContain("Is not your current password.");
    for (const { text } of refused) expect(text).toMatch(/role="alert"|class="wrong"/);
    // Without outgoing mail the change is immediate.
    expect((await change(" New-Me@example.com ")).location).toBe("/profile?status=email");
    expect((await t.store.users.get(user.id))!.email).toBe("new-me@example.com");
    expect((await visitor.get("/profile")).text).toContain("new-me@example.com");
  });

  it("changes my password only with the current one, limits wrong ones, and ends my other sessions", async () => {
    const t = await startApp({ engine });
    const { user } = await member(t);
    const [visitor, elsewhere] = [new WebVisitor(t), new WebVisitor(t)];
    for (const one of [visitor, elsewhere]) await one.signIn(user.email, PASSWORD);
    await visitor.get("/profile");
    const unlike = await visitor.post("/profile/password", {
      old_password: PASSWORD,
      ...fresh,
      new_password_again: "x",
    });
    expect([unlike.status, unlike.text.includes("The passwords must match.")]).toEqual([422, true]);
    const weak = await visitor.post("/profile/password", {
      old_password: PASSWORD,
      new_password: "x",
      new_password_again: "x",
    });
    expect([weak.status, weak.text.includes("at least 12 characters")]).toEqual([422, true]);
    const wrong = await visitor.post("/profile/password", { old_password: "wrong", ...fresh });
    expect([wrong.status, wrong.text.includes("Old password does not match.")]).toEqual([422, true]);
    expect(wrong.text).toContain('aria-invalid="true" aria-describedby="field-old_password-wrong"');
    expect((await elsewhere.get("/")).status).toBe(200);
    const right = await visitor.post("/profile/password", { old_password: PASSWORD, ...fresh });
    expect(right.location).toBe("/profile?status=password");
    expect((await visitor.get("/")).status).toBe(200);
    expect((await elsewhere.get("/")).status).toBe(303);
    let last = right;
    for (let i = 0; i < 12; i++) last = await visitor.post("/profile/password", { old_password: "wrong", ...fresh });
    expect(last.status).toBe(429);
  });
});

describe.each(rulesEngines)("a mailed link on %s", (engine) => {
  it("to sign in works once, with its button and not by being opened", async () => {
    const t = await startApp({ engine });
    const { user } = await member(t);
    await t.store.users.update({ where: { op: "eq", column: "id", value: user.id }, set: { mfa_enabled: true } });
    const token = await mailed(t, "mfa", user.id);
    const visitor = new WebVisitor(t);
    for (let i = 0; i < 3; i++) expect((await visitor.get(`/login/mfa/${token}`)).status).toBe(200);
    expect(await t.store.oneTimeTokens.count()).toBe(1);
    expect((await visitor.postRaw(`/login/mfa/${token}`, {})).status).toBe(403);
    expect(await t.store.oneTimeTokens.count()).toBe(1);
    expect((await visitor.post(`/login/mfa/${token}`)).status).toBe(200);
    expect((await visitor.get("/")).text).toContain(user.name);
    const late = new WebVisitor(t);
    await late.get(`/login/mfa/${token}`);
    const seen = await late.post(`/login/mfa/${token}`);
    expect([seen.status, seen.text.includes("This link does not work")]).toEqual([401, true]);
    expect((await late.get("/")).status).toBe(303);
  });

  it("to reset a password works once, and a refused password does not use it up", async () => {
    const t = await startApp({ engine });
    const { user } = await member(t);
    const token = await mailed(t, "password_reset", user.id);
    const visitor = new WebVisitor(t);
    const path = `/login/reset/${token}`;
    for (let i = 0; i < 3; i++) expect((await visitor.get(path)).status).toBe(200);
    const weak = await visitor.post(path, { new_password: "x", new_password_again: "x" });
    expect([weak.status, weak.text.includes("at least 12 characters")]).toEqual([422, true]);
    expect((await visitor.post(path, { ...fresh, new_password_again: "x" })).status).toBe(422);
    expect((await visitor.post(path, fresh)).location).toBe("/login?status=password_set");
    const again = await visitor.post(path, { new_password: `${FRESH}4`, new_password_again: `${FRESH}4` });
    expect(again.status).toBe(401);
    await visitor.signIn(user.email, FRESH);
  });

  it("to accept an invite creates its account once", async () => {
    const t = await startApp({ engine });
    const reply = await t.post("/invites", { email: "new@example.com", name: "Nia New", global_role: "observer" });
    const { link } = (await reply.json()) as { link: string };
    const path = new URL(link).pathname;
    const visitor = new WebVisitor(t);
    for (let i = 0; i < 3; i++) {
      const { status, text } = await visitor.get(path);
      expect(status).toBe(200);
      expect(text).toContain("new@example.com");
      expect(text).toContain('value="Nia New"');
    }
    expect(await t.store.invites.count()).toBe(1);
    const weak = await visitor.post(path, { name: "Nia", new_password: "x", new_password_again: "x" });
    expect([weak.status, weak.text.includes("at least 12 characters")]).toEqual([422, true]);
    const unlike = await visitor.post(path, { name: "Nia", ...fresh, new_password_again: "x" });
    expect([unlike.status, unlike.text.includes("The passwords must match.")]).toEqual([422, true]);
    // Additional fields of the form are ignored.
    const made = await visitor.post(path, { name: "Nia", ...fresh, email: "other@example.com", global_role: "admin" });
    expect(made.location).toBe("/login?status=account_made");
    for (const used of [await visitor.get(path), await visitor.post(path, { name: "Nia", ...fresh })])
      expect([used.status, used.text.includes("This link does not work")]).toEqual([404, true]);
    await visitor.signIn("new@example.com", FRESH);
    expect((await visitor.get("/profile")).text).toContain("<dd>observer</dd>");
    const late = await t.post("/invites", { email: "late@example.com", name: "Lee Late", global_role: "observer" });
    t.clock.advance(days(5));
    const old = await visitor.get(new URL(((await late.json()) as { link: string }).link).pathname);
    expect([old.status, old.text.includes("This link does not work")]).toEqual([422, true]);
  });

  it("to confirm a new address asks its owner to sign in, and works with its button", async () => {
    const t = await startApp({ engine });
    const { user } = await member(t);
    const token = await mailed(t, "email_change", user.id, { email: "fresh@example.com" });
    const path = `/email/change/${token}`;
    const visitor = new WebVisitor(t);
    expect((await visitor.get(path)).location).toBe(`/login?next=${encodeURIComponent(path)}`);
    const wrong = await signedIn(t);
    await wrong.get(path);
    expect((await wrong.post(path)).text).toContain("This link does not work");
    await visitor.signIn(user.email, PASSWORD);
    for (let i = 0; i < 3; i++) expect((await visitor.get(path)).status).toBe(200);
    expect((await t.store.users.get(user.id))!.email).toBe(user.email);
    expect((await visitor.post(path)).location).toBe("/profile?status=email");
    expect((await t.store.users.get(user.id))!.email).toBe("fresh@example.com");
    expect((await visitor.post(path)).text).toContain("This link does not work");
  });

  it("for a forgotten password cannot be requested without outgoing mail, with a message", async () => {
    const t = await startApp({ engine });
    const visitor = new WebVisitor(t);
    await visitor.get("/login/forgot");
    const seen = await visitor.post("/login/forgot", { email: ADMIN.email });
    expect([seen.status, seen.text.includes("Email not configured.")]).toEqual([500, true]);
    expect((await visitor.post("/login/forgot", { email: "" })).status).toBe(422);
  });
});
