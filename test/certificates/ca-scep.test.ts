import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { octets, printable } from "../../src/pki/der.ts";
import { envelop, openEnvelope } from "../../src/pki/enveloped-data.ts";
import { selfSigned } from "../../src/pki/issue.ts";
import { parseName } from "../../src/pki/names.ts";
import { makeRequest } from "../../src/pki/request.ts";
import { bareCertificates, readSignedData, signData, verifySigned } from "../../src/pki/signed-data.ts";
import { newKey, readCertificate } from "../../src/pki/x509.ts";
import { fetchCertificates } from "../../src/server/certificates/ca/scep.ts";
import type { CaError } from "../../src/server/certificates/ca/upstream.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { allowLocal, newDir, OpensslCa, openssl, startFake } from "../support/ca-fakes.ts";
import { runningOf } from "../support/running.ts";
import { enroll, openScep, poll, recipientOf } from "../support/scep-requests.ts";
import { haveScepServer, startScepServer } from "../support/scep-server.ts";

const allowing = (some: object) => ({
  running: runningOf({ settings: Settings.parse({ data_dir: "/nowhere", ...some }) }),
  dryRun: null,
});
const services = allowing(allowLocal);
const now = Date.now();
const CHALLENGE = "a challenge, with * and 'quotes'";
const refused = async (work: Promise<unknown>): Promise<CaError> =>
  work.then(
    () => expect.unreachable("it was accepted"),
    (error: CaError) => error,
  );

describe.skipIf(!haveScepServer())("the SCEP client against scepserver", () => {
  it("enrolls with the challenge, and gets a certificate of its own key and subject", async () => {
    const { url } = await startScepServer(CHALLENGE);
    const ca = await openScep(services, url);
    expect(ca.capabilities).toContain("postpkioperation");
    const subject = parseName("/CN=host 7/O=Müller \\/ Söhne/OU=C07");
    const issued = await enroll(services, ca, { subject, challenge: CHALLENGE, now });
    if (issued.status !== "issued") return expect.unreachable(issued.status);
    const { parsed } = issued.certificate;
    expect(parsed.checkPrivateKey(issued.key)).toBe(true);
    expect(parsed.subject.split("\n").sort()).toEqual(["CN=host 7", "O=Müller / Söhne", "OU=C07"]);
    expect(parsed.verify(ca.certificates[0]!.parsed.publicKey)).toBe(true);
  });

  it("works with a server that reports the minimum about itself", async () => {
    const { url } = await startScepServer(CHALLENGE);
    const ca = { ...(await openScep(services, url)), capabilities: new Set<string>() };
    const issued = await enroll(services, ca, { subject: parseName("/CN=old"), challenge: CHALLENGE, now });
    expect(issued.status).toBe("issued");
  });

  it("reports a refusal, and no certificate is issued", async () => {
    const { url } = await startScepServer(CHALLENGE);
    const ca = await openScep(services, url);
    const error = await refused(enroll(services, ca, { subject: parseName("/CN=x"), challenge: "another one", now }));
    expect([error.problem, error.message]).toEqual(["refused", expect.stringContaining("badRequest")]);
    expect(error.message).not.toContain("another one");
  });

  it("refuses a reply that another authority has signed", async () => {
    const [one, other] = [await startScepServer(CHALLENGE), await startScepServer(CHALLENGE)];
    const ca = await openScep(services, one.url);
    const { certificates } = await openScep(services, other.url);
    // The message is sent to the first, which can open it; its signature is not that of the expected authority.
    const fake = await startFake(async ({ body }) => {
      const answer = await fetch(`${one.url}?operation=PKIOperation`, { method: "POST", body: new Uint8Array(body) });
      return { body: Buffer.from(await answer.arrayBuffer()) };
    });
    const enrolling = { subject: parseName("/CN=x"), challenge: CHALLENGE, now };
    expect((await enroll(services, { ...ca, url: fake.url }, enrolling)).status).toBe("issued");
    const mixed = { ...ca, url: fake.url, certificates: [...certificates] };
    expect((await refused(enroll(services, mixed, enrolling))).problem).toBe("answer");
  });
});

