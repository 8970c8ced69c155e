// The device CA: its SCEP server, and the identities that it issues.
import { createPrivateKey, type KeyObject, randomBytes, X509Certificate } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sequence } from "../../src/pki/der.ts";
import type { Cipher } from "../../src/pki/enveloped-data.ts";
import { selfSigned } from "../../src/pki/issue.ts";
import { encodeName, parseName } from "../../src/pki/names.ts";
import { makeRequest } from "../../src/pki/request.ts";
import { makeScepRequest, messageTypes, type RequestType, readScepReply, type ScepReply } from "../../src/pki/scep.ts";
import { readSignedData, signData, verifySigned } from "../../src/pki/signed-data.ts";
import { type Certificate, newKey, readCertificate } from "../../src/pki/x509.ts";
import { deviceCa } from "../../src/server/certificates/device-ca/ca.ts";
import { type NewChallenge, newChallenge } from "../../src/server/certificates/device-ca/challenges.ts";
import {
  bindIdentity,
  identityByFingerprint,
  identityOfSignature,
  revokeIdentities,
  verifyIdentity,
} from "../../src/server/certificates/device-ca/identities.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { extensions } from "../../src/server/extensions.ts";
import { days, hours, minutes, seconds } from "../../src/server/platform/core/clock.ts";
import { withRunning } from "../../src/server/platform/core/running.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { newDir, openssl, startFake, writeKey } from "../support/ca-fakes.ts";
import { amount, bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost } from "../support/make.ts";
import { scepClients, scepEnroll } from "../support/scep-client.ts";
import { withSecondServer } from "../support/second-server.ts";

const SCEP = "/mdm/vendora/scep";
const name = parseName("/CN=svc identity/O=svc");
/** RSA keys take long to make, and these tests are not about them. */
const keys: Promise<KeyObject>[] = [];
const keyOf = (index: number): Promise<KeyObject> => (keys[index] ??= newKey());

const challengeOf = (t: TestApp, more: Partial<NewChallenge> = {}) =>
  newChallenge({ ...t.services, store: t.store }, { purpose: "test", team_id: null, ...more });

interface Enrolling {
  challenge?: string;
  key?: KeyObject;
  csr?: Buffer;
  type?: RequestType;
  id?: string;
  signer?: { certificate: Buffer; key: KeyObject };
  cipher?: Cipher;
  digest?: "sha1" | "sha256" | "sha512";
}

const authorityOf = async (t: TestApp): Promise<Certificate> =>
  readCertificate(Buffer.from(await (await t.raw(`${SCEP}?operation=GetCACert`)).arrayBuffer()));

async function messageOf(t: TestApp, given: Enrolling) {
  const key = given.key ?? (await keyOf(0));
  const certificate = selfSigned(name, key, randomBytes(8), t.clock.now());
  const signer = given.signer ?? { certificate, key };
  const transaction = { id: given.id ?? randomBytes(8).toString("hex"), nonce: randomBytes(16) };
  const message = makeScepRequest({
    type: given.type ?? messageTypes.pkcsReq,
    transaction,
    content: given.csr ?? makeRequest(name, key, given.challenge),
    signer: { ...signer, digest: given.digest ?? "sha256" },
    recipient: await authorityOf(t),
    cipher: given.cipher ?? "aes-128-cbc",
  });
  return { message, transaction, signer };
}

const send = (t: TestApp, message: Buffer, path = SCEP, type = "application/x-pki-message") =>
  t.raw(`${path}?operation=PKIOperation`, {
    method: "POST",
    headers: type === "" ? {} : { "content-type": type },
    body: new Uint8Array(message),
  });

async function enroll(t: TestApp, given: Enrolling): Promise<ScepReply> {
  const { message, transaction, signer } = await messageOf(t, given);
  const response = await send(t, message);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-pki-message"]);
  return readScepReply(Buffer.from(await response.arrayBuffer()), [await authorityOf(t)], transaction, signer);
}

const REFUSED = { status: "failure", reason: "badRequest" } as const;

async function issued(t: TestApp, given: Enrolling): Promise<Certificate> {
  const reply = await enroll(t, given);
  if (reply.status !== "success") return expect.unreachable(JSON.stringify(reply));
  expect(reply.certificates).toHaveLength(1);
  return reply.certificates[0]!;
}

const enrolled = async (t: TestApp, more: Partial<NewChallenge> = {}): Promise<Certificate> =>
  issued(t, { challenge: await challengeOf(t, more) });

