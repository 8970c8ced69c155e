// The page that passes a code to the command line, and the use of the code.
import { createHash, randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { SSO_PER_MINUTE } from "../../src/server/accounts/sso/limits.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { allow, movesTo, newBrowser } from "../support/cli-browser.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeSigningKey, type SigningKey, turnOnSso } from "../support/idp.ts";
import { makeSession, makeUser } from "../support/make.ts";

let key: SigningKey;
beforeAll(async () => {
  key = await makeSigningKey();
});

const SESSION = "__Host-svc_session";
const verifier = randomBytes(32).toString("base64url");
const challenge = createHash("sha256").update(verifier).digest("base64url");
const state = randomBytes(24).toString("base64url");
const asks = (more: Record<string, string> = {}) =>
  `/cli-login?${new URLSearchParams({ port: "54321", challenge, state, ...more })}`;
const whole = (path: string) => `https://svc.example.com${path}`;

/** A browser in which that token's user is signed in. */
const signedIn = (t: TestApp, token = t.token) => {
  const browser = newBrowser(t);
  browser.cookies.set(SESSION, token);
  return browser;
};
const codeFrom = async (t: TestApp, token = t.token): Promise<string> =>
  new URL((await allow(signedIn(t, token), whole(asks())))!).searchParams.get("code")!;
const exchange = (t: TestApp, code: string, code_verifier = verifier) =>
  t.as(null).request("POST", "/sso/cli_token", { code, code_verifier });