/** A server that opens requests with our own code, and whose replies have one error. */
async function startOwn() {
  const key = await newKey();
  const name = parseName("/CN=Own CA");
  const certificate = selfSigned(name, key, Buffer.from("01020304", "hex"), now);
  const other: { key: typeof key; certificate: Buffer } = { key: await newKey(), certificate };
  other.certificate = selfSigned(name, other.key, Buffer.from("05", "hex"), now);
  const openSsl = await OpensslCa.make();
  const change: {
    attributes: Record<string, Buffer>;
    signer: { key: typeof key; certificate: Buffer };
    spoil(answer: Buffer): Buffer;
    certificateOf: "requester" | "another";
  } = { attributes: {}, signer: { key, certificate }, spoil: (answer) => answer, certificateOf: "requester" };
  const seen: { type: string; content: Buffer }[] = [];
  const fake = await startFake(async ({ url, body }) => {
    const operation = url.searchParams.get("operation");
    if (operation === "GetCACaps") return { body: "POSTPKIOperation\nSHA-256\nAES\nSCEPStandard\n" };
    if (operation === "GetCACert") return { body: certificate };
    const data = readSignedData(body);
    const requester = readCertificate(data.certificates[0]!);
    const { attributes } = verifySigned(data, () => requester.parsed.publicKey);
    const { content } = openEnvelope(data.content!, readCertificate(certificate), key);
    const text = (type: string) => attributes.get(type)!.content.toString("latin1");
    seen.push({ type: text(attribute(2)), content });
    let issued = Buffer.alloc(0);
    if (text(attribute(2)) === "19") {
      const request = change.certificateOf === "requester" ? content : makeRequest(name, await newKey());
      issued = Buffer.from(new X509Certificate(await openSsl.sign(request)).raw);
    }
    const answer = signData(
      envelop(bareCertificates([issued]), requester, "des-ede3-cbc"),
      { ...change.signer, digest: "sha256" },
      {
        [attribute(2)]: printable("3"),
        [attribute(3)]: printable("0"),
        [attribute(5)]: octets(Buffer.alloc(16, 9)),
        [attribute(6)]: octets(attributes.get(attribute(5))!.content),
        [attribute(7)]: printable(text(attribute(7))),
        ...change.attributes,
      },
    );
    return { headers: { "content-type": "application/x-pki-message" }, body: change.spoil(answer) };
  });
  return { fake, change, other, seen };
}
const attribute = (number: number) => `2.16.840.1.113733.1.9.${number}`;
const enrolling = { subject: parseName("/CN=x"), challenge: CHALLENGE, now };