/** Another server with the same store, in this process. */
const secondServer = (t: TestApp) => withRunning({ ...t.services, extensions });

describe.each(bothEngines)("the device CA on %s", (engine) => {
  it("issues a certificate for a challenge, once, and remembers for what", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t);
    const challenge = await challengeOf(t, { platform: "darwin", host_id: host.id, facts: { kind: "manual" } });
    const { parsed, der } = await issued(t, { challenge });
    const ca = await authorityOf(t);
    expect(parsed.verify(ca.parsed.publicKey) && parsed.checkIssued(ca.parsed)).toBe(true);
    expect([parsed.ca, parsed.keyUsage, parsed.subject]).toEqual([
      false,
      ["1.3.6.1.5.5.7.3.2"],
      "CN=svc identity\nO=svc",
    ]);
    const year = Date.parse(parsed.validTo) - Date.parse(parsed.validFrom);
    expect(year).toBe(days(365) + minutes(10));
    const identity = await verifyIdentity(t.services, der);
    expect(identity).toMatchObject({
      purpose: "test",
      platform: "darwin",
      host_id: host.id,
      facts: { kind: "manual" },
    });
    expect(BigInt(`0x${identity!.serial}`)).toBe(BigInt(`0x${parsed.serialNumber}`));
    expect(await enroll(t, { challenge, key: await keyOf(1) })).toEqual(REFUSED);
  });

  it("gives one certificate for a challenge that several requests use at the same time", async () => {
    const t = await startApp({ engine });
    const challenge = await challengeOf(t);
    const messages = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (index) => messageOf(t, { challenge, key: await keyOf(index % 3), id: `${index}` })),
    );
    const replies = await Promise.all(messages.map(({ message }) => send(t, message)));
    const ca = await authorityOf(t);
    const statuses = await Promise.all(
      replies.map(async (reply, index) => {
        const { transaction, signer } = messages[index]!;
        return readScepReply(Buffer.from(await reply.arrayBuffer()), [ca], transaction, signer).status;
      }),
    );
    expect(statuses.sort()).toEqual(["failure", "failure", "failure", "failure", "failure", "success"]);
    expect(await t.store.deviceIdentities.count()).toBe(1);
  });

  it("gives the same certificate to the same request for a day, whether or not the reply arrived", async () => {
    const t = await startApp({ engine });
    const challenge = await challengeOf(t);
    const again = { challenge, id: "a transaction" };
    const both = await Promise.all([issued(t, again), issued(t, again)]);
    expect(both[0].der).toEqual(both[1].der);
    t.clock.advance(hours(23));
    expect((await issued(t, again)).der).toEqual(both[0].der);
    expect(await enroll(t, { ...again, id: "another" })).toEqual(REFUSED);
    t.clock.advance(hours(2));
    expect(await enroll(t, again)).toEqual(REFUSED);
    // The transaction may be used again with another challenge.
    expect((await issued(t, { ...again, challenge: await challengeOf(t) })).der).not.toEqual(both[0].der);
  });

  it("is made once by servers that start at the same time", async () => {
    const t = await startApp({ engine });
    const made = await Promise.all([t.services, secondServer(t), secondServer(t)].map(deviceCa));
    expect(new Set(made.map(({ certificate }) => certificate.der.toString("hex"))).size).toBe(1);
    expect(await t.store.deviceCas.count()).toBe(1);
    const { parsed } = made[0]!.certificate;
    expect(parsed.ca && parsed.checkPrivateKey(made[0]!.key)).toBe(true);
  });

  it("renews identities of known hosts without a challenge, with the same subject", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t);
    const first = await enrolled(t, { platform: "darwin" });
    const key = await keyOf(3);
    const signer = { certificate: first.der, key: await keyOf(0) };
    const renewal = { key, signer, csr: makeRequest(name, key), type: messageTypes.renewalReq };
    // Nothing has used the identity so far.
    expect(await enroll(t, renewal)).toEqual(REFUSED);
    const identity = (await verifyIdentity(t.services, first.der))!;
    const device = { host_id: host.id, hardware_serial: "C02", hardware_uuid: "U-1" };
    expect(await bindIdentity({ store: t.store }, identity, device)).toBe(true);
    const second = await issued(t, renewal);
    expect(second.parsed.checkPrivateKey(key)).toBe(true);
    const renewed = await verifyIdentity(t.services, second.der);
    expect(renewed).toMatchObject({
      host_id: host.id,
      platform: "darwin",
      renews: identity.serial,
      hardware_serial: "C02",
    });
    await issued(t, { ...renewal, type: messageTypes.pkcsReq });
    const other = makeRequest(parseName("/CN=other"), key);
    expect(await enroll(t, { ...renewal, csr: other })).toEqual(REFUSED);
    expect(
      await enroll(t, { ...renewal, signer: { certificate: second.der, key: await keyOf(0) } }).catch(
        () => "unreadable",
      ),
    ).toBe("unreadable");
    await revokeIdentities({ ...t.services, store: t.store }, [identity.id]);
    await expect.poll(() => verifyIdentity(t.services, first.der)).toBeNull();
    expect(await enroll(t, renewal)).toEqual(REFUSED);
  });

  it("binds an identity to one device for ever", async () => {
    const t = await startApp({ engine });
    const [one, other] = [await makeHost(t), await makeHost(t)];
    const { der } = await enrolled(t);
    const identity = (await verifyIdentity(t.services, der))!;
    const device = { host_id: one.id, hardware_serial: "C02", hardware_uuid: "U-1" };
    const bind = (more: Partial<typeof device> = {}) =>
      bindIdentity({ store: t.store }, identity, { ...device, ...more });
    expect(await bind()).toBe(true);
    await expect.poll(async () => (await verifyIdentity(t.services, der))?.host_id).toBe(one.id);
    expect(await bind({ host_id: other.id })).toBe(false);
    expect(await bind({ hardware_serial: "C03" })).toBe(false);
    expect(await bind()).toBe(true);
    expect((await t.delete(`/hosts/${one.id}`)).status).toBe(200);
    expect(await bind({ host_id: other.id, hardware_serial: "C03" })).toBe(false);
    expect(await bind({ host_id: other.id })).toBe(true);
    const tied = await enrolled(t, { hardware_serial: "C09" });
    const second = (await verifyIdentity(t.services, tied.der))!;
    expect(await bindIdentity({ store: t.store }, second, device)).toBe(false);
  });
});

