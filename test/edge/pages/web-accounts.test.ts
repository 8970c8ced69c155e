// The targets of mailed links.
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
    expect((await visitor.get("/session")).text).toContain('"global_role":"observer"');
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
