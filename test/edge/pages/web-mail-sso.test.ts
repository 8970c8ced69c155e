// Complete sign-ins in the web pages that need a mail server or an identity provider.
import { describe, expect, it } from "vitest";
import { makePerson, makeUser, PASSWORD } from "../../support/accounts.ts";
import { startApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { CALLBACK, COOKIE, makeSigningKey, SSO_URL, samlpResponse, turnOnSso } from "../../support/idp.ts";
import { mailOf, tokenIn } from "../../support/smtp.ts";
import { WebVisitor } from "../../support/web.ts";

const FRESH = "another-Sailing-43";
const fresh = { new_password: FRESH, new_password_again: FRESH };

describe.each(rulesEngines)("in the web pages on %s", (engine) => {
  it("a user of multi-factor authentication signs in with password and mailed link", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const { user } = await makeUser(t, "observer", { api_only: false, mfa_enabled: true });
    const visitor = new WebVisitor(t);
    await visitor.get("/login");
    const wrong = await visitor.post("/login", { email: user.email, password: "wrong-Pass-word-1" });
    expect(wrong.status).toBe(401);
    const sent = await visitor.post("/login", { email: user.email, password: PASSWORD, next: "/hosts" });
    expect([sent.status, sent.location]).toEqual([303, "/login/mfa-sent"]);
    expect((await visitor.get(sent.location)).text).toContain("was mailed");
    expect((await visitor.get("/")).location).toBe("/login");
    const path = `/login/mfa/${tokenIn(await smtp.mailTo(user.email), "/login/mfa/")}`;
    await visitor.get(path);
    expect((await visitor.post(path)).text).toContain("You are signed in");
    expect((await visitor.get("/")).status).toBe(200);
  });

  it("a forgotten password is replaced with a mailed link, and the page does not reveal which addresses are known", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const { user } = await makeUser(t, "observer", { api_only: false });
    const visitor = new WebVisitor(t);
    await visitor.get("/login/forgot");
    const known = await visitor.post("/login/forgot", { email: user.email });
    const unknown = await visitor.post("/login/forgot", { email: "nobody@example.com" });
    expect([known.status, unknown.status]).toEqual([200, 200]);
    expect(known.text).toBe(unknown.text);
    const path = `/login/reset/${tokenIn(await smtp.mailTo(user.email), "/login/reset/")}`;
    await visitor.get(path);
    expect((await visitor.post(path, fresh)).location).toBe("/login?status=password_set");
    await visitor.signIn(user.email, FRESH);
    const other = new WebVisitor(t);
    await other.get("/login/forgot");
    const tries = [];
    for (let i = 0; i < 15; i++) tries.push((await other.post("/login/forgot", { email: user.email })).status);
    expect(tries).toContain(429);
  });

  it("a new email address is confirmed with the link that is mailed to it", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const person = await makePerson(t, "observer");
    const { user } = person;
    const visitor = new WebVisitor(t);
    await visitor.signIn(user.email, PASSWORD);
    const change = { email: "fresh@example.com", password: PASSWORD };
    expect((await person.patch(`/users/${user.id}`, change)).status).toBe(200);
    expect((await t.store.users.get(user.id))!.email).toBe(user.email);
    const path = `/email/change/${tokenIn(await smtp.mailTo("fresh@example.com"), "/email/change/")}`;
    await visitor.get(path);
    expect((await visitor.post(path)).location).toBe("/profile?status=email");
    expect((await t.store.users.get(user.id))!.email).toBe("fresh@example.com");
  });

  it("if the identity provider is unavailable, the form is shown again, without details for admins", async () => {
    const t = await startApp({ engine, settings: { outbound_allow: "127.0.0.1" } });
    const url = "http://127.0.0.1:9/metadata";
    await turnOnSso(t, await makeSigningKey(), { metadata: "", metadata_url: url });
    const visitor = new WebVisitor(t);
    await visitor.get("/login");
    const seen = await visitor.post("/login/sso", { next: "/hosts" });
    expect(seen.status).toBe(500);
    expect(seen.text).toContain("The identity provider cannot be reached.");
    expect(seen.text).toContain('name="password"');
    expect(seen.text).toContain('name="next" value="/hosts"');
    expect(seen.text).not.toContain("metadata");
  });

  it("a user of single sign-on is sent to the identity provider and returns to the requested page", async () => {
    const t = await startApp({ engine });
    const key = await makeSigningKey();
    const image = "https://idp.example.com/logo.png";
    await turnOnSso(t, key, { idp_name: "Example <IdP>", idp_image_url: image });
    const { user } = await makeUser(t, "observer", { api_only: false, sso_enabled: true, password: undefined });
    const visitor = new WebVisitor(t);
    const login = (await visitor.get("/login?next=/hosts")).text;
    expect(login).toContain("Sign in with Example &lt;IdP&gt;");
    expect(login).toContain(`<img src="${image}" alt="">`);
    expect((await visitor.postRaw("/login/sso", { next: "/hosts" })).status).toBe(403);
    expect(visitor.cookies.has(COOKIE)).toBe(false);
    const begun = await visitor.post("/login/sso", { next: "/hosts" });
    expect(begun.status).toBe(200);
    const [, address] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(begun.text)!;
    const url = new URL(address!.replaceAll("&amp;", "&"));
    expect(url.origin + url.pathname).toBe(SSO_URL);
    expect(begun.headers.get("content-security-policy")).toContain("form-action 'self';");
    expect(visitor.cookies.has(COOKIE)).toBe(true);

    const { inflateRawSync } = await import("node:zlib");
    const request = inflateRawSync(Buffer.from(url.searchParams.get("SAMLRequest")!, "base64")).toString();
    const requestId = /ID="([^"]+)"/.exec(request)![1]!;
    const xml = await samlpResponse({ now: t.clock.now(), requestId }, key, { nameId: user.email });
    const back = await visitor.postRaw(
      CALLBACK,
      { SAMLResponse: Buffer.from(xml).toString("base64") },
      { origin: "https://idp.example.com", "sec-fetch-site": "cross-site" },
    );
    expect(back.status, back.text).toBe(200);
    expect(back.text).toContain('content="0; url=/hosts"');
    expect(back.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect((await visitor.get("/hosts")).status).toBe(200);
  });
});
