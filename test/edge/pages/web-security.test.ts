// Rules for every page: headers, escaping, and pages instead of JSON for browsers.
import { describe, expect, it } from "vitest";
import { consolePaths } from "../../../src/console/routes.ts";
import { webPages } from "../../../src/server/edge/web/pages-table.ts";
import { tokenHash } from "../../../src/server/platform/core/random.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import {
  makeHost,
  makeInventory,
  makeLabel,
  makePolicy,
  makeResults,
  makeSoftware,
  makeTeam,
} from "../../support/make.ts";
import { type SeenPage, WebVisitor } from "../../support/web.ts";

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>'\`\${7*7}{{7*7}}`;
const DEVICE = "0d1e2f30-1111-4222-8333-444455556666";

/** No tag and no attribute of the payload may have become part of the page. */
function expectHarmless(text: string, where: string): void {
  expect(text.includes("<script>alert"), where).toBe(false);
  expect(text.includes("<img src=x"), where).toBe(false);
  const bare = text.replace(/"[^"]*"/g, '""');
  expect(/<[a-z][^<>]*\son\w+=/i.test(bare), where).toBe(false);
  expect(/(href|action|src)="\s*javascript:/i.test(text), where).toBe(false);
}

function expectHeaders({ headers, status }: SeenPage, where: string): void {
  const policy = headers.get("content-security-policy") ?? "";
  for (const part of [
    "default-src 'none'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "style-src 'self'",
  ])
    expect(policy, `${where} (${status})`).toContain(part);
  expect(policy).not.toMatch(/unsafe|\*/);
  expect(headers.get("x-frame-options"), where).toBe("DENY");
  expect(headers.get("x-content-type-options"), where).toBe("nosniff");
  expect(headers.get("referrer-policy"), where).toBe("no-referrer");
  expect(headers.get("cache-control"), where).toBe("no-store");
  expect(headers.get("permissions-policy"), where).toContain("camera=()");
}

const paths = (method: string, id: number, isShown: (path: string) => boolean = () => true): string[] =>
  webPages
    .filter((page) => page.method === method && isShown(page.path))
    .map(({ path }) =>
      path.replace("/device/:token", `/device/${DEVICE}`).replace(":id", String(id)).replace(":token", "x"),
    );

async function hostileApp(engine: "lowdb" | "postgres"): Promise<{ t: TestApp; visitor: WebVisitor; hostId: number }> {
  const t = await startApp({ engine });
  await t.patch("/config", { org_info: { org_name: HOSTILE } });
  const team = await makeTeam(t, HOSTILE);
  const host = await makeHost(
    t,
    {
      hostname: HOSTILE,
      platform: HOSTILE,
      os_version: HOSTILE,
      hardware_model: HOSTILE,
      hardware_serial: HOSTILE,
      cpu_brand: HOSTILE,
      primary_mac: HOSTILE,
      qengine_version: HOSTILE,
      team_id: team.id,
    },
    { seen: t.clock.iso() },
  );
  await makeLabel(t, HOSTILE, [host.id]);
  const policy = await makePolicy(t, { name: HOSTILE, description: HOSTILE, resolution: HOSTILE, critical: true });
  await makeResults(t, host.id, { failing: [policy] });
  await makeInventory(t, host.id, [await makeSoftware(t, HOSTILE, HOSTILE, HOSTILE)]);
  await t.store.deviceTokens.insert({ id: host.id, token_hash: tokenHash(DEVICE), updated_at: t.clock.iso() });
  for (const host_id of [host.id, null])
    await t.store.activities.insert({
      created_at: t.clock.iso(),
      actor_full_name: HOSTILE,
      type: HOSTILE,
      details: { host_id: host.id, host_display_name: HOSTILE, [HOSTILE]: HOSTILE, nested: { deep: [HOSTILE] } },
      host_id,
    });
  const { user } = await makeUser(t, "admin", { api_only: false, name: HOSTILE, position: HOSTILE });
  const visitor = new WebVisitor(t);
  await visitor.signIn(user.email, PASSWORD);
  await t.as(null).request("POST", "/login", { email: user.email, password: PASSWORD }, { "user-agent": HOSTILE });
  return { t, visitor, hostId: host.id };
}

describe.each(rulesEngines)("every page on %s", (engine) => {
  it("shows hostile names as text, wherever they are stored", async () => {
    const { visitor, hostId } = await hostileApp(engine);
    let shown = 0;
    for (const path of paths("GET", hostId)) {
      const seen = await visitor.get(path);
      expectHarmless(seen.text, path);
      if (seen.text.includes("&lt;script&gt;alert(1)&lt;/script&gt;")) shown++;
    }
    // The name of the organization is on all of them.
    expect(shown).toBeGreaterThan(6);
  });

  it("shows hostile queries as text, and never fails because of them", async () => {
    const t = await startApp({ engine });
    const signedIn = new WebVisitor(t);
    await signedIn.signIn(ADMIN.email, ADMIN.password);
    await makeHost(t);
    const stranger = new WebVisitor(t);
    const names = [
      "query",
      "status",
      "team_id",
      "label_id",
      "where",
      "order_key",
      "page",
      "next",
      "software",
      "software_page",
      "activity_type",
      "start_created_at",
      "policy_id",
      "form_token",
    ];
    for (const text of [
      HOSTILE,
      "%00",
      "\u0000",
      "\ud800",
      "a".repeat(5000),
      "' OR 1=1 --",
      "../../etc/passwd",
      "%F0%9F",
    ]) {
      const value = encodeURIComponent(text.toWellFormed());
      const query = names.map((name) => `${name}=${value}`).join("&");
      for (const visitor of [signedIn, stranger])
        for (const path of [
          "/",
          "/hosts",
          "/hosts/1",
          "/vulnerabilities",
          "/profile",
          "/login",
          "/login/forgot",
          `/device/${value}`,
          `/hosts/${value}`,
          `/login/mfa/${value}`,
          `/login/reset/${value}`,
          `/login/invites/${value}`,
          `/email/change/${value}`,
          `/nothing/${value}`,
        ]) {
          const seen = await visitor.get(`${path}?${query}`);
          expect(seen.status, `${path} ${text.slice(0, 30)}`).toBeLessThan(500);
          expectHarmless(seen.text, path);
        }
    }
    await stranger.get("/login");
    for (const fields of [
      { email: HOSTILE, password: HOSTILE },
      { email: HOSTILE },
      {},
      { email: "a".repeat(300), password: "x" },
    ] as Record<string, string>[]) {
      const seen = await stranger.post("/login", { next: HOSTILE, ...fields });
      expect(seen.status).toBeGreaterThanOrEqual(400);
      expect(seen.status).toBeLessThan(500);
      expectHarmless(seen.text, "login");
    }
  });

  it("has headers that block scripts, frames and other sites, with any status", async () => {
    const { visitor, t, hostId } = await hostileApp(engine);
    const stranger = new WebVisitor(t);
    for (const path of [...paths("GET", hostId), "/hosts/999", "/nothing-here", "/hosts?where=("])
      for (const one of [visitor, stranger]) expectHeaders(await one.get(path), path);
    for (const path of paths("POST", hostId))
      for (const one of [visitor, stranger]) {
        expectHeaders(await one.postRaw(path, {}), path);
        const other = await t.raw(path, { method: "POST", headers: { "content-type": "text/plain" }, body: "x" });
        expect(other.status, path).toBeGreaterThanOrEqual(300);
        expect(other.status, path).toBeLessThan(500);
      }
  });

  it("changes nothing for a form without its token", async () => {
    const { visitor, t, hostId } = await hostileApp(engine);
    const state = async () => ({
      sessions: await t.store.sessions.count(),
      users: await t.store.users.list(),
      activities: await t.store.activities.count(),
      host: await t.store.hosts.get(hostId),
    });
    const before = await state();
    for (const path of paths("POST", hostId)) {
      const seen = await visitor.postRaw(path, {
        name: "x",
        expires_in: "1d",
        old_password: PASSWORD,
        new_password: "another-Sailing-43",
        new_password_again: "another-Sailing-43",
      });
      // Mail programs have no token of the form: the signed link in the path is what proves that they may.
      expect(seen.status, path).toBe(path.startsWith("/mail/unsubscribe/") ? 404 : 403);
    }
    expect(await state()).toEqual(before);
  });

  it("contains no script besides the console", async () => {
    const { visitor, hostId } = await hostileApp(engine);
    for (const path of paths("GET", hostId, (path) => !consolePaths.includes(path) && path !== "/session")) {
      const seen = await visitor.get(path);
      expect(seen.headers.get("content-security-policy"), path).not.toContain("script-src");
      expect(seen.text, path).not.toMatch(/<script|<style|\sstyle=/i);
    }
    const [, style] = /<link rel="stylesheet" href="([^"]+)">/.exec((await visitor.get("/transparency")).text)!;
    const sheet = await visitor.get(style!);
    expect(sheet.headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect(sheet.headers.get("cache-control")).toContain("immutable");
    expect((await visitor.get(style!.replace(/\.[\w-]+\.css$/, ".other.css"))).status).toBe(404);
  });
});

