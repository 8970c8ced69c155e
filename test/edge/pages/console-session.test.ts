// The cookie of the console on the API, and the page that it comes with.
import { describe, expect, it } from "vitest";
import type { ConsoleSession } from "../../../src/api/console.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";
import { WebVisitor } from "../../support/web.ts";

const OWN = { "sec-fetch-site": "same-origin" };

async function signedIn(t: TestApp, email = ADMIN.email, password = ADMIN.password) {
  const visitor = new WebVisitor(t);
  await visitor.signIn(email, password);
  return { visitor, session: await sessionOf(visitor) };
}

async function sessionOf(visitor: WebVisitor): Promise<ConsoleSession> {
  const { text } = await visitor.get("/hosts");
  return JSON.parse(/<script type="application\/json" id="session">(.*?)<\/script>/s.exec(text)![1]!);
}

const cookieOf = ({ cookies }: WebVisitor): string =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");

describe.each(rulesEngines)("the console's session on %s", (engine) => {
  it("is accepted by the API from a page of this origin with the session's token, to read and to write", async () => {
    const t = await startApp({ engine });
    const { visitor, session } = await signedIn(t);
    const headers = { cookie: cookieOf(visitor), "x-svc-console": session.form_token, ...OWN };
    const me = await t.raw("/api/v1/svc/me", { headers });
    expect(me.status).toBe(200);
    expect(((await me.json()) as ConsoleSession).user.email).toBe(ADMIN.email);
    const created = await t.raw("/api/v1/svc/labels", {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ name: "Loaned", query: "select 1" }),
    });
    expect(created.status).toBe(200);
    // Browsers without Sec-Fetch-Site send the origin with what changes something.
    const { "sec-fetch-site": _, ...older } = headers;
    const origin = await t.raw("/api/v1/svc/me", {
      headers: { ...older, host: "svc.test", origin: "http://svc.test" },
    });
    expect(origin.status).toBe(200);
  });

  it("is refused if anything is missing or foreign: the API then replies as to a stranger", async () => {
    const t = await startApp({ engine });
    await t.patch("/config", { server_settings: { server_url: "https://svc.test" } });
    const { visitor, session } = await signedIn(t);
    const cookie = cookieOf(visitor);
    const token = session.form_token;
    const other = await signedIn(t, (await makeUser(t, "admin", { api_only: false })).user.email, PASSWORD);
    const [name] = visitor.cookies.keys();
    const attempts: Record<string, Record<string, string>> = {
      "the cookie alone": { cookie },
      "the cookie from the own page, without the token": { cookie, ...OWN },
      "an empty token": { cookie, "x-svc-console": "", ...OWN },
      "another user's token": { cookie, "x-svc-console": other.session.form_token, ...OWN },
      "the session itself as the token": { cookie, "x-svc-console": visitor.cookies.get(name!)!, ...OWN },
      "a page of another site": { cookie, "x-svc-console": token, "sec-fetch-site": "cross-site" },
      "a page of a sub-domain": { cookie, "x-svc-console": token, "sec-fetch-site": "same-site" },
      "an address that was typed": { cookie, "x-svc-console": token, "sec-fetch-site": "none" },
      "neither header of the origin": { cookie, "x-svc-console": token },
      "another origin": { cookie, "x-svc-console": token, host: "svc.test", origin: "http://evil.test" },
      "a sub-domain as origin": { cookie, "x-svc-console": token, host: "svc.test", origin: "http://a.svc.test" },
      "another port": { cookie, "x-svc-console": token, host: "svc.test", origin: "http://svc.test:81" },
      "no origin": { cookie, "x-svc-console": token, origin: "null" },
      "no cookie": { "x-svc-console": token, ...OWN },
      "a cookie set by a sub-domain over http": {
        cookie: cookie.replaceAll("__Host-", ""),
        "x-svc-console": token,
        ...OWN,
      },
    };
    for (const [what, headers] of Object.entries(attempts)) {
      for (const method of ["GET", "POST"]) {
        const path = method === "GET" ? "/api/v1/svc/hosts" : "/api/v1/svc/labels";
        const body = method === "GET" ? {} : { body: JSON.stringify({ name: "x", query: "select 1" }) };
        const reply = await t.raw(path, {
          method,
          headers: { "content-type": "application/json", ...headers },
          ...body,
        });
        expect(reply.status, `${method} with ${what}`).toBe(401);
      }
    }
    expect(await t.store.labels.count({ op: "eq", column: "name", value: "x" })).toBe(0);
  });

  it("ends with the session: after signing out, when it is ended elsewhere, and for API-only users", async () => {
    const t = await startApp({ engine });
    const first = await signedIn(t);
    const before = { cookie: cookieOf(first.visitor), "x-svc-console": first.session.form_token, ...OWN };
    await first.visitor.post("/logout", { form_token: first.session.form_token });
    expect((await t.raw("/api/v1/svc/me", { headers: before })).status).toBe(401);
    // The page that a browser has kept does not open again either.
    expect((await t.raw("/hosts", { headers: { cookie: before.cookie, accept: "text/html" } })).status).toBe(303);

    const second = await signedIn(t);
    const later = { cookie: cookieOf(second.visitor), "x-svc-console": second.session.form_token, ...OWN };
    expect((await t.raw("/api/v1/svc/me", { headers: later })).status).toBe(200);
    // The old page's token does not fit the new session.
    const mixed = { ...later, "x-svc-console": first.session.form_token };
    expect((await t.raw("/api/v1/svc/me", { headers: mixed })).status).toBe(401);
    const { user } = await makeUser(t, "admin", { api_only: false });
    const person = await signedIn(t, user.email, PASSWORD);
    await t.store.users.update({ where: { op: "eq", column: "id", value: user.id }, set: { api_only: true } });
    const headers = { cookie: cookieOf(person.visitor), "x-svc-console": person.session.form_token, ...OWN };
    expect((await t.raw("/api/v1/svc/me", { headers })).status).toBe(401);
  });

  it("does not accept an API token as the cookie", async () => {
    const t = await startApp({ engine });
    const { visitor, session } = await signedIn(t);
    const [name] = visitor.cookies.keys();
    const headers = { cookie: `${name}=${t.token}`, "x-svc-console": session.form_token, ...OWN };
    expect((await t.raw("/api/v1/svc/me", { headers })).status).toBe(401);
  });

  it("comes with the page and is read again for the same browser, in JSON that ends no script", async () => {
    const t = await startApp({ engine });
    const evil = `</script><script>alert(1)</script>`;
    await t.patch("/config", { org_info: { org_name: evil } });
    await makeTeam(t, evil);
    const { visitor, session } = await signedIn(t);
    expect(session.organization.name).toBe(evil);
    const page = await visitor.get("/hosts");
    expect(page.text).not.toContain(evil);
    expect(page.headers.get("cache-control")).toBe("no-store");
    const policy = page.headers.get("content-security-policy")!;
    const [, nonce] = /style-src 'self' 'nonce-([\w-]{20,})'/.exec(policy)!;
    expect(page.text).toContain(`nonce="${nonce}"`);
    expect(policy).toContain("connect-src 'self'");
    expect(/nonce-([\w-]+)/.exec((await visitor.get("/hosts")).headers.get("content-security-policy")!)![1]).not.toBe(
      nonce,
    );
    const again = await visitor.get("/session");
    expect(JSON.parse(again.text)).toEqual(session);
    expect((await new WebVisitor(t).get("/session")).status).toBe(303);
  });

  it("serves scripts and styles by their digest, compressed, for ever, and nothing else of the folder", async () => {
    const t = await startApp({ engine });
    const { visitor } = await signedIn(t);
    const { text } = await visitor.get("/hosts");
    const [, script] = /<script type="module" src="([^"]+)"/.exec(text)!;
    for (const encoding of ["br", "gzip", "identity"]) {
      const reply = await t.raw(script!, { headers: { "accept-encoding": encoding } });
      expect(reply.status).toBe(200);
      expect(reply.headers.get("content-encoding")).toBe(encoding === "identity" ? null : encoding);
      expect(reply.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(reply.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    }
    for (const name of [
      "manifest.json",
      "main.js",
      "..%2f..%2fpackage.json",
      "%2e%2e%2fbuild-info.json",
      `${script!.split("/").pop()}.br`,
    ])
      expect((await t.raw(`/assets/console/${name}`)).status, name).toBe(404);
  });

  it("opens what has moved since at its new address", async () => {
    const t = await startApp({ engine });
    const { visitor } = await signedIn(t);
    expect((await visitor.get("/activities")).location).toBe("/activity");
    expect((await visitor.get("/vulnerabilities")).location).toBe("/software?tab=vulnerabilities");
  });

  it("is not there if the console is turned off: the page says what to use instead", async () => {
    const t = await startApp({ engine, settings: { console: false } });
    const visitor = new WebVisitor(t);
    await visitor.signIn(ADMIN.email, ADMIN.password);
    const seen = await visitor.get("/hosts");
    expect(seen.status).toBe(404);
    expect(seen.text).toContain("SVC_CONSOLE");
    expect(seen.text).toContain("svc hosts list");
  });
});