describe.each(rulesEngines)("the command line's sign-in on %s", (engine) => {
  it("asks first, names the user, and passes a code to this computer only", async () => {
    const t = await startApp({ engine });
    const browser = signedIn(t);
    const page = await browser.get(asks());
    expect(page.status).toBe(200);
    const text = await page.text();
    expect(text).toContain("Sign in svc on this computer");
    expect(text).toContain("ada@example.com");
    expect(movesTo(text)).toBeNull();
    expect(await t.store.oneTimeTokens.count()).toBe(0);
    const to = new URL((await allow(browser, whole(asks())))!);
    expect(to.origin).toBe("http://127.0.0.1:54321");
    expect(to.searchParams.get("state")).toBe(state);
    const code = to.searchParams.get("code")!;
    expect(code).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(await t.store.oneTimeTokens.list())).not.toContain(code);

    const res = await exchange(t, code);
    expect(res.status).toBe(200);
    const { token, user } = (await res.json()) as { token: string; user: { email: string } };
    expect(user.email).toBe("ada@example.com");
    expect(token).not.toBe(t.token);
    expect((await t.as(token).get("/me")).status).toBe(200);
    const last = await t.store.activities.first({ order: [{ column: "id", direction: "desc" }] });
    expect(last).toMatchObject({ type: "user_logged_in", actor_email: "ada@example.com" });
  });

  it("accepts a code once, within a minute, with the right verifier", async () => {
    const t = await startApp({ engine });
    const used = await codeFrom(t);
    expect((await exchange(t, used)).status).toBe(200);
    expect((await exchange(t, used)).status).toBe(401);
    const late = await codeFrom(t);
    t.clock.advance(60_000);
    expect((await exchange(t, late)).status).toBe(401);
    const guessed = await codeFrom(t);
    expect((await exchange(t, guessed, randomBytes(32).toString("base64url"))).status).toBe(401);
    // One attempt is allowed: somebody with only the code cannot try again.
    expect((await exchange(t, guessed)).status).toBe(401);
    expect((await exchange(t, randomBytes(32).toString("base64url"))).status).toBe(401);
    expect((await exchange(t, "x", "short")).status).toBe(422);
    const failures = await t.store.activities.count({ op: "eq", column: "type", value: "user_failed_login" });
    expect(failures).toBe(5);
  });

  it("limits the attempts of one address", async () => {
    const t = await startApp({ engine });
    // All at once, because each refusal takes a second of the clock.
    const tries = await Promise.all(Array.from({ length: SSO_PER_MINUTE + 5 }, () => exchange(t, "a".repeat(43))));
    const refused = tries.filter(({ status }) => status === 401).length;
    const limited = tries.filter(({ status }) => status === 429).length;
    expect([refused + limited, limited > 0]).toEqual([SSO_PER_MINUTE + 5, true]);
    expect(await t.store.activities.count(eq("type", "user_failed_login"))).toBe(refused);
    t.clock.advance(60_000);
    expect((await exchange(t, await codeFrom(t))).status).toBe(200);
  });

  it("accepts no code of another kind, and none of a deleted user", async () => {
    const t = await startApp({ engine });
    const user = await makeUser(t, "observer");
    const token = await makeSession(t, user.id);
    const code = await codeFrom(t, token);
    await t.delete(`/users/${user.id}`);
    expect((await exchange(t, code)).status).toBe(401);
    const { issueToken } = await import("../../src/server/platform/mail/one-time.ts");
    const reset = await issueToken(t.services, "password_reset", 1, 60_000, { challenge });
    expect((await exchange(t, reset)).status).toBe(401);
  });

  it("lets users sign in first, and returns to the page", async () => {
    const t = await startApp({ engine });
    const res = await newBrowser(t).get(asks({ sso: "1" }));
    expect(res.status).toBe(303);
    const next = new URL(whole(res.headers.get("location")!)).searchParams.get("next")!;
    expect(next).toBe(asks());
    const posted = await newBrowser(t).post("/cli-login", { port: "54321", challenge, state });
    expect(posted.headers.get("location")).toMatch(/^\/login/);
    expect(await t.store.oneTimeTokens.count()).toBe(0);
  });

  it("uses the identity provider if single sign-on is on, but only once", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    const browser = newBrowser(t);
    const page = await browser.get(asks({ sso: "1" }));
    expect(movesTo(await page.text())).toMatch(/^https:\/\/idp\.example\.com\/sso\?SAMLRequest=/);
    expect([...browser.cookies.keys()]).toContain("__Host-SVCSSOSESSIONID");
    const session = await t.store.ssoSessions.first({});
    // Without single sign-on: a browser without cookies would be redirected forever.
    expect(session?.relay_url).toBe(asks());
    expect((await browser.get(asks())).headers.get("location")).toMatch(/^\/login\?next=/);
    // From an address that is not the public one, first to that one.
    const local = newBrowser(t, "127.0.0.1:8412");
    const moved = movesTo(await (await local.get(asks({ sso: "1" }))).text());
    expect(moved).toBe(`https://svc.example.com${asks({ sso: "1", moved: "1" })}`);
    const there = await local.get(asks({ sso: "1", moved: "1" }));
    expect(movesTo(await there.text())).toMatch(/^https:\/\/idp\.example\.com/);
  });

  it.each<Record<string, string>>([
    { port: "80" },
    { port: "0x50" },
    { port: "70000" },
    { port: "54321@evil.example" },
    { challenge: "short" },
    { challenge: `${challenge}=` },
    { state: "" },
    { state: '"><script>alert(1)</script>' },
  ])("refuses %o", async (bad) => {
    const t = await startApp({ engine });
    const page = await signedIn(t).get(asks(bad));
    expect(page.status).toBe(400);
    expect(await page.text()).not.toContain("<script>");
    expect(await t.store.oneTimeTokens.count()).toBe(0);
  });

  it("gives no code to another site's form, or to a session without its form", async () => {
    const t = await startApp({ engine });
    const browser = signedIn(t);
    const res = await t.raw(whole("/cli-login"), {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "cross-site",
        origin: "https://evil.example.com",
        cookie: `${SESSION}=${t.token}`,
      },
      body: String(new URLSearchParams({ port: "54321", challenge, state })),
    });
    expect(res.status).toBe(403);
    expect((await browser.post("/cli-login", { port: "54321", challenge, state, form_token: "x" })).status).toBe(403);
    expect(await t.store.oneTimeTokens.count()).toBe(0);
  });

  it("gives no code to a user who must set a new password first", async () => {
    const t = await startApp({ engine });
    const user = await makeUser(t, "observer", { force_password_reset: true });
    const page = await signedIn(t, user.token).get(asks());
    expect(page.headers.get("location")).toBe("/login/new-password");
  });
});