describe("who may open a page", () => {
  it("is public only for these, which were reviewed", () => {
    const open = webPages.filter(({ access }) => access === "open").map(({ method, path }) => `${method} ${path}`);
    expect(open.sort()).toEqual([
      "GET /api/mdm/windows/auth",
      "GET /api/mdm/windows/auth/terms",
      "GET /api/mdm/windows/tos",
      "GET /cli-login",
      "GET /conditional-access/error",
      "GET /conditional-access/remediation",
      "GET /device/:token",
      "GET /device/:token/enroll",
      "GET /device/:token/enroll/profile",
      "GET /enroll",
      "GET /enroll/profile",
      "GET /login",
      "GET /login/forgot",
      "GET /login/invites/:token",
      "GET /login/mfa-sent",
      "GET /login/mfa/:token",
      "GET /login/reset/:token",
      "GET /mail/unsubscribe/:token",
      "GET /mdm/sso",
      "GET /mdm/sso/account",
      "GET /mdm/sso/done",
      "GET /mdm/sso/profile",
      "GET /setup",
      "GET /transparency",
      "POST /api/mdm/windows/auth",
      "POST /device/:token/bypass",
      "POST /device/:token/disk-key/escrow",
      "POST /device/:token/disk-key/rotate",
      "POST /device/:token/refetch",
      "POST /device/:token/software/install/:id",
      "POST /device/:token/software/uninstall/:id",
      "POST /device/:token/sso",
      "POST /login",
      "POST /login/forgot",
      "POST /login/invites/:token",
      "POST /login/mfa/:token",
      "POST /login/reset/:token",
      "POST /login/sso",
      "POST /mail/unsubscribe/:token",
      "POST /setup",
    ]);
  });

  it("takes forms of mail programs, which have no cookies, only where the link is signed", () => {
    const pages = webPages.filter(({ isOneClick }) => isOneClick).map(({ method, path }) => `${method} ${path}`);
    expect(pages).toEqual(["POST /mail/unsubscribe/:token"]);
  });

  it("requires a session for all others: they redirect to the sign-in, and do nothing", async () => {
    const t = await startApp();
    const visitor = new WebVisitor(t);
    await visitor.get("/login");
    for (const { method, path, access } of webPages) {
      if (access === "open") continue;
      const place = path.replace(":id", "1").replace(":token", "x");
      const seen = method === "GET" ? await visitor.get(place) : await visitor.post(place, { name: "x" });
      expect([seen.status, seen.location.split("?")[0]], `${method} ${path}`).toEqual([303, "/login"]);
      // The target of the redirect can be opened.
      const next = new URL(seen.location, "http://x").searchParams.get("next") ?? "/";
      const opened = webPages
        .filter((page) => page.method === "GET")
        .map((page) => page.path.replace(":id", "1").replace(":token", "x"));
      expect(opened).toContain(next);
    }
  });
});

