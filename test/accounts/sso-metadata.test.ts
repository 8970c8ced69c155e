// Metadata of the identity provider, as text and by URL: its content, and sign-ins while it is unavailable.
import { beforeAll, describe, expect, it } from "vitest";
import { MetadataProblem, readMetadata } from "../../src/server/platform/saml/metadata.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import {
  begin,
  deliver,
  ISSUER,
  makeSigningKey,
  metadataOf,
  type SigningKey,
  SSO_URL,
  sessionOf,
  signedAssertion,
  storeSso,
  turnOnSso,
} from "../support/idp.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";

let key: SigningKey;
let other: SigningKey;
beforeAll(async () => {
  [key, other] = [await makeSigningKey(), await makeSigningKey()];
});

const local = { outbound_allow: "127.0.0.1,::1,localhost" };
const start = (t: TestApp) => t.as(null).request("POST", "/sso", { relay_url: "/" });
const byUrl = (t: TestApp, server: Receiver, more: object = {}) =>
  turnOnSso(t, key, { metadata: "", metadata_url: `${server.url}/metadata`, ...more });
const minutes = 60_000;

async function expectFailure(response: Response, reason: RegExp): Promise<void> {
  expect(response.status).toBe(500);
  const { message, errors } = await errorOf(response);
  expect(message).toBe("Unknown Error");
  expect(errors).toEqual([{ name: "base", reason: expect.stringMatching(reason) }]);
}

