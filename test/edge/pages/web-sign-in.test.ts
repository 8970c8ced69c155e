// Signing in with the web pages: cookies, forms that only our own pages can send, limits, and redirects.
import { describe, expect, it } from "vitest";
import { nextPath } from "../../../src/server/edge/web/next-path.ts";
import { everything } from "../../../src/server/platform/store/query.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { tokenOf, WebVisitor } from "../../support/web.ts";

const withUrl = (t: TestApp, server_url: string) => t.patch("/config", { server_settings: { server_url } });

const FIRST = {
  name: "Ada",
  email: "ada@example.com",
  password: PASSWORD,
  password_again: PASSWORD,
  org_name: "Example",
  server_url: "https://svc.example.com",
};

const person = { api_only: false, name: "Pat Person" };

describe.each(rulesEngines)("signing in on %s", (engine) => {
  it("returns to the requested page, without scripts, with a cookie that scripts and other sites cannot read", async () => {
    const t = await startApp({ engine });
    const visitor = new WebVisitor(t);
    const first = await visitor.get("/hosts?status=online");
    expect([first.status, first.location]).toEqual([303, "/login?next=%2Fhosts%3Fstatus%3Donline"]);
    await visitor.get(first.location);
    const seen = await visitor.post("/login", { ...ADMIN, next: "/hosts?status=online" });
    expect(seen.status).toBe(200);
    expect(seen.text).toContain('<meta http-equiv="refresh" content="0; url=/hosts?status=online">');
    const [cookie] = seen.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-svc_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    expect((await visitor.get("/hosts")).status).toBe(200);
    expect((await visitor.get("/login")).location).toBe("/");
  });

  it("uses a plain cookie over plain http, and does not accept it over https", async () => {
    const t = await startApp({ engine });
    await withUrl(t, "http://127.0.0.1:8412");
    const visitor = new WebVisitor(t);
    await visitor.signIn(ADMIN.email, ADMIN.password);
    expect([...visitor.cookies.keys()].sort()).toEqual(["svc_form", "svc_session"]);
    expect((await visitor.get("/")).status).toBe(200);
    await withUrl(t, "https://svc.example.com");
    expect((await visitor.get("/")).status).toBe(303);
  });

  it("reports a wrong password and an unknown email in the same way, and sends no password back", async () => {
    const t = await startApp({ engine });
    const visitor = new WebVisitor(t);
    await visitor.get("/login");
    const wrong = await visitor.post("/login", { email: ADMIN.email, password: "wrong-Pass-word-1" });
    const unknown = await visitor.post("/login", { email: "who@example.com", password: "wrong-Pass-word-1" });
    for (const seen of [wrong, unknown]) {
      expect(seen.status).toBe(401);
      expect(seen.text).toContain("The email address or the password is wrong.");
      expect(seen.text).not.toContain("wrong-Pass-word-1");
      expect(seen.text).toContain('role="alert"');
    }
    expect(wrong.text).toContain(`value="${ADMIN.email}"`);
    expect(visitor.cookies.has("__Host-svc_session")).toBe(false);
  });

  it("is limited like POST /login, with the same count", async () => {
    const t = await startApp({ engine });
    const visitor = new WebVisitor(t);
    await visitor.get("/login");
    for (let i = 0; i < 5; i++) await visitor.post("/login", { email: ADMIN.email, password: "wrong" });
    for (let i = 0; i < 5; i++) await t.as(null).post("/login", { email: ADMIN.email, password: "wrong" });
    // Refusals take a second each: the first are almost a minute old, but none is older.
    const seen = await visitor.post("/login", { email: ADMIN.email, password: ADMIN.password });
    expect(seen.status).toBe(429);
    expect(Number(seen.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(seen.text).toContain("Too many attempts: try again in");
  });

  it("refuses forms without the page's token, with another one, and from other sites", async () => {
    const t = await startApp({ engine });
    const [visitor, other] = [new WebVisitor(t), new WebVisitor(t)];
    const right = { email: ADMIN.email, password: ADMIN.password };
    const without = await visitor.postRaw("/login", right);
    expect(without.status).toBe(403);
    expect(without.text).toContain("Your browser did not send a cookie");

    await visitor.get("/login");
    const othersToken = tokenOf((await other.get("/login")).text);
    for (const form_token of ["", "x", othersToken])
      expect((await visitor.postRaw("/login", { ...right, form_token })).status).toBe(403);
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
      { origin: "not a url" },
      { origin: "https://svc.example.com.evil.example" },
      { origin: "null", "sec-fetch-site": "cross-site" },
    ] as Record<string, string>[]) {
      await visitor.get("/login");
      expect((await visitor.post("/login", right, headers)).status, JSON.stringify(headers)).toBe(403);
    }
    expect(visitor.cookies.has("__Host-svc_session")).toBe(false);
    await visitor.get("/login");
    const own = { origin: "https://svc.example.com", "sec-fetch-site": "same-origin" };
    expect((await visitor.post("/login", right, own)).status).toBe(200);
  });

  it("binds the token of forms to the session: one of another session, or from before the sign-in, is refused", async () => {
    const t = await startApp({ engine });
    const [mine, theirs] = [new WebVisitor(t), new WebVisitor(t)];
    const before = tokenOf((await mine.get("/login")).text);
    await mine.signIn(ADMIN.email, ADMIN.password);
    await theirs.signIn(ADMIN.email, ADMIN.password);
    const foreign = (JSON.parse((await theirs.get("/session")).text) as { form_token: string }).form_token;
    for (const form_token of [before, foreign]) {
      const seen = await mine.postRaw("/logout", { form_token });
      expect(seen.status).toBe(403);
    }
    expect((await mine.get("/session")).status).toBe(200);
  });

  it("is undone by signing out: the session ends, not only the cookie", async () => {
    const t = await startApp({ engine });
    const visitor = new WebVisitor(t);
    await visitor.signIn(ADMIN.email, ADMIN.password);
    const token = visitor.cookies.get("__Host-svc_session")!;
    expect((await t.as(token).get("/me")).status).toBe(200);
    expect((await visitor.get("/logout")).status).toBe(404);
    expect((await t.as(token).get("/me")).status).toBe(200);
    await visitor.get("/");
    const seen = await visitor.post("/logout");
    expect([seen.status, seen.location]).toEqual([303, "/login?status=signed_out"]);
    expect(visitor.cookies.has("__Host-svc_session")).toBe(false);
    expect((await t.as(token).get("/me")).status).toBe(401);
    visitor.cookies.set("__Host-svc_session", token);
    expect((await visitor.get("/")).location).toBe("/login");
  });

  it("does not make the API accept cookies, nor pages accept API tokens", async () => {
    const t = await startApp({ engine });
    const visitor = new WebVisitor(t);
    await visitor.signIn(ADMIN.email, ADMIN.password);
    expect((await visitor.get("/api/v1/svc/me")).status).toBe(401);
    const made = await t.post("/tokens", { name: "script" });
    const { token } = (await made.json()) as { token: string };
    const robot = new WebVisitor(t);
    robot.cookies.set("__Host-svc_session", token);
    expect((await robot.get("/")).location).toBe("/login");
  });

  it("refuses API-only accounts, and leaves no session of theirs behind", async () => {
    const t = await startApp({ engine });
    const { user } = await makeUser(t, "observer", { api_only: true });
    const before = await t.store.sessions.count();
    const visitor = new WebVisitor(t);
    await visitor.get("/login");
    const seen = await visitor.post("/login", { email: user.email, password: PASSWORD });
    expect(seen.status).toBe(403);
    expect(seen.text).toContain("can only be used with the API and the command line");
    expect(visitor.cookies.has("__Host-svc_session")).toBe(false);
    expect(await t.store.sessions.count()).toBe(before);
  });

  it("requires a new password first if one is required, and allows nothing else until then", async () => {
    const t = await startApp({ engine });
    const { user } = await makeUser(t, "observer", { ...person, admin_forced_password_reset: true });
    const visitor = new WebVisitor(t);
    await visitor.signIn(user.email, PASSWORD);
    for (const path of ["/", "/hosts", "/profile", "/activity"])
      expect((await visitor.get(path)).location).toBe("/login/new-password");
    const page = await visitor.get("/login/new-password");
    expect(page.text).not.toContain('aria-label="Main"');
    const fresh = "another-Sailing-43";
    const weak = await visitor.post("/login/new-password", { new_password: "short", new_password_again: "short" });
    expect([weak.status, weak.text.includes("at least 12 characters")]).toEqual([422, true]);
    const unlike = await visitor.post("/login/new-password", { new_password: fresh, new_password_again: `${fresh}4` });
    expect([unlike.status, unlike.text.includes("The passwords must match.")]).toEqual([422, true]);
    const same = await visitor.post("/login/new-password", { new_password: PASSWORD, new_password_again: PASSWORD });
    expect(same.status).toBe(422);
    expect(
      (await visitor.post("/login/new-password", { new_password: fresh, new_password_again: fresh })).location,
    ).toBe("/");
    expect((await visitor.get("/")).status).toBe(200);
    expect((await visitor.get("/login/new-password")).location).toBe("/");
  });

  it("creates the first administrator in the browser, while there is no user", async () => {
    const t = await startApp({ engine });
    await t.store.users.delete(everything);
    const visitor = new WebVisitor(t);
    for (const path of ["/", "/login", "/setup"]) {
      const seen = await visitor.get(path);
      expect(seen.status).toBe(200);
      expect(seen.text).toContain("svc setup --server-url https://svc.example.com");
      expect(seen.text).not.toContain(t.services.setupToken);
      expect(seen.text).not.toContain('name="setup_token"');
    }
    const form = { ...FIRST, password: "short", password_again: "short" };
    const weak = await visitor.post("/setup", form);
    expect([weak.status, weak.text.includes(`value="${FIRST.email}"`), weak.text.includes("short")]).toEqual([
      422,
      true,
      false,
    ]);
    const unlike = await visitor.post("/setup", { ...FIRST, password_again: `${PASSWORD}4` });
    expect([unlike.status, unlike.text.includes("The passwords must match.")]).toEqual([422, true]);
    expect(await t.store.users.count()).toBe(0);
    const created = await visitor.post("/setup", FIRST);
    expect(created.status).toBe(200);
    expect((await visitor.get("/")).status).toBe(200);
    expect(await t.store.users.list()).toMatchObject([{ email: FIRST.email, global_role: "admin" }]);
    // Nobody can do it again.
    const other = new WebVisitor(t);
    expect((await other.get("/setup")).location).toBe("/");
    await other.get("/login");
    expect((await other.post("/setup", { ...FIRST, email: "eve@example.com" })).location).toBe("/login");
    expect(await t.store.users.count()).toBe(1);
  });

  it("needs the set-up token for that from another machine, also through a local proxy", async () => {
    const t = await startApp({ engine });
    await t.store.users.delete(everything);
    const from = { "x-forwarded-for": "198.51.100.7" };
    const visitor = new WebVisitor(t);
    const seen = await visitor.get("/setup", from);
    expect(seen.text).toContain('name="setup_token"');
    expect(seen.text).not.toContain(t.services.setupToken);
    for (const setup_token of ["", "wrong"]) {
      const refused = await visitor.post("/setup", { ...FIRST, setup_token }, from);
      expect([refused.status, refused.text.includes("not the token")]).toEqual([403, true]);
    }
    expect(await t.store.users.count()).toBe(0);
    expect((await visitor.post("/setup", { ...FIRST, setup_token: t.services.setupToken }, from)).status).toBe(200);
    expect(await t.store.users.count()).toBe(1);
  });

  it("shows the result of single sign-on in fixed texts", async () => {
    const t = await startApp({ engine });
    const visitor = new WebVisitor(t);
    const texts = new Set<string>();
    for (const status of ["error", "org_disabled", "account_disabled", "account_invalid"]) {
      const { text } = await visitor.get(`/login?status=${status}`);
      texts.add(/role="alert"><p>([^<]+)/.exec(text)![1]!);
    }
    expect(texts.size).toBe(4);
    for (const status of ["constructor", "__proto__", "<b>x</b>"])
      expect((await visitor.get(`/login?status=${encodeURIComponent(status)}`)).text).not.toContain('role="alert"');
    expect((await visitor.get("/login")).text).not.toContain("/login/sso");
  });
});

describe("the path to go on to", () => {
  it("is a path of this server", () => {
    for (const path of ["/", "/hosts", "/hosts?status=online&page=2", "/hosts/7#policies", "/loginfo"])
      expect(nextPath(path)).toBe(path);
    expect(nextPath("/hosts/../profile")).toBe("/profile");
  });

  it("is the start page for other sites and for loops", () => {
    for (const path of [
      null,
      "",
      "hosts",
      "https://evil.example/",
      "//evil.example",
      "/\\evil.example",
      "\\\\evil.example",
      "/\t/evil.example",
      "/\n/evil.example",
      "/.//evil.example",
      "/..//evil.example",
      "javascript:alert(1)",
      "/login",
      "/login?next=/login",
      "/logout",
      `/${"a".repeat(3000)}`,
    ])
      expect(nextPath(path), String(path)).toBe("/");
  });
});