describe("the SCEP client", () => {
  it("accepts a certificate, waits for a pending one, and reports every reason of a refusal", {
    timeout: 600_000,
  }, async () => {
    const { fake, change, seen } = await startOwn();
    const ca = await openScep(services, fake.url);
    expect((await enroll(services, ca, enrolling)).status).toBe("issued");
    expect(seen.at(-1)).toMatchObject({ type: "19" });
    expect(seen.at(-1)!.content.includes(CHALLENGE)).toBe(true);
    for (const [code, word] of ["badAlg", "badMessageCheck", "badRequest", "badTime", "badCertId"].entries()) {
      change.attributes = { [attribute(3)]: printable("2"), [attribute(4)]: printable(String(code)) };
      expect(await refused(enroll(services, ca, enrolling))).toMatchObject({
        problem: "refused",
        message: expect.stringContaining(word),
      });
    }
    change.attributes = { [attribute(3)]: printable("2") };
    expect((await refused(enroll(services, ca, enrolling))).problem).toBe("refused");
    change.attributes = { [attribute(3)]: printable("3") };
    const pending = await enroll(services, ca, enrolling);
    if (pending.status !== "pending") return expect.unreachable(pending.status);
    expect(await poll(services, ca, pending)).toMatchObject({
      status: "pending",
      transactionId: pending.transactionId,
    });
    expect(seen.at(-1)!.type).toBe("20");
  });

  it("refuses anything that is not proved to be the authority's reply to this request", {
    timeout: 600_000,
  }, async () => {
    const { fake, change, other } = await startOwn();
    const ca = await openScep(services, fake.url);
    const untouched = { ...change };
    const cases: [string, Partial<typeof change>][] = [
      ["the nonce of another", { attributes: { [attribute(6)]: octets(Buffer.alloc(16)) } }],
      ["another transaction", { attributes: { [attribute(7)]: printable("1234") } }],
      ["no CertRep", { attributes: { [attribute(2)]: printable("19") } }],
      ["an unknown status", { attributes: { [attribute(3)]: printable("7") } }],
      ["another signer", { signer: other }],
      ["a stolen name", { signer: { key: other.key, certificate: untouched.signer.certificate } }],
      ["the certificate of another key", { certificateOf: "another" }],
      ["a cut answer", { spoil: (answer) => answer.subarray(0, answer.length - 40) }],
      ["an empty answer", { spoil: () => Buffer.alloc(0) }],
      ["garbage", { spoil: () => Buffer.from("<html>this is a portal</html>") }],
      ["nesting without end", { spoil: () => Buffer.alloc(100_000, 0x30) }],
      ["nesting of indefinite length", { spoil: () => Buffer.from("3080".repeat(50_000), "hex") }],
      [
        "a changed signature",
        { spoil: (answer) => Buffer.concat([answer.subarray(0, -1), Buffer.from([answer.at(-1)! ^ 1])]) },
      ],
    ];
    for (const [what, wrong] of cases) {
      Object.assign(change, untouched, wrong);
      expect((await refused(enroll(services, ca, enrolling))).problem, what).toBe("answer");
    }
    Object.assign(change, untouched);
    expect((await enroll(services, ca, enrolling)).status).toBe("issued");
  });

  it("reports a server that does not support SCEP, and invalid requests", async () => {
    const fake = await startFake(() => ({ body: "<html>welcome</html>", headers: { "content-type": "text/html" } }));
    const problem = async (url = fake.url) => (await refused(fetchCertificates(services, url))).problem;
    expect(await problem()).toBe("answer");
    fake.answer = () => ({ status: 500, body: "secret words of the server" });
    expect((await refused(fetchCertificates(services, fake.url))).message).not.toContain("secret words");
    fake.answer = () => ({ body: Buffer.alloc(2 * 1024 * 1024) });
    expect(await problem()).toBe("answer");
    fake.answer = () => ({ status: 302, headers: { location: "http://127.0.0.1:1/" } });
    expect(await problem()).toBe("answer");
    const strict = allowing({});
    expect((await refused(fetchCertificates(strict, fake.url))).problem).toBe("blocked");
    const { url } = fake;
    await fake.close();
    expect(await problem(url)).toBe("unreachable");
  });

  it("encrypts only for a permitted registration authority, and for RSA keys", async () => {
    const dir = newDir();
    const make = async (name: string, usage: string, ca = false, key = "rsa:2048") => {
      await openssl(
        dir,
        ...[
          "req",
          "-x509",
          "-newkey",
          key,
          "-nodes",
          "-keyout",
          `${name}.key`,
          "-out",
          `${name}.der`,
          "-outform",
          "DER",
        ],
        ...(key === "ec" ? ["-pkeyopt", "ec_paramgen_curve:P-256"] : []),
        ...["-subj", `/CN=${name}`, "-addext", `keyUsage=${usage}`, "-addext", `basicConstraints=critical,CA:${ca}`],
      );
      return readCertificate(await readFile(join(dir, `${name}.der`)));
    };
    const root = await make("root", "keyCertSign,cRLSign", true);
    const signing = await make("signing", "digitalSignature");
    const encrypting = await make("encrypting", "keyEncipherment");
    expect(recipientOf({ certificates: [root, signing, encrypting] })).toBe(encrypting);
    expect(recipientOf({ certificates: [root] })).toBe(root);
    const curve = await make("curve", "keyEncipherment", false, "ec");
    expect(() => recipientOf({ certificates: [curve] })).toThrow("not RSA");
  });
});