it("gives one certificate for a challenge that is used on two servers at the same time", async () => {
  const t = await startApp({ engine: "postgres" });
  await withSecondServer(t, async (there) => {
    for (const round of [1, 2, 3]) {
      const challenge = await challengeOf(t);
      const [one, other] = await Promise.all(
        [0, 1].map(async (index) => messageOf(t, { challenge, key: await keyOf(index), id: `${round} ${index}` })),
      );
      const replies = await Promise.all([send(t, one!.message), send(there, other!.message)]);
      const ca = await authorityOf(t);
      const read = async (reply: Response, { transaction, signer }: typeof one & object) =>
        readScepReply(Buffer.from(await reply.arrayBuffer()), [ca], transaction, signer).status;
      expect([await read(replies[0]!, one!), await read(replies[1]!, other!)].sort()).toEqual(["failure", "success"]);
      expect(await t.store.deviceIdentities.count()).toBe(round);
    }
  });
});

describe.each(rulesEngines)("the SCEP server on %s", (engine) => {
  it("reports what it supports, and refuses other operations", async () => {
    const t = await startApp({ engine });
    const caps = await t.raw(`${SCEP}?operation=GetCACaps`);
    expect(caps.headers.get("content-type")).toContain("text/plain");
    expect((await caps.text()).split("\n")).toEqual(
      expect.arrayContaining(["Renewal", "SHA-1", "SHA-256", "AES", "DES3", "SCEPStandard", "POSTPKIOperation"]),
    );
    for (const path of [SCEP, `${SCEP}/pkiclient.exe`]) {
      const ca = await t.raw(`${path}?operation=GetCACert&message=anything`);
      expect(ca.headers.get("content-type")).toBe("application/x-x509-ca-cert");
      expect((await t.raw(`${path}?operation=GetNextCACert`)).status).toBe(400);
      expect((await t.raw(path)).status).toBe(400);
    }
  });

  it("takes messages by GET with unescaped plus signs, and by POST with any type", async () => {
    const t = await startApp({ engine });
    for (const type of ["application/octet-stream", "application/x-pki-message", ""]) {
      const { message, transaction, signer } = await messageOf(t, { challenge: await challengeOf(t) });
      const response = await send(t, message, `${SCEP}/pkiclient.exe`, type);
      const reply = Buffer.from(await response.arrayBuffer());
      expect(readScepReply(reply, [await authorityOf(t)], transaction, signer).status, type).toBe("success");
    }
    const { message, transaction, signer } = await messageOf(t, { challenge: await challengeOf(t) });
    const text = message.toString("base64");
    expect(text).toContain("+");
    const response = await t.raw(`${SCEP}?operation=PKIOperation&message=${text}`);
    const reply = Buffer.from(await response.arrayBuffer());
    expect(readScepReply(reply, [await authorityOf(t)], transaction, signer).status).toBe("success");
  });

  it("answers in the cipher and digest of the request, and to throwaway keys of signers", async () => {
    const t = await startApp({ engine });
    for (const cipher of ["des-cbc", "des-ede3-cbc", "aes-128-cbc", "aes-256-cbc"] as const)
      for (const digest of ["sha1", "sha256"] as const)
        expect((await issued(t, { challenge: await challengeOf(t), cipher, digest })).isCa).toBe(false);
    const throwaway = await keyOf(1);
    const signer = { certificate: selfSigned(name, throwaway, randomBytes(8), t.clock.now()), key: throwaway };
    const certificate = await issued(t, { challenge: await challengeOf(t), signer });
    expect(certificate.parsed.checkPrivateKey(await keyOf(0))).toBe(true);
  });

  it("refuses what it cannot verify, always alike and at the same time", async () => {
    const t = await startApp({ engine });
    const small = await newKey(1024);
    const rc2 = await opensslEnvelope(t, "-rc2", ["-provider", "legacy", "-provider", "default"]);
    const good = makeRequest(name, await keyOf(0), await challengeOf(t));
    const spoiled = Buffer.from(good);
    spoiled[spoiled.length - 1]! ^= 1;
    const expired = await challengeOf(t, { lifetime: 1000 });
    t.clock.advance(2000);
    const bad: Record<string, Enrolling> = {
      "no challenge": {},
      "an empty challenge": { challenge: "" },
      "an unknown challenge": { challenge: "0".repeat(48) },
      "an expired challenge": { challenge: expired },
      "a small key": { challenge: await challengeOf(t), csr: makeRequest(name, small, await challengeOf(t)) },
      "a spoiled signature": { csr: spoiled },
      "no request": { csr: Buffer.from("hello") },
      "a renewal by an unknown key": { challenge: await challengeOf(t), type: messageTypes.renewalReq },
      "a poll": { csr: sequence(encodeName(name), encodeName(name)), type: messageTypes.certPoll },
    };
    const ca = await authorityOf(t);
    const sizes = new Set<number>();
    for (const [what, given] of Object.entries(bad)) {
      const { message, transaction, signer } = await messageOf(t, { ...given, id: "0123456789abcdef" });
      const before = t.clock.now();
      const response = await send(t, message);
      expect(t.clock.now() - before, what).toBe(300);
      const reply = Buffer.from(await response.arrayBuffer());
      sizes.add(reply.length);
      expect(response.status).toBe(200);
      expect(readScepReply(reply, [ca], transaction, signer), what).toEqual(REFUSED);
    }
    expect(sizes.size).toBe(1);
    // The algorithm is visible to everyone.
    const { transaction, signer } = rc2;
    const reply = Buffer.from(await (await send(t, rc2.message)).arrayBuffer());
    expect(readScepReply(reply, [ca], transaction, signer)).toEqual({ status: "failure", reason: "badAlg" });
    for (const garbage of ["", "hello", "0".repeat(1000)]) {
      const answer = await send(t, Buffer.from(garbage));
      expect(answer.status).toBe(200);
      const signed = readSignedData(Buffer.from(await answer.arrayBuffer()));
      expect(verifySigned(signed, () => ca.parsed.publicKey).attributes.size).toBeGreaterThan(4);
    }
    expect((await send(t, Buffer.alloc(200_000))).status).toBe(413);
    const many = await Promise.all(Array.from({ length: 100 }, () => send(t, Buffer.from("hello"))));
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200, 429]));
    expect(await t.store.deviceIdentities.count()).toBe(0);
  });

  /** A message whose content openssl has enveloped, with ciphers that are not supported here. */
  async function opensslEnvelope(t: TestApp, cipher: string, more: string[]) {
    const dir = newDir();
    await writeFile(join(dir, "ca.pem"), (await authorityOf(t)).parsed.toString());
    await writeFile(join(dir, "csr"), makeRequest(name, await keyOf(0), "x"));
    const encrypt = ["cms", "-encrypt", "-binary", "-in", "csr", "-outform", "DER", "-out", "sealed"];
    await openssl(dir, ...encrypt, cipher, ...more, "ca.pem");
    const envelope = await readFile(join(dir, "sealed"));
    const { message, transaction, signer } = await messageOf(t, {});
    const { attributes } = verifySigned(
      readSignedData(message),
      () => readCertificate(signer.certificate).parsed.publicKey,
    );
    const own = [...attributes].filter(([type]) => type.startsWith("2.16.840.1.113733"));
    const again = signData(
      envelope,
      { ...signer, digest: "sha256" },
      Object.fromEntries(own.map(([type, { raw }]) => [type, raw])),
    );
    return { message: again, transaction, signer };
  }

  it("issues a plain leaf, whatever the request asks for", async () => {
    const t = await startApp({ engine });
    const dir = newDir();
    const challenge = await challengeOf(t);
    await writeFile(
      join(dir, "config"),
      `[req]\nprompt=no\ndistinguished_name=dn\nattributes=attrs\nreq_extensions=ext\n[dn]\nCN=evil\n[attrs]\nchallengePassword=${challenge}\n` +
        "[ext]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nextendedKeyUsage=serverAuth,codeSigning\n" +
        "nameConstraints=permitted;DNS:example.com\nsubjectAltName=DNS:mac.example.com,email:ada@example.com,IP:10.0.0.1,otherName:1.3.6.1.4.1.311.20.2.3;UTF8:ada\n",
    );
    await writeKey(dir, "key");
    await openssl(dir, "req", "-new", "-key", "key", "-config", "config", "-outform", "DER", "-out", "csr");
    const certificate = await issued(t, { csr: await readFile(join(dir, "csr")) });
    await writeFile(join(dir, "leaf.pem"), certificate.parsed.toString());
    await writeFile(join(dir, "ca.pem"), (await authorityOf(t)).parsed.toString());
    const text = await openssl(dir, "x509", "-in", "leaf.pem", "-noout", "-text");
    expect(text).toContain("CA:FALSE");
    expect(text).toMatch(/Key Usage: critical\s+Digital Signature, Key Encipherment\n/);
    expect(text).toMatch(/Extended Key Usage: \n?\s*TLS Web Client Authentication\n/);
    expect(text).not.toContain("Name Constraints");
    expect(certificate.parsed.subjectAltName).toBe("DNS:mac.example.com, email:ada@example.com");
    const check = ["verify", "-attime", String(t.clock.now() / 1000), "-purpose", "sslclient", "-CAfile", "ca.pem"];
    expect(await openssl(dir, ...check, "leaf.pem")).toContain("OK");
  });

  it("survives mutated messages: no error of the server, and no certificate", async () => {
    const t = await startApp({ engine });
    const { message } = await messageOf(t, { challenge: await challengeOf(t) });
    const mutation = fc.oneof(
      fc.record({ kind: fc.constant("flip"), at: fc.nat(message.length - 1), by: fc.integer({ min: 1, max: 255 }) }),
      fc.record({ kind: fc.constant("cut"), at: fc.nat(message.length - 1), by: fc.nat(20) }),
      fc.record({ kind: fc.constant("insert"), at: fc.nat(message.length - 1), by: fc.integer({ min: 0, max: 255 }) }),
    );
    const apply = (bytes: Buffer, { kind, at, by }: { kind: string; at: number; by: number }): Buffer => {
      if (kind === "cut") return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + by)]);
      if (kind === "insert") return Buffer.concat([bytes.subarray(0, at), Buffer.from([by]), bytes.subarray(at)]);
      const changed = Buffer.from(bytes);
      if (at < changed.length) changed[at]! ^= by;
      return changed;
    };
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (mutations) => {
        const mutated = mutations.reduce(apply, message);
        fc.pre(!mutated.equals(message));
        // Slower than the limit on failures of one address.
        t.clock.advance(seconds(1));
        statuses.add((await send(t, mutated)).status);
      }),
      { numRuns: amount(2_000, 50_000) },
    );
    expect([...statuses]).toEqual([200]);
  });

  it("deletes old challenges and identities", async () => {
    const t = await startApp({ engine });
    await challengeOf(t);
    await enrolled(t);
    const run = () => runJob(t.services, "device_certificates");
    await run();
    expect([await t.store.scepChallenges.count(), await t.store.deviceIdentities.count()]).toEqual([2, 1]);
    t.clock.advance(days(2));
    await run();
    expect([await t.store.scepChallenges.count(), await t.store.deviceIdentities.count()]).toEqual([0, 1]);
    t.clock.advance(days(500));
    await run();
    expect(await t.store.deviceIdentities.count()).toBe(0);
  });
});

