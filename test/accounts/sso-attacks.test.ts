// Assertions that must not sign anybody in. Each differs from a valid one in one point, and must be refused for exactly
// this reason.
import { Writable } from "node:stream";
import { pino } from "pino";
import { beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import {
  assertionXml,
  begin,
  C14N,
  type Content,
  deliver,
  ENVELOPED,
  type Moment,
  makeSigningKey,
  metadataOf,
  responseXml,
  type SigningKey,
  type StartedSignIn,
  samlpResponse,
  sessionOf,
  sign,
  signedAssertion,
  signedResponse,
  turnOnSso,
} from "../support/idp.ts";

let key: SigningKey;
let other: SigningKey;
beforeAll(async () => {
  [key, other] = [await makeSigningKey(), await makeSigningKey()];
});

const VICTIM = "victim@example.com";
const ATTACKER = "ada.sso@example.com";
const HOUR = 3_600_000;

interface Scene extends Moment {
  readonly t: TestApp;
  readonly begun: StartedSignIn;
}
/** What is sent, and with which cookie (by default the sign-in's own; null: none). */
interface Attempt {
  readonly xml: string | Buffer;
  readonly cookie?: string | null;
}
type Attack = readonly [
  name: string,
  reason: RegExp,
  make: (scene: Scene) => string | Attempt | Promise<string | Attempt>,
];

const SIGNATURE = /<ds:Signature .*?<\/ds:Signature>/s;

/** The parts of wrapping attacks. */
function pieces(scene: Scene) {
  const signed = sign(assertionXml(scene, { id: "_good", nameId: ATTACKER }), "Assertion", key);
  const signature = SIGNATURE.exec(signed)![0];
  const evil = assertionXml(scene, { id: "_evil", nameId: VICTIM });
  const into = (assertion: string, inner: string) =>
    assertion.replace("<saml:Subject>", () => `${inner}<saml:Subject>`);
  return { signed, signature, bare: signed.replace(SIGNATURE, ""), evil, into };
}
const inside = (signature: string, inner: string) =>
  signature.replace("</ds:Signature>", () => `${inner}</ds:Signature>`);

function wholeResponse(scene: Scene) {
  const signed = signedResponse(scene, key, { id: "_good", responseId: "_whole", nameId: ATTACKER });
  const signature = SIGNATURE.exec(signed)![0];
  const evil = responseXml(scene, assertionXml(scene, { id: "_evil", nameId: VICTIM }), { responseId: "_evil_whole" });
  const afterIssuer = (inner: string) => evil.replace("</saml:Issuer>", () => `</saml:Issuer>${inner}`);
  return { signature, bare: signed.replace(SIGNATURE, ""), afterIssuer };
}

const wrapping: Attack[] = [
  [
    "XSW1: the signed response within its signature, in a response of the attacker",
    /2 assertions/,
    (s) => {
      const { signature, bare, afterIssuer } = wholeResponse(s);
      return afterIssuer(inside(signature, bare));
    },
  ],
  [
    "XSW2: the signed response beside its signature, in a response of the attacker",
    /2 assertions/,
    (s) => {
      const { signature, bare, afterIssuer } = wholeResponse(s);
      return afterIssuer(`${bare}${signature}`);
    },
  ],
  [
    "XSW3: an assertion of the attacker before the signed one",
    /2 assertions/,
    (s) => {
      const { evil, signed } = pieces(s);
      return responseXml(s, evil + signed);
    },
  ],
  [
    "XSW4: the signed assertion within one of the attacker",
    /2 assertions/,
    (s) => {
      const { evil, signed, into } = pieces(s);
      return responseXml(s, into(evil, signed));
    },
  ],
  [
    "XSW5: the signature in the attacker's assertion, what it signed at the end",
    /2 assertions/,
    (s) => {
      const { evil, signature, bare, into } = pieces(s);
      return responseXml(s, into(evil, signature) + bare);
    },
  ],
  [
    "XSW6: the same, what it signed within the signature",
    /2 assertions/,
    (s) => {
      const { evil, signature, bare, into } = pieces(s);
      return responseXml(s, into(evil, inside(signature, bare)));
    },
  ],
  [
    "XSW7: the attacker's assertion in Extensions",
    /2 assertions/,
    (s) => {
      const { evil, signed } = pieces(s);
      return responseXml(s, `<samlp:Extensions>${evil}</samlp:Extensions>${signed}`);
    },
  ],
  [
    "XSW8: what was signed in an Object of the signature",
    /2 assertions/,
    (s) => {
      const { evil, signature, bare, into } = pieces(s);
      return responseXml(s, into(evil, inside(signature, `<ds:Object>${bare}</ds:Object>`)));
    },
  ],
  [
    "XSW9: what was signed under another name, the reference pointing there",
    /signature covers another element/,
    (s) => {
      const { evil, signature, bare, into } = pieces(s);
      const hidden = bare.replace("<saml:Assertion ", "<saml:Advice ").replace("</saml:Assertion>", "</saml:Advice>");
      return responseXml(s, into(evil, signature) + hidden);
    },
  ],
  [
    "both assertions under one ID",
    /2 assertions/,
    (s) => {
      const { evil, signed } = pieces(s);
      return responseXml(s, evil.replace("_evil", "_good") + signed);
    },
  ],
  [
    "another element under the assertion's ID",
    /same ID/,
    (s) => {
      const { signed } = pieces(s);
      return responseXml(s, `<samlp:Extensions><x xmlns="urn:x" Id="_good"/></samlp:Extensions>${signed}`);
    },
  ],
  [
    "two good assertions",
    /2 assertions/,
    (s) => {
      const one = (id: string) => sign(assertionXml(s, { id }), "Assertion", key);
      return responseXml(s, one("_a") + one("_b"));
    },
  ],
  [
    "a second assertion in another namespace",
    /2 assertions/,
    (s) => responseXml(s, `<Assertion xmlns="urn:x"/>${pieces(s).signed}`),
  ],
  [
    "a second signature over the first",
    /signed twice/,
    (s) => {
      const { signed, signature } = pieces(s);
      return responseXml(
        s,
        signed.replace(signature, () => signature + signature),
      );
    },
  ],
  [
    "a signature that stands elsewhere",
    /is in the wrong place/,
    (s) => {
      const { bare, signature } = pieces(s);
      return responseXml(s, `${bare}<samlp:Extensions>${signature}</samlp:Extensions>`);
    },
  ],
];

const signatures: Attack[] = [
  ["no signature", /not signed/, (s) => responseXml(s, assertionXml(s))],
  ["the signature taken out", /not signed/, (s) => signedAssertion(s, key).replace(SIGNATURE, "")],
  ["another key", /no certificate/, (s) => signedAssertion(s, other)],
  [
    "another key that calls itself by the good certificate",
    /no certificate/,
    (s) => signedAssertion(s, other, {}, { shownCert: key.cert }),
  ],
  [
    "a good assertion in a response that another key signed",
    /no certificate/,
    (s) => sign(signedAssertion(s, key), "Response", other),
  ],
  [
    "a response that is signed well around an assertion that another key signed",
    /no certificate/,
    (s) => {
      const inner = sign(assertionXml(s), "Assertion", other);
      return sign(responseXml(s, inner), "Response", key);
    },
  ],
  [
    "the NameID changed after signing",
    /no certificate/,
    (s) => signedAssertion(s, key, { nameId: ATTACKER }).replace(`>${ATTACKER}<`, `>${VICTIM}<`),
  ],
  [
    "an attribute changed after signing",
    /no certificate/,
    (s) => signedAssertion(s, key, { attributes: { role: "observer" } }).replace(">observer<", ">admin<"),
  ],
  [
    "the digest changed to fit",
    /no certificate/,
    (s) => {
      const good = signedAssertion(s, key);
      const evil = signedAssertion(s, other);
      const value = /<ds:SignatureValue>.*?<\/ds:SignatureValue>/s;
      return evil.replace(value, () => value.exec(good)![0]);
    },
  ],
  [
    "SHA-1 as signature method",
    /method is not allowed/,
    (s) => signedAssertion(s, key, {}, { signatureAlgorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1" }),
  ],
  [
    "SHA-1 as digest",
    /digest is not allowed/,
    (s) => signedAssertion(s, key, {}, { digestAlgorithm: "http://www.w3.org/2000/09/xmldsig#sha1" }),
  ],
  [
    "HMAC with the certificate as its key",
    /method is not allowed/,
    (s) =>
      signedAssertion(
        s,
        { ...key, key: key.cert },
        {},
        {
          hmac: true,
          signatureAlgorithm: "http://www.w3.org/2000/09/xmldsig#hmac-sha1",
        },
      ),
  ],
  [
    "a method that nobody knows",
    /method is not allowed/,
    (s) => signedAssertion(s, key).replace("xmldsig-more#rsa-sha256", "xmldsig-more#rsa-md5"),
  ],
  [
    "an XPath transform",
    /transforms that are not allowed/,
    (s) =>
      signedAssertion(s, key).replace(
        `<ds:Transform Algorithm="${C14N}"/>`,
        '<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"/>',
      ),
  ],
  [
    "three transforms",
    /transforms that are not allowed/,
    (s) => signedAssertion(s, key, {}, { transforms: [ENVELOPED, C14N, C14N] }),
  ],
  [
    "inclusive canonicalization",
    /canonicalization that is not allowed/,
    (s) => signedAssertion(s, key, {}, { canonicalization: "http://www.w3.org/TR/2001/REC-xml-c14n-20010315" }),
  ],
  [
    "two references",
    /must have exactly one Reference/,
    (s) => {
      const signed = signedAssertion(s, key);
      const reference = /<ds:Reference .*?<\/ds:Reference>/s.exec(signed)![0];
      return signed.replace(reference, () => reference + reference);
    },
  ],
  [
    "two SignedInfo",
    /must have exactly one SignedInfo/,
    (s) => {
      const signed = signedAssertion(s, key);
      const info = /<ds:SignedInfo>.*?<\/ds:SignedInfo>/s.exec(signed)![0];
      return signed.replace(info, () => info + info);
    },
  ],
  [
    "a second DigestValue in a comment's shape",
    /comment/,
    (s) => signedAssertion(s, key).replace("<ds:DigestValue>", "<ds:DigestValue><!--x-->"),
  ],
  [
    "a reference to the whole document",
    /signature covers another element/,
    (s) => signedAssertion(s, key).replace(/URI="#[^"]*"/, 'URI=""'),
  ],
  ["an assertion that is encrypted to somebody", /encrypted/, (s) => samlpResponse(s, key, { encryptFor: other })],
];

/** Validly signed, but with invalid content. */
const says = (name: string, reason: RegExp, content: Content, how = signedAssertion): Attack => [
  name,
  reason,
  (scene) => how(scene, key, content),
];
const contents: Attack[] = [
  says("another audience", /Audience/, { audience: "urn:somebody-else" }),
  says("our audience as the beginning of another", /Audience/, { audience: "https://svc.example.com.evil.example" }),
  says("no audience", /Audience/, { audienceXml: "" }),
  says("two restrictions, one of them for others", /Audience/, {
    audienceXml: ["svc-of-tests", "urn:other"]
      .map((one) => `<saml:AudienceRestriction><saml:Audience>${one}</saml:Audience></saml:AudienceRestriction>`)
      .join(""),
  }),
  says("no conditions", /exactly one Conditions/, { conditions: "" }),
  says("a condition that nobody knows", /condition that is not supported/, {
    audienceXml:
      '<saml:AudienceRestriction><saml:Audience>svc-of-tests</saml:Audience></saml:AudienceRestriction><saml:Condition xmlns:x="urn:x" x:only="mondays"/>',
  }),
  says("another recipient", /Recipient/, { recipient: "https://other.example.com/api/v1/svc/sso/callback" }),
  says("no recipient", /Recipient/, { recipient: "" }),
  says("another destination", /Destination/, { destination: "https://other.example.com/" }),
  says("an empty destination", /Destination/, { destination: "" }),
  says("another issuer of the assertion", /assertion is from another/, { issuer: "https://evil.example.com/" }),
  says("another issuer of the response", /response is from another/, { responseIssuer: "https://evil.example.com/" }),
  says("a time that is over", /expired \(NotOnOrAfter\)/, { notOnOrAfter: -HOUR }),
  says("conditions whose time is over", /expired \(NotOnOrAfter\)/, { conditionsNotOnOrAfter: -HOUR }),
  says("a time that has not come", /not valid yet/, { notBefore: HOUR }),
  says("no time limit", /no expiry time/, { notOnOrAfter: null }),
  says("a session that is over", /SessionNotOnOrAfter/, {
    authnStatement:
      '<saml:AuthnStatement AuthnInstant="2020-01-01T00:00:00Z" SessionNotOnOrAfter="2020-01-01T08:00:00Z"><saml:AuthnContext><saml:AuthnContextClassRef>x</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>',
  }),
  says("no sign-in, attributes only", /AuthnStatement/, { authnStatement: "" }),
  says("no confirmation by bearer", /bearer/, { subjectMethod: "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches" }),
  says("the answer to another request", /response does not answer/, {
    inResponseTo: "_other",
    subjectInResponseTo: "_other",
  }),
  says("the answer to another request, in the response only", /response does not answer/, { inResponseTo: "_other" }),
  says("the answer to another request, in the assertion only", /assertion does not answer/, {
    subjectInResponseTo: "_other",
  }),
  says("an answer to nothing", /response does not answer/, { inResponseTo: null, subjectInResponseTo: null }),
  says("an assertion that answers nothing", /assertion does not answer/, { subjectInResponseTo: null }),
  says("a status that is no success", /Status/, { status: "urn:oasis:names:tc:SAML:2.0:status:Responder" }),
  says("a status that only ends like success", /Status/, { status: "urn:evil:status:Success" }, signedResponse),
  says("a NameID with elements", /elements within NameID/, { nameIdXml: `<x xmlns="urn:x">${VICTIM}</x>` }),
  says("an empty NameID", /NameID/, { nameIdXml: " " }),
  [
    "a comment in the NameID, set after signing",
    /comment/,
    (s) =>
      signedAssertion(s, key, { nameId: `${VICTIM}.evil.example` }).replace(
        `>${VICTIM}.evil`,
        `>${VICTIM}<!-- -->.evil`,
      ),
  ],
  [
    "a processing instruction in the NameID",
    /processing instruction/,
    (s) => signedAssertion(s, key).replace("ada.sso@", "ada.sso<?x?>@"),
  ],
  [
    "a CDATA section in the NameID",
    /CDATA/,
    (s) => signedAssertion(s, key).replace(">ada.sso@example.com<", "><![CDATA[ada.sso@example.com]]><"),
  ],
  [
    "an assertion of SAML 1.1",
    /SAML 2.0/,
    (s) => {
      const xml = assertionXml(s).replace('Version="2.0"', 'Version="1.1"');
      return responseXml(s, sign(xml, "Assertion", key));
    },
  ],
];

const sessions: Attack[] = [
  ["no cookie", /no sign-in began in this browser/, (s) => ({ xml: signedAssertion(s, key), cookie: null })],
  [
    "a cookie that is none of ours",
    /expired, was used before, or never existed/,
    (s) => ({
      xml: signedAssertion(s, key),
      cookie: `${s.begun.cookie.split("=")[0]}=${"A".repeat(43)}`,
    }),
  ],
  [
    "the sign-in of another browser",
    /does not answer/,
    async (s) => ({
      xml: signedAssertion(s, key),
      cookie: (await begin(s.t)).cookie,
    }),
  ],
  [
    "a cookie used before, with a bad response",
    /expired, was used before/,
    async (s) => {
      await deliver(s.t, "<x/>", s.begun.cookie);
      return signedAssertion(s, key);
    },
  ],
  [
    "a response delivered twice",
    /expired, was used before/,
    async (s) => {
      const xml = signedAssertion(s, key);
      expect(sessionOf(await deliver(s.t, xml, s.begun.cookie))).not.toBeNull();
      return xml;
    },
  ],
  [
    "an assertion replayed with a new sign-in",
    /does not answer/,
    async (s) => {
      const xml = signedAssertion(s, key);
      expect(sessionOf(await deliver(s.t, xml, s.begun.cookie))).not.toBeNull();
      return { xml, cookie: (await begin(s.t)).cookie };
    },
  ],
  [
    "an assertion's ID that was used before",
    /used before/,
    async (s) => {
      expect(sessionOf(await deliver(s.t, signedAssertion(s, key, { id: "_same" }), s.begun.cookie))).not.toBeNull();
      const again = await begin(s.t);
      return { xml: signedAssertion({ ...s, requestId: again.requestId }, key, { id: "_same" }), cookie: again.cookie };
    },
  ],
  [
    "a sign-in of more than five minutes ago",
    /expired, was used before/,
    (s) => {
      s.t.clock.advance(300_000);
      return signedAssertion({ ...s, now: s.t.clock.now() }, key);
    },
  ],
];

const BOMB_TIME = 30_000;
const laughs = `<!DOCTYPE x [<!ENTITY a "ha">${Array.from({ length: 30 }, (_, i) => `<!ENTITY a${i} "${`&a${i - 1};`.repeat(10).replaceAll("&a-1;", "&a;")}">`).join("")}]>`;
const bombTexts: (readonly [string, RegExp, (scene: Scene) => string | Buffer])[] = [
  ["a billion laughs", /DOCTYPE/, (s) => laughs + signedAssertion(s, key).replace("ada.sso", "&a29;")],
  [
    "an external entity",
    /DOCTYPE/,
    (s) => `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>${signedAssertion(s, key).replace("ada.sso", "&f;")}`,
  ],
  ["an external DTD", /DOCTYPE/, (s) => `<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">${signedAssertion(s, key)}`],
  ["an entity without a DOCTYPE", /not well-formed/, (s) => signedAssertion(s, key).replace("ada.sso", "&f;")],
  ["nesting of 80,000", /nested too deeply/, () => "<a>".repeat(80_000)],
  [
    "25,000 attributes",
    /too many parts/,
    () => `<a ${Array.from({ length: 25_000 }, (_, i) => `a${i}=""`).join(" ")}/>`,
  ],
  ["60,000 elements", /too many parts/, () => `<a>${"<b/>".repeat(60_000)}</a>`],
  ["50,000 references", /too many references/, () => `<a>${"&lt;".repeat(50_000)}</a>`],
  ["more than a quarter of a mebibyte", /larger than 256 KiB/, () => `<a>${" ".repeat(262_144)}</a>`],
  [
    "as many parts as are taken, unsigned",
    /not signed/,
    (s) =>
      responseXml(s, assertionXml(s, { attributes: { groups: Array.from({ length: 2_400 }, (_, i) => `g${i}`) } })),
  ],
  [
    "as many parts as are taken, with a signature value that no key made",
    /no certificate of the metadata made its signature$/,
    (s) => {
      const groups = Array.from({ length: 2_350 }, (_, i) => `g${i}`);
      const signed = sign(assertionXml(s, { attributes: { groups } }), "Assertion", key);
      return responseXml(s, signed.replace(/(<ds:SignatureValue>).{20}/s, "$1AAAAAAAAAAAAAAAAAAAA"));
    },
  ],
  ["something else than XML", /not well-formed/, () => Buffer.from([0, 1, 2, 3])],
  ["bytes that are no UTF-8", /UTF-8/, () => Buffer.from([0x3c, 0x61, 0xff, 0x3e])],
  ["UTF-16", /UTF-8|well-formed/, () => Buffer.from('<?xml version="1.0" encoding="UTF-16"?><a/>', "utf16le")],
  ["another encoding", /UTF-8/, () => '<?xml version="1.0" encoding="UTF-7"?><a/>'],
  ["another document", /not a SAML response/, () => "<html/>"],
  ["a request instead of a response", /not a SAML response/, (s) => s.begun.request],
];
const bombs = bombTexts.map(([name, reason, make]): Attack => [name, reason, (scene) => ({ xml: make(scene) })]);

let tried = 0;
let accepted = 0;
async function sceneIn(t: TestApp): Promise<Scene> {
  const begun = await begin(t);
  return { t, begun, now: t.clock.now(), requestId: begun.requestId };
}

describe.each(rulesEngines)("a response on %s", (engine) => {
  const lines: string[] = [];
  const box: { t: TestApp } = { t: undefined as never };
  beforeAll(async () => {
    const sink = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    });
    box.t = await startApp({ engine, shared: true, log: pino({ level: "warn" }, sink) });
    await turnOnSso(box.t, key);
    for (const email of [VICTIM, ATTACKER]) {
      const res = await box.t.post("/users/admin", { name: email, email, sso_enabled: true, global_role: "admin" });
      expect(res.status).toBe(200);
    }
    return () => box.t.close();
  });

  const scene = () => sceneIn(box.t);
  /** Milliseconds until the refusal. */
  async function refused([, reason, make]: Attack, status?: number): Promise<number> {
    const { t } = box;
    // More than one sign-in per second would exceed the limit for one address.
    t.clock.advance(2_000);
    const at = await scene();
    const made = await make(at);
    const attempt: Attempt = typeof made === "string" ? { xml: made } : made;
    const before = [await t.store.sessions.count(), await t.store.users.count()];
    lines.length = 0;
    const started = performance.now();
    const res = await deliver(t, attempt.xml, attempt.cookie === undefined ? at.begun.cookie : attempt.cookie);
    const took = performance.now() - started;
    tried++;
    if (sessionOf(res) !== null || res.status === 200) accepted++;
    expect(sessionOf(res)).toBeNull();
    expect([await t.store.sessions.count(), await t.store.users.count()]).toEqual(before);
    expect(lines.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual([
      expect.stringMatching(reason),
    ]);
    if (status !== undefined) expect(res.status).toBe(status);
    else if (res.status !== 400) expect(res.headers.get("location")).toBe("/login?status=error");
    const last = await t.store.activities.first({ order: [{ column: "id", direction: "desc" }] });
    expect(last).toMatchObject({ type: "user_failed_login", actor_id: null });
    return took;
  }

  it("signs in without any change", async () => {
    for (const how of [signedAssertion, signedResponse]) {
      const at = await scene();
      expect(sessionOf(await deliver(at.t, how(at, key), at.begun.cookie))).not.toBeNull();
    }
    let at = await scene();
    // Conditions may have no end; the confirmation must have one.
    const open = { conditionsNotOnOrAfter: null };
    expect(sessionOf(await deliver(at.t, signedAssertion(at, key, open), at.begun.cookie))).not.toBeNull();
    at = await scene();
    const many = { attributes: { groups: Array.from({ length: 2_000 }, (_, i) => `group ${i}`) } };
    expect(sessionOf(await deliver(at.t, signedAssertion(at, key, many), at.begun.cookie))).not.toBeNull();
  });

  describe("is refused with", () => {
    it.each([...wrapping])("%s", async (...attack) => void (await refused(attack)));
    it.each([...signatures])("%s", async (...attack) => void (await refused(attack)));
    it.each([...contents])("%s", async (...attack) => void (await refused(attack)));
    it.each([...sessions])("%s", async (...attack) => void (await refused(attack)));
    it.each(bombs)("%s, in bounded time", async (...attack) => {
      const [name] = attack;
      const took = await refused(attack, name.startsWith("as many parts") ? 303 : 400);
      expect(took).toBeLessThan(BOMB_TIME);
    });
  });

  it("is refused if it is not base64, or exceeds the limits of the form", async () => {
    const { t } = box;
    const post = (SAMLResponse: string, cookie: string) =>
      t.raw("/api/v1/svc/sso/callback", {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", cookie },
        body: String(new URLSearchParams({ SAMLResponse })),
      });
    const { cookie } = await begin(t);
    expect((await post("####", cookie)).status).toBe(400);
    expect((await post("", cookie)).status).toBe(422);
    expect((await post("A".repeat(360_001), cookie)).status).toBe(422);
    expect((await post("A".repeat(10_000_000), cookie)).status).toBe(413);
    const text = await t.raw("/api/v1/svc/sso/callback", {
      method: "POST",
      headers: { "content-type": "text/plain", origin: "https://evil.example.com" },
      body: "SAMLResponse=AAAA",
    });
    expect(text.status).toBe(415);
  });

  it("is accepted with any signing certificate of the metadata, and with none for encryption", async () => {
    const { t } = box;
    await turnOnSso(t, key, { metadata: metadataOf(key, { certs: [other.cert, key.cert], use: "" }) });
    for (const signer of [key, other]) {
      const at = await scene();
      expect(sessionOf(await deliver(t, signedAssertion(at, signer), at.begun.cookie))).not.toBeNull();
    }
    const both = metadataOf(key).replace(
      "<md:KeyDescriptor",
      () =>
        `${/<md:KeyDescriptor.*?<\/md:KeyDescriptor>/s.exec(metadataOf(other, { use: ' use="encryption"' }))![0]}<md:KeyDescriptor`,
    );
    await turnOnSso(t, key, { metadata: both });
    const at = await scene();
    expect(sessionOf(await deliver(t, signedAssertion(at, other), at.begun.cookie))).toBeNull();
    await turnOnSso(t, key);
  });
});

it.each(bothEngines)("a response cannot be used by two concurrent callbacks, on %s", async (engine) => {
  const t = await startApp({ engine });
  await turnOnSso(t, key);
  for (const email of [VICTIM, ATTACKER])
    await t.post("/users/admin", { name: email, email, sso_enabled: true, global_role: "admin" });
  const at = await sceneIn(t);
  const answers = await Promise.all(
    [1, 2, 3, 4].map((i) => deliver(t, signedAssertion(at, key, { id: `_at_once_${i}` }), at.begun.cookie)),
  );
  expect(answers.filter((res) => sessionOf(res) !== null)).toHaveLength(1);
  await turnOnSso(t, key, { enable_sso_idp_login: true });
  const unasked = signedAssertion({ now: t.clock.now(), requestId: null }, key);
  const replayed = await Promise.all([1, 2, 3, 4].map(() => deliver(t, unasked, null)));
  expect(replayed.filter((res) => sessionOf(res) !== null)).toHaveLength(1);
});

it("more than fifty bad responses were tried, and none was accepted", () => {
  expect(tried).toBeGreaterThanOrEqual(50);
  expect(accepted).toBe(0);
});
