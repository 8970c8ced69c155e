// Conditional access: this server as the identity provider that an access product asks.
import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { newChallenge } from "../../src/server/certificates/device-ca/challenges.ts";
import { deviceIdentityCache } from "../../src/server/certificates/device-ca/identities.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { readAssertion } from "../../src/server/platform/saml/assertion.ts";
import { readResponse } from "../../src/server/platform/saml/response.ts";
import { verifiedAssertion } from "../../src/server/platform/saml/signature.ts";
import { everything } from "../../src/server/platform/store/query.ts";
import { makeSecret } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import {
  ACS,
  AUDIENCE,
  authnRequest,
  configureProduct,
  enroll,
  IDP,
  type Identity,
  listening,
  serialOf,
  signRequest,
} from "../support/conditional-access.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeSigningKey } from "../support/idp.ts";
import { makeHost, makePolicy, makeResults, makeTeam, makeUser } from "../support/make.ts";
import { ManagedAgent, makeManaged } from "../support/managed.ts";
import { withSecondServer } from "../support/second-server.ts";
import { WebVisitor } from "../support/web.ts";

const ERROR = "/conditional-access/error";
const REMEDIATION = "/conditional-access/remediation";
const SECRET = "the-global-secret-of-all-hosts";

/** The inventory of the host, in which its agent reports this certificate. */
async function reports(t: TestApp, hostId: number, identity: Identity): Promise<void> {
  const sha1 = new X509Certificate(identity.certificate).fingerprint.replaceAll(":", "");
  await t.store.hostDetails.upsert(
    [{ id: hostId, batteries: [], users: [], certificates: [{ sha1, scope: "user", username: "ann" }] }],
    {
      on: ["id"],
      set: ["certificates"],
    },
  );
}

/** A Mac without a team, with its certificate. */
async function makeMac(t: TestApp) {
  const product = await configureProduct(t);
  const secret = await makeSecret(t, SECRET);
  const host = await makeHost(t, { platform: "darwin", uuid: "AAAA-1" });
  const identity = (await enroll(t, { secret, uuid: "aaaa-1" }))!;
  await reports(t, host.id, identity);
  return { product, secret, host, identity };
}

async function nameIn(t: TestApp, html: string, requestId: string): Promise<string> {
  const [, field = ""] = /name="SAMLResponse" value="([^"]+)"/.exec(html) ?? [];
  const response = await readResponse(field);
  expect([response.isResponseSigned, response.isAssertionSigned]).toEqual([true, true]);
  const cert = await (await t.get("/conditional_access/idp/signing_cert")).text();
  const expected = { issuer: `${IDP}/metadata`, acs: ACS, audiences: [AUDIENCE], requestId, now: t.clock.now() };
  return readAssertion(await verifiedAssertion(response, [cert]), expected).nameId;
}