describe.each(rulesEngines)("identities on %s", (engine) => {
  it("are refused when foreign, revoked, early or late", async () => {
    const t = await startApp({ engine });
    const { der } = await enrolled(t);
    expect(await verifyIdentity(t.services, der)).not.toBeNull();
    expect(await verifyIdentity(t.services, der)).toBe(await verifyIdentity(t.services, der));
    const foreign = selfSigned(name, await keyOf(0), randomBytes(8), t.clock.now());
    expect(await verifyIdentity(t.services, foreign)).toBeNull();
    expect(await verifyIdentity(t.services, Buffer.from("hello"))).toBeNull();
    expect(await verifyIdentity(t.services, (await authorityOf(t)).der)).toBeNull();
    t.clock.advance(days(366));
    expect(await verifyIdentity(t.services, der)).toBeNull();
    t.clock.advance(-days(367));
    expect(await verifyIdentity(t.services, der)).toBeNull();
    t.clock.advance(days(1));
    const { id } = (await verifyIdentity(t.services, der))!;
    await revokeIdentities({ ...t.services, store: t.store }, [id]);
    await expect.poll(() => verifyIdentity(t.services, der)).toBeNull();
  });

  it("are found by a signature over exactly the body", async () => {
    const t = await startApp({ engine });
    const { der } = await enrolled(t);
    const key = await keyOf(0);
    const body = Buffer.from("<plist/>");
    const signer = { certificate: der, key, digest: "sha1" } as const;
    const signature = signData(body, signer, {}, { detached: true });
    const identity = await identityOfSignature(t.services, signature, body);
    expect(identity?.fingerprint).toBe((await identityByFingerprint(t, identity!.fingerprint))?.fingerprint);
    const refused: [Buffer, Buffer][] = [
      [signature, Buffer.from("<plist />")],
      [signData(body, signer), body],
      [signData(body, { ...signer, key: await keyOf(1) }, {}, { detached: true }), body],
      [Buffer.from("hello"), body],
      [signature.subarray(0, -1), body],
    ];
    for (const [given, content] of refused) expect(await identityOfSignature(t.services, given, content)).toBeNull();
    const foreign = selfSigned(name, key, randomBytes(8), t.clock.now());
    const theirs = signData(body, { ...signer, certificate: foreign }, {}, { detached: true });
    expect(await identityOfSignature(t.services, theirs, body)).toBeNull();
  });
});