describe("metadata", () => {
  it("contains URL and certificates of the provider, alone or among others", async () => {
    const pem = (one: SigningKey) => one.cert.replace(/\s+/g, "");
    const alone = readMetadata(metadataOf(key, { certs: [key.cert, other.cert, key.cert] }), ISSUER);
    expect(alone).toMatchObject({ entityId: ISSUER, redirectUrl: SSO_URL, validUntil: null });
    expect(alone.certificates.map((one) => one.replace(/\s+/g, ""))).toEqual([pem(key), pem(other)]);
    const entity = (given: string) => given.replace(/^<\?xml.*?\?>/, "");
    const many = `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" validUntil="2030-01-01T00:00:00Z">${entity(metadataOf(other, { issuer: "urn:other" }))}${entity(metadataOf(key, { validUntil: "2031-01-01T00:00:00Z" }))}</EntitiesDescriptor>`;
    const found = readMetadata(many, ISSUER);
    expect(found.certificates.map((one) => one.replace(/\s+/g, ""))).toEqual([pem(key)]);
    expect(found.validUntil).toBe(Date.parse("2030-01-01T00:00:00Z"));
  });

  it.each<[string, RegExp, () => string]>([
    ["empty", /cannot be read/, () => ""],
    ["no XML", /cannot be read/, () => "not xml"],
    ["another document", /not SAML metadata/, () => "<html/>"],
    ["of another provider", /is of urn:other, and issuer_uri is/, () => metadataOf(key, { issuer: "urn:other" })],
    ["with a DOCTYPE", /DOCTYPE/, () => metadataOf(key).replace("<!--", "<!DOCTYPE md [<!ENTITY a 'b'>]><!--")],
    ["with an external entity", /DOCTYPE/, () => `<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>`],
    ["nested deeply", /nested too deeply/, () => "<a>".repeat(100_000)],
    ["of too many parts", /too many parts/, () => `<a>${"<b/>".repeat(100_000)}</a>`],
    ["larger than 1 MiB", /larger than 1 MiB/, () => metadataOf(key) + " ".repeat(1024 * 1024)],
    ["without a certificate", /no certificate/, () => metadataOf(key, { certs: [] })],
    ["with a certificate that is none", /no certificate/, () => metadataOf({ key: "", cert: "AAAA" })],
    ["with certificates for encryption only", /no certificate/, () => metadataOf(key, { use: ' use="encryption"' })],
    ["with a hundred certificates", /more than 16/, () => manyCertificates],
    ["without an address", /HTTP-Redirect/, () => metadataOf(key, { services: "" })],
    ["with a script as address", /HTTP-Redirect/, () => metadataOf(key).replaceAll(SSO_URL, "javascript:alert(1)//")],
    [
      "with an address for posting only",
      /HTTP-Redirect/,
      () => metadataOf(key).replaceAll("HTTP-Redirect", "HTTP-POST"),
    ],
    ["of a service provider", /no identity provider/, () => metadataOf(key).replaceAll("IDPSSO", "SPSSO")],
    ["of SAML 1.1", /no identity provider/, () => metadataOf(key).replaceAll("SAML:2.0:protocol", "SAML:1.1:protocol")],
    ["with a time that is none", /not a time/, () => metadataOf(key, { validUntil: "soon" })],
  ])("is refused if it is %s", async (_, reason, text) => {
    const started = performance.now();
    const reading = () => readMetadata(text(), ISSUER);
    expect(reading).toThrow(MetadataProblem);
    expect(reading).toThrow(reason);
    // Not the time that it takes, which is almost nothing, but a limit that quadratic growth would exceed.
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

let manyCertificates = "";
beforeAll(async () => {
  const made = await Promise.all(Array.from({ length: 17 }, makeSigningKey));
  manyCertificates = metadataOf(key, { certs: made.map(({ cert }) => cert) });
});

describe.each(rulesEngines)("metadata that is set on %s", (engine) => {
  const settings = (more: object) => ({
    enable_sso: true,
    entity_id: "https://svc.example.com",
    idp_name: "IdP",
    issuer_uri: "",
    ...more,
  });
  const posting = () => metadataOf(key).replaceAll("HTTP-Redirect", "HTTP-POST");

  it("needs no issuer_uri: the provider is the one in the metadata", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key, { issuer_uri: "" });
    const cookie = await begin(t);
    expect(cookie).toBeDefined();
    expect((await start(t)).status).toBe(200);
  });

  it("is refused if no sign-in could use it, of users and of end users", async () => {
    const t = await startApp({ engine });
    for (const [section, body] of [
      ["sso_settings", { sso_settings: settings({ metadata: posting() }) }],
      [
        "mdm.end_user_authentication",
        { mdm: { end_user_authentication: { ...settings({ metadata: posting() }), enable_sso: undefined } } },
      ],
    ] as const) {
      const response = await t.patch("/config", body);
      const { errors } = await errorOf(response);
      expect([response.status, errors?.[0]?.name]).toEqual([422, `${section}.metadata`]);
      expect(errors![0]!.reason).toMatch(/HTTP-Redirect binding/);
    }
  });

  it("is asked for at its address, and refused likewise; what cannot be reached now is stored", async () => {
    const t = await startApp({ engine, settings: { ...local, check_integrations: true } });
    const server = await startReceiver({ answer: () => ({ body: posting() }) });
    const refused = await t.patch("/config", { sso_settings: settings({ metadata_url: `${server.url}/metadata` }) });
    expect([refused.status, (await errorOf(refused)).errors?.[0]?.name]).toEqual([422, "sso_settings.metadata_url"]);
    const none = await startReceiver({ answer: () => ({ status: 503, body: "" }) });
    const later = await t.patch("/config", { sso_settings: settings({ metadata_url: `${none.url}/metadata` }) });
    expect(later.status).toBe(200);
    // An unchanged address is not asked for again: another change must not fail because of it.
    const asked = none.received.length;
    expect(
      (await t.patch("/config", { sso_settings: { idp_image_url: "https://example.com/i.png" }, org_info: {} })).status,
    ).toBe(200);
    expect(none.received).toHaveLength(asked);
  });
});

describe.each(rulesEngines)("metadata by address on %s", (engine) => {
  it("is fetched when a sign-in needs it, cached, and refreshed in the background", async () => {
    const t = await startApp({ engine, settings: local });
    const server = await startReceiver({ answer: () => ({ body: metadataOf(key) }) });
    await byUrl(t, server);
    expect(server.received).toHaveLength(0);
    await begin(t);
    await begin(t);
    expect(server.received.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /metadata"]);
    t.clock.advance(6 * minutes);
    const renewed = (count: number) =>
      expect
        .poll(async () => {
          await begin(t);
          return server.received.length;
        })
        .toBe(count);
    await renewed(2);
    // The provider's keys change: sign-ins after the refresh use them.
    server.answer = () => ({ body: metadataOf(other) });
    t.clock.advance(6 * minutes);
    await renewed(3);
    await expect
      .poll(async () => {
        const { cookie, requestId } = await begin(t);
        await t.post("/users/admin", {
          name: "A",
          email: "ada.sso@example.com",
          sso_enabled: true,
          global_role: "observer",
        });
        return sessionOf(await deliver(t, signedAssertion({ now: t.clock.now(), requestId }, other), cookie)) !== null;
      })
      .toBe(true);
  });

  it("is used for a day if it cannot be refreshed, then no more", async () => {
    const t = await startApp({ engine, settings: local });
    const server = await startReceiver({ answer: () => ({ body: metadataOf(key) }) });
    await byUrl(t, server);
    await begin(t);
    server.answer = () => ({ status: 503, body: "down" });
    t.clock.advance(6 * minutes);
    await begin(t);
    await server.got(2);
    t.clock.advance(23 * 60 * minutes);
    // The previous renewal is only known to have begun; once it has failed, the next one waits 15 seconds. One may fail
    // and another begin between two polls.
    await expect
      .poll(async () => {
        t.clock.advance(15_000);
        await begin(t);
        return server.received.length;
      })
      .toBeGreaterThan(2);
    t.clock.advance(60 * minutes);
    await expectFailure(await start(t), /metadata_url returned status 503/);
    server.answer = () => ({ body: metadataOf(key) });
    t.clock.advance(minutes);
    await begin(t);
  });

  it("is not used beyond its own validity", async () => {
    const t = await startApp({ engine, settings: local });
    const validUntil = new Date(t.clock.now() + 10 * minutes).toISOString();
    await turnOnSso(t, key, { metadata: metadataOf(key, { validUntil }) });
    await begin(t);
    t.clock.advance(10 * minutes);
    await expectFailure(await start(t), /has expired \(validUntil\)/);
    const server = await startReceiver({ answer: () => ({ body: metadataOf(key, { validUntil }) }) });
    await byUrl(t, server);
    await expectFailure(await start(t), /has expired \(validUntil\)/);
  });

  it("is stored although it cannot be fetched, and then the sign-in reports that", async () => {
    const t = await startApp({ engine, settings: local });
    const server = await startReceiver();
    await byUrl(t, server);
    await server.stop();
    await expectFailure(await start(t), /refused the connection/);
    // A callback returns to the sign-in page.
    await turnOnSso(t, key);
    const { cookie, requestId } = await begin(t);
    await byUrl(t, server);
    const res = await deliver(t, signedAssertion({ now: t.clock.now(), requestId }, key), cookie);
    expect(res.headers.get("location")).toBe("/login?status=error");
  });

  it("can be missing only while single sign-on is off", async () => {
    const t = await startApp({ engine });
    await turnOnSso(t, key);
    await storeSso(t, { metadata: "" });
    await expectFailure(await start(t), /neither metadata nor metadata_url/);
  });

  it.each<[string, RegExp, () => string | Buffer]>([
    ["ten megabytes", /larger than 1048576 bytes/, () => Buffer.alloc(10_000_000, 0x20)],
    ["a billion laughs", /DOCTYPE/, () => '<!DOCTYPE a [<!ENTITY b "&c;&c;"><!ENTITY c "x">]><a>&b;</a>'],
    ["a web page", /not SAML metadata/, () => "<html><body>Sign in</body></html>"],
    ["another provider", /issuer_uri is/, () => metadataOf(key, { issuer: "urn:other" })],
    ["bytes", /not in UTF-16LE/, () => Buffer.from([0xff, 0xfe, 0x00])],
  ])("is a clear error when the server sends %s", async (_, reason, body) => {
    const t = await startApp({ engine, settings: local });
    const server = await startReceiver({ answer: () => ({ body: body() }) });
    await byUrl(t, server);
    const started = performance.now();
    await expectFailure(await start(t), reason);
    // The URL is not requested for a while: a second sign-in does not wait for it.
    await expectFailure(await start(t), reason);
    expect(server.received).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(60_000);
    expect(await t.store.ssoSessions.count()).toBe(0);
  });

  it("ends in bounded time if the server does not reply, for all who wait together", async () => {
    const t = await startApp({ engine, settings: local });
    const server = await startReceiver({ answer: () => "hang" });
    await byUrl(t, server);
    const started = performance.now();
    const answers = await Promise.all([start(t), start(t), start(t)]);
    const took = performance.now() - started;
    for (const answer of answers) await expectFailure(answer, /did not respond in time/);
    expect(server.received).toHaveLength(1);
    expect(took).toBeGreaterThan(9_000);
    // One wait of ten seconds, not three in sequence.
    expect(took).toBeLessThan(29_000);
  });

  it("is not fetched from this machine unless that is allowed", async () => {
    const t = await startApp({ engine });
    const server = await startReceiver({ answer: () => ({ body: metadataOf(key) }) });
    await turnOnSso(t, key);
    await storeSso(t, { metadata: "", metadata_url: `${server.url}/m` });
    await expectFailure(await start(t), /metadata_url: /);
    expect(server.received).toHaveLength(0);
  });
});