describe.each(bothEngines)("conditional access on %s", (engine) => {
  it("lets people sign in from hosts that pass, once per request, and others by permission only", async () => {
    const t = await startApp({ engine });
    const { product, host, identity } = await makeMac(t);
    const ask = await listening(t);
    const policy = await makePolicy(t, { scope: "no_team", conditional_access_enabled: true });
    const other = await makePolicy(t, { scope: "no_team" });
    await makeResults(t, host.id, { passing: [policy], failing: [other] });
    const request = signRequest(authnRequest(t, { id: "_one" }), product);
    const passed = await ask(request, { shown: identity, relay: '"><b>' });
    expect(passed.status).toBe(200);
    expect(passed.text).toContain(`action="${ACS}"`);
    expect(passed.text).toContain('name="RelayState" value="&quot;&gt;&lt;b&gt;"');
    expect(passed.policy).toMatch(/script-src 'sha256-[^']+'; form-action https:;/);
    expect(await nameIn(t, passed.text, "_one")).toBe("ann@example.com");
    expect((await ask(request, { shown: identity })).location, "the same request again").toBe(ERROR);

    const signIn = () => ask(signRequest(authnRequest(t), product), { shown: identity });
    await makeResults(t, host.id, { failing: [policy, other] });
    expect(await signIn()).toMatchObject({ status: 303, location: REMEDIATION });
    expect((await t.raw(REMEDIATION)).status).toBe(403);

    const agent = await makeManaged(t);
    await agent.call("/device_token", { device_auth_token: "token-of-another" });
    const bypass = () => t.as(null).post("/device/token-of-another/bypass_conditional_access");
    expect((await bypass()).status).toBe(200);
    expect((await signIn()).location, "permission of another host").toBe(REMEDIATION);
    await t.store.conditionalAccessBypasses.delete(everything);
    await t.store.conditionalAccessBypasses.insert({
      id: host.id,
      expires_at: new Date(t.clock.now() + 1).toISOString(),
    });
    expect((await signIn()).status).toBe(200);
    expect((await signIn()).location, "the second sign-in").toBe(REMEDIATION);
    await t.patch("/config", { conditional_access: { bypass_disabled: true } });
    expect((await bypass()).status).toBe(403);

    await t.patch("/config", { integrations: { conditional_access_enabled: false } });
    expect((await signIn()).status, "turned off").toBe(200);
    t.clock.advance(24 * 3_600_000);
    await runJob(t.services, "conditional_access_cleanup");
    expect(await t.store.conditionalAccessRequests.count(everything)).toBe(0);
  });

  it("gives a host a second certificate only by renewal, or after it has enrolled again", async () => {
    const t = await startApp({ engine });
    const { secret, host, identity } = await makeMac(t);
    const again = await Promise.all([1, 2].map((key) => enroll(t, { secret, uuid: host.uuid, key })));
    expect(again).toEqual([null, null]);
    const renewed = await enroll(t, { secret: "", uuid: host.uuid, key: 1, identity });
    expect(renewed).not.toBeNull();
    t.clock.advance(60_000);
    await t.store.hosts.update({ where: everything, set: { last_enrolled_at: t.clock.iso() } });
    const [second] = await Promise.all([2, 3, 4].map((key) => enroll(t, { secret, uuid: host.uuid, key })));
    const valid = async () =>
      (await t.store.deviceIdentities.list())
        .filter(({ revoked_at }) => revoked_at === null)
        .map(({ serial, host_id }) => [serial, host_id]);
    expect(await valid(), "none of those before").toHaveLength(3);
    await reports(t, host.id, second!);
    expect(await enroll(t, { secret, uuid: host.uuid, key: 5 }), "the host has one").toBeNull();
    expect(await valid()).toContainEqual([serialOf(second!).toLowerCase(), host.id]);
  });

  it("signs nobody in with a certificate that the host itself has not reported", async () => {
    const t = await startApp({ engine });
    const product = await configureProduct(t);
    const secret = await makeSecret(t, SECRET);
    const host = await makeHost(t, { platform: "darwin", uuid: "AAAA-1" });
    const ask = await listening(t);
    const signIn = (shown: Identity) => ask(signRequest(authnRequest(t), product), { shown });
    // Whoever knows the secret of all hosts and the UUID gets a certificate first.
    const stolen = (await enroll(t, { secret, uuid: host.uuid, key: 1 }))!;
    expect((await signIn(stolen)).location).toBe(ERROR);
    const renewed = (await enroll(t, { secret: "", uuid: host.uuid, key: 2, identity: stolen }))!;
    expect((await signIn(renewed)).location).toBe(ERROR);
    // A foreign certificate does not keep the host from getting its own, even if others ask again and again.
    const own = (await enroll(t, { secret, uuid: host.uuid, key: 3 }))!;
    await reports(t, host.id, own);
    expect((await signIn(own)).status).toBe(200);
    expect((await signIn(stolen)).location).toBe(ERROR);
    expect(await enroll(t, { secret, uuid: host.uuid, key: 4 })).toBeNull();
    const next = (await enroll(t, { secret: "", uuid: host.uuid, key: 5, identity: own }))!;
    expect((await signIn(next)).status, "its renewal counts until the next report").toBe(200);
    for (let i = 0; i < 12; i++) await enroll(t, { secret, uuid: host.uuid, key: 1 });
    expect((await signIn(own)).status).toBe(200);
  });
});