const clients = scepClients();
describe.skipIf(clients.length === 0)("the SCEP server with clients of others", () => {
  it.each(clients)("$name enrolls, gets nothing for a used challenge, and its identity signs", async ({ path }) => {
    const t = await startApp();
    const front = await startFake(async ({ method, url, headers, body }) => {
      const type = headers["content-type"];
      const response = await t.raw(url.pathname + url.search, {
        method,
        ...(type === undefined ? {} : { headers: { "content-type": type } }),
        ...(method === "POST" ? { body: new Uint8Array(body) } : {}),
      });
      const content = Buffer.from(await response.arrayBuffer());
      return {
        status: response.status,
        headers: { "content-type": response.headers.get("content-type")! },
        body: content,
      };
    });
    // The clients compare times with the real clock.
    t.clock.advance(Date.now() - t.clock.now());
    const challenge = await challengeOf(t);
    const dir = newDir();
    const url = front.url + SCEP;
    await scepEnroll(path, dir, url, ["-challenge", challenge, "-cn", "a device"]);
    const certificate = new X509Certificate(await readFile(join(dir, "client.pem")));
    expect(certificate.subject).toContain("CN=a device");
    const der = Buffer.from(certificate.raw);
    expect(await verifyIdentity(t.services, der)).toMatchObject({ purpose: "test" });
    const key = createPrivateKey(await readFile(join(dir, "client.key")));
    const body = Buffer.from("<plist/>");
    const signature = signData(body, { certificate: der, key, digest: "sha256" }, {}, { detached: true });
    expect(await identityOfSignature(t.services, signature, body)).not.toBeNull();
    await expect(scepEnroll(path, newDir(), url, ["-challenge", challenge, "-cn", "another"])).rejects.toThrow();
    expect(await t.store.deviceIdentities.count()).toBe(1);
  });
});