describe("where there is no page", () => {
  it("browsers get a page, and everybody else, and the API, get JSON", async () => {
    const t = await startApp();
    const page = await t.raw("/nothing", { headers: { accept: "text/html,application/xhtml+xml" } });
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    for (const [path, init] of [
      ["/nothing", {}],
      ["/nothing", { headers: { accept: "*/*" } }],
      ["/nothing", { method: "POST", headers: { accept: "text/html" } }],
      ["/api/v1/svc/nothing", { headers: { accept: "text/html" } }],
      ["/api/nothing", { headers: { accept: "text/html" } }],
    ] as [string, RequestInit][]) {
      const reply = await t.raw(path, init);
      expect([reply.status, reply.headers.get("content-type")], path).toEqual([404, "application/json; charset=utf-8"]);
    }
  });

  it("a form that is too large, or broken, is refused", async () => {
    const t = await startApp();
    const visitor = new WebVisitor(t);
    await visitor.get("/login");
    expect((await visitor.post("/login", { email: "x".repeat(100_000) })).status).toBe(413);
    const headers = { "content-type": "application/x-www-form-urlencoded", "content-encoding": "gzip" };
    expect((await t.raw("/login", { method: "POST", headers, body: "not gzip" })).status).toBe(400);
  });
});

describe("the log", () => {
  it("contains no token of a path if a page fails", async () => {
    const lines: string[] = [];
    const { pino } = await import("pino");
    const t = await startApp({ log: pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }) });
    Object.assign(t.store.deviceTokens, { first: () => Promise.reject(new Error("broken")) });
    Object.assign(t.store.invites, { first: () => Promise.reject(new Error("broken")) });
    for (const path of [`/device/${DEVICE}`, `/login/invites/${DEVICE}`]) {
      const seen = await new WebVisitor(t).get(path);
      expect(seen.status).toBe(500);
      expect(seen.text).not.toContain("broken");
      const [, reference] = /Reference: <code>([^<]+)/.exec(seen.text)!;
      expect(lines.join("")).toContain(reference);
    }
    expect(lines.join("")).toContain("request failed");
    expect(lines.join("")).not.toContain(DEVICE);
  });
});