it("answers a request on one of several servers only", async () => {
  const t = await startApp({ engine: "postgres" });
  const { product, identity } = await makeMac(t);
  const here = await listening(t);
  await withSecondServer(t, async (there) => {
    const beside = await listening(there);
    const request = signRequest(authnRequest(t), product);
    const answers = await Promise.all([here, beside].map((ask) => ask(request, { shown: identity })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 303]);
    const cert = async (app: TestApp) => (await app.get("/conditional_access/idp/signing_cert")).text();
    expect(await cert(there)).toBe(await cert(t));
  });
});

describe.each(rulesEngines)("the rules of conditional access on %s", (engine) => {
  const start = () => startApp({ engine, settings: { trusted_proxies: "127.0.0.1" } });

  it("refuse requests that are not exactly what the access product signs", async () => {
    const t = await start();
    const { product, identity } = await makeMac(t);
    const ask = await listening(t);
    const stranger = await makeSigningKey();
    const ofProduct = (given: Parameters<typeof authnRequest>[1]) => signRequest(authnRequest(t, given), product);
    const wrong: Record<string, string> = {
      "no signature": authnRequest(t),
      "another key": signRequest(authnRequest(t), stranger),
      "changed after signing": ofProduct({}).replace("ann@example.com", "eve@example.com"),
      "another issuer": ofProduct({ issuer: "https://evil.example.com" }),
      "another address for the answer": ofProduct({ acs: "https://evil.example.com/acs" }),
      "another destination": ofProduct({ destination: "https://other.example.com/sso" }),
      "too old": ofProduct({ at: -11 * 60_000 }),
      "of the future": ofProduct({ at: 5 * 60_000 }),
      "another message": ofProduct({ root: "LogoutRequest" }),
      "an ID twice": ofProduct({}).replace("<saml:NameID>", '<saml:NameID id="x">'),
      "no XML": "hello",
      "a DOCTYPE": `<!DOCTYPE x [<!ENTITY a "b">]>${ofProduct({})}`,
    };
    for (const [what, xml] of Object.entries(wrong))
      expect(await ask(xml, { shown: identity }), what).toMatchObject({ status: 303, location: ERROR });
    expect((await ask(ofProduct({}), { shown: identity })).status).toBe(200);
    expect((await t.raw(ERROR)).status).toBe(403);
  });

  it("take the certificate of the connection, or its serial number from a trusted proxy", async () => {
    const t = await start();
    const { product, identity, host } = await makeMac(t);
    const ask = await listening(t);
    const sent = (headers: Record<string, string>, shown: Identity | null = null) =>
      ask(signRequest(authnRequest(t), product), { headers, shown });
    const serial = serialOf(identity);
    expect((await sent({})).location, "without any").toBe(ERROR);
    expect((await sent({ "x-client-cert-serial": serial })).status).toBe(200);
    expect((await sent({ "x-client-cert-serial": serial.toLowerCase().replace(/..(?=.)/g, "$&:") })).status).toBe(200);
    expect((await sent({ "x-client-cert-serial": "00" }, identity)).location, "an unknown one").toBe(ERROR);
    Object.assign(t.services.settings, { trusted_proxies: [] });
    expect((await sent({ "x-client-cert-serial": serial })).location, "from anybody").toBe(ERROR);
    Object.assign(t.services.settings, { trusted_proxies: ["127.0.0.1"] });
    await t.delete(`/hosts/${host.id}`);
    expect((await sent({}, identity)).location, "of a deleted host").toBe(ERROR);
  });

  it("accept no identity of another purpose", async () => {
    const t = await start();
    const { product, host, identity } = await makeMac(t);
    const ask = await listening(t);
    await t.store.deviceIdentities.update({ where: everything, set: { purpose: "apple_enrollment" } });
    t.services.running.of(deviceIdentityCache).byFingerprint.clear();
    const shown = { headers: { "x-client-cert-serial": serialOf(identity) } };
    expect((await ask(signRequest(authnRequest(t), product), shown)).location).toBe(ERROR);
    expect(await enroll(t, { secret: "", uuid: host.uuid, key: 1, identity }), "a renewal").toBeNull();
  });

  it("give certificates only to known hosts that know a global secret", async () => {
    const t = await start();
    await configureProduct(t);
    const secret = await makeSecret(t, SECRET);
    const team = await makeTeam(t);
    await t.patch(`/teams/${team.id}/secrets`, { secrets: [{ secret: "the-secret-of-one-team" }] });
    const { uuid } = await makeHost(t);
    const challenge = await newChallenge({ ...t.services, store: t.store }, { purpose: "test", team_id: null });
    for (const wrong of ["", "another-secret", "the-secret-of-one-team", challenge])
      expect(await enroll(t, { secret: wrong, uuid }), wrong).toBeNull();
    expect(await enroll(t, { secret, uuid: "unknown" })).toBeNull();
    expect(await enroll(t, { secret })).toBeNull();
    await makeHost(t, { uuid: "twice" });
    await makeHost(t, { uuid: "TWICE" });
    expect(await enroll(t, { secret, uuid: "twice" })).toBeNull();
    expect(await enroll(t, { secret, uuid })).not.toBeNull();
  });

  it("limit wrong secrets as those of agents that enroll", async () => {
    const t = await start();
    const { uuid } = await makeHost(t);
    const tries: (Promise<unknown> | unknown)[] = [];
    for (let tried = 0; tried < 21; tried++)
      tries.push(await enroll(t, { secret: `wrong-${tried}`, uuid }).catch(() => "too many"));
    expect(tries).toEqual([...Array(20).fill(null), "too many"]);
  });

  it("end with the move of a host to another team by enrollment", async () => {
    const t = await startApp({ engine, settings: { global_reenroll: "move" } });
    const product = await configureProduct(t);
    const team = await makeTeam(t);
    const ofTeam = await makeSecret(t, "the-secret-of-one-team", team.id);
    const agent = await new ManagedAgent(t).enroll(ofTeam);
    const { id, uuid } = await agent.host();
    const identity = (await enroll(t, { secret: await makeSecret(t, SECRET), uuid }))!;
    await reports(t, id, identity);
    const ask = await listening(t);
    const signIn = async () => (await ask(signRequest(authnRequest(t), product), { shown: identity })).status;
    expect(await signIn()).toBe(200);
    await agent.enroll(SECRET);
    expect((await agent.host()).team_id).toBeNull();
    expect(await signIn()).toBe(303);
  });

  it("let the user of a host sign in once, from the host's own page", async () => {
    const t = await start();
    await configureProduct(t);
    const agent = await makeManaged(t, { platform: "darwin" });
    await agent.call("/device_token", { device_auth_token: "page-of-the-mac" });
    const policy = await makePolicy(t, { scope: "no_team", conditional_access_enabled: true });
    const { id } = await agent.host();
    const visitor = new WebVisitor(t);
    const page = () => visitor.get("/device/page-of-the-mac");
    expect((await page()).text).not.toContain("Let my next sign-in pass");
    await makeResults(t, id, { failing: [policy] });
    expect((await page()).text).toContain("Let my next sign-in pass");
    const sent = await visitor.post("/device/page-of-the-mac/bypass");
    expect([sent.status, sent.location]).toEqual([303, "/device/page-of-the-mac?status=bypassed"]);
    expect((await visitor.get(sent.location)).text).toContain("Your next sign-in within an hour passes");
    expect((await t.store.conditionalAccessBypasses.list()).map((row) => row.id)).toEqual([id]);
    await t.patch("/config", { conditional_access: { bypass_disabled: true } });
    expect((await page()).text).not.toContain("Let my next sign-in pass");
    const refused = await t.as(null).post("/device/page-of-the-mac/bypass_conditional_access");
    expect(refused.status).toBe(403);
    const isOff = {
      conditional_access: { bypass_disabled: false },
      integrations: { conditional_access_enabled: false },
    };
    await t.patch("/config", isOff);
    expect((await t.as(null).post("/device/page-of-the-mac/bypass_conditional_access")).status).toBe(400);
    expect((await t.as(null).post("/device/wrong/bypass_conditional_access")).status).toBe(401);
  });

  it("block only for failing policies of the host's team, if the team has turned it on", async () => {
    const t = await start();
    const { product, host, identity } = await makeMac(t);
    const ask = await listening(t);
    const signIn = async () =>
      (await ask(signRequest(authnRequest(t), product), { shown: identity })).location ?? "passed";
    const team = await makeTeam(t);
    await t.store.hosts.update({ where: everything, set: { team_id: team.id } });
    const policy = await makePolicy(t, { team_id: team.id, conditional_access_enabled: true });
    await makeResults(t, host.id, { failing: [policy] });
    expect(await signIn(), "turned off for the team").toBe("passed");
    expect((await t.patch(`/teams/${team.id}`, { integrations: { conditional_access_enabled: true } })).status).toBe(
      200,
    );
    expect(await signIn()).toBe(REMEDIATION);
    await t.store.hostPolicies.delete(everything);
    expect(await signIn(), "not answered yet").toBe("passed");
    const everywhere = await makePolicy(t, { conditional_access_enabled: true });
    await makeResults(t, host.id, { passing: [policy], failing: [everywhere] });
    expect(await signIn(), "a global policy").toBe("passed");
  });

  it("name the account of the host if the request names nobody", async () => {
    const t = await start();
    const { product, host, identity } = await makeMac(t);
    const ask = await listening(t);
    const signIn = () =>
      ask(signRequest(authnRequest(t, { id: "_none", subject: null }), product), { shown: identity });
    expect((await signIn()).location).toBe(ERROR);
    await t.request("PUT", `/hosts/${host.id}/device_mapping`, { email: "ben@example.com", source: "idp" });
    const answer = await signIn();
    expect(await nameIn(t, answer.text, "_none")).toBe("ben@example.com");
  });

  it("describe the identity provider", async () => {
    const t = await start();
    const metadata = await t.raw("/api/svc/conditional_access/idp/metadata");
    expect([metadata.status, metadata.headers.get("content-type")]).toEqual([200, "application/xml"]);
    const text = await metadata.text();
    expect(text).toContain(`entityID="${IDP}/metadata"`);
    expect(text).toContain(`Location="${IDP}/sso"`);
    const pem = await (await t.get("/conditional_access/idp/signing_cert")).text();
    expect(text).toContain(new X509Certificate(pem).raw.toString("base64"));
    const observer = await makeUser(t, "observer");
    expect((await observer.get("/conditional_access/idp/signing_cert")).status).toBe(200);
  });

  it("give the profile with the enroll secret only to those who may read that", async () => {
    const t = await start();
    const path = "/conditional_access/idp/vendora/profile";
    expect((await t.get(path)).status, "without a secret").toBe(404);
    await makeSecret(t, SECRET);
    const reply = await t.get(path);
    expect(reply.headers.get("content-disposition")).toContain("conditional-access.mobileconfig");
    const text = await reply.text();
    for (const part of [SECRET, "urn:device:apple:uuid:%HardwareUUID%", "/api/svc/conditional_access/scep"])
      expect(text).toContain(part);
    for (const role of ["observer", "gitops", "technician"] as const)
      expect((await (await makeUser(t, role)).get(path)).status, role).toBe(403);
  });

  it("are premium", async () => {
    const t = await startApp({ engine, tier: "free" });
    for (const path of ["idp/metadata", "scep?operation=GetCACaps"])
      expect((await t.raw(`/api/svc/conditional_access/${path}`)).status).toBe(402);
    expect((await t.get("/conditional_access/idp/signing_cert")).status).toBe(402);
  });
});
