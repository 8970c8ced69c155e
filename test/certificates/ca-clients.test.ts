// The clients of EST, the hosted authority, the challenge webhook and the directory's admin page, each with a
// replacement for the other side.
import { X509Certificate } from "node:crypto";
import forge from "node-forge";
import { describe, expect, it, vi } from "vitest";
import { fetchChallenge } from "../../src/server/certificates/ca/challenge-webhook.ts";
import { checkEst, simpleEnroll } from "../../src/server/certificates/ca/est.ts";
import { checkProfile, orderCertificate } from "../../src/server/certificates/ca/hosted-ca.ts";
import { fetchNdesChallenge } from "../../src/server/certificates/ca/ndes.ts";
import { authenticateMessage } from "../../src/server/certificates/ca/ntlm.ts";
import { fetchCertificates } from "../../src/server/certificates/ca/scep.ts";
import { readSigningRequest } from "../../src/server/certificates/ca/signing-request.ts";
import { CaError, type CaProblem } from "../../src/server/certificates/ca/upstream.ts";
import { systemClock } from "../../src/server/platform/core/clock.ts";
import { systemRandom } from "../../src/server/platform/core/random.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import {
  API_TOKEN,
  allowLocal,
  type Fake,
  makeCsr,
  OpensslCa,
  type Reply,
  startChallengeWebhook,
  startFake,
  startHostedCa,
} from "../support/ca-fakes.ts";
import { EST_PASSWORD, EST_USER, startEst } from "../support/est-server.ts";
import { NDES_CHALLENGE, type NdesServer, NTLM_DOMAIN, NTLM_PASSWORD, NTLM_USER, startNdes } from "../support/ndes.ts";
import { runningOf } from "../support/running.ts";

const withSettings = (settings: Settings) => ({
  settings,
  running: runningOf({ settings }),
  dryRun: null,
  clock: systemClock,
  random: systemRandom,
});
const services = withSettings(Settings.parse({ data_dir: "/nowhere", ...allowLocal }));
const SECRET_WORDS = "words of the other side";

async function refused(work: Promise<unknown>): Promise<CaError> {
  const error = await work.then(
    () => expect.unreachable("it was accepted"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CaError);
  expect((error as CaError).message).not.toContain(SECRET_WORDS);
  return error as CaError;
}

/** Failures of the other side that every client must handle. */
async function bearsAnything(fake: Fake, call: () => Promise<unknown>, refusal: CaProblem = "answer"): Promise<void> {
  const answers: [string, Reply, CaProblem[]][] = [
    ["a failure", { status: 500, body: SECRET_WORDS }, ["answer", "refused"]],
    ["an overload", { status: 503, body: SECRET_WORDS }, ["answer", "refused"]],
    ["a page", { body: `<html>${SECRET_WORDS}</html>`, headers: { "content-type": "text/html" } }, [refusal]],
    ["nothing", { body: "" }, [refusal]],
    ["garbage", { body: Buffer.from([0xff, 0, 0x80, 0x30, 0x80, 0x30]) }, [refusal]],
    ["too much", { body: Buffer.alloc(3 * 1024 * 1024, "a") }, ["answer"]],
    ["a redirect to itself", { status: 302, headers: { location: fake.url } }, ["answer"]],
    ["a redirect to the machine", { status: 307, headers: { location: "http://127.0.0.1:22/" } }, ["answer"]],
    ["a redirect to the cloud", { status: 302, headers: { location: "http://169.254.169.254/latest" } }, ["answer"]],
  ];
  for (const [what, reply, problems] of answers) {
    fake.answer = () => reply;
    const before = fake.requests.length;
    const { problem } = await refused(call());
    expect(problems, `${what}: ${problem}`).toContain(problem);
    // A redirect is not followed: no further request was sent.
    expect(fake.requests.length - before, what).toBe(1);
  }
  fake.answer = () => null;
  await fake.close();
  expect((await refused(call())).problem).toBe("unreachable");
}

describe("the EST client", () => {
  const request = async () => (await readSigningRequest(await makeCsr({ subject: "/CN=device-1" }))).der;

  it("gets its request signed, with any key, and with a label too", async () => {
    const ca = await OpensslCa.make();
    for (const [label, key] of [
      ["", "rsa:2048"],
      ["/devices", "ec"],
    ] as const) {
      const est = await startEst(ca, { label });
      await checkEst(services, est.estUrl);
      const csr = await readSigningRequest(await makeCsr({ subject: "/CN=device-1", key }));
      const given = { url: `${est.estUrl}/`, username: EST_USER, password: EST_PASSWORD };
      const { certificates } = await simpleEnroll(services, given, csr.der);
      const own = certificates.find(({ parsed }) => parsed.subject === "CN=device-1")!;
      expect(own.parsed.verify(new X509Certificate(await ca.certificate()).publicKey)).toBe(true);
      expect(own.parsed.publicKey.export({ type: "spki", format: "der" })).toEqual(csr.publicKey);
      await est.close();
    }
  });

  it("distinguishes wrong credentials and pending requests from refusals", async () => {
    const est = await startEst(await OpensslCa.make());
    const given = { url: est.estUrl, username: EST_USER, password: EST_PASSWORD };
    const der = await request();
    expect(await refused(simpleEnroll(services, { ...given, password: "wrong" }, der))).toMatchObject({
      problem: "credentials",
      status: 401,
    });
    expect(await refused(simpleEnroll(services, given, Buffer.from("no request")))).toMatchObject({
      problem: "refused",
      status: 400,
    });
    est.answer = () => ({ status: 202, headers: { "retry-after": "60" } });
    expect(await refused(simpleEnroll(services, given, der))).toMatchObject({ problem: "pending", status: 202 });
    await bearsAnything(est, () => simpleEnroll(services, given, der));
  });

  it("accepts cacerts only in the format of the RFC", async () => {
    const est = await startEst(await OpensslCa.make());
    const { answer } = est;
    await checkEst(services, est.estUrl);
    est.answer = async (asked) => ({
      ...(await answer(asked)),
      headers: { "content-type": "application/octet-stream" },
    });
    expect((await refused(checkEst(services, est.estUrl))).message).toContain("application/pkcs7-mime");
    est.answer = () => ({ headers: { "content-type": "application/pkcs7-mime" }, body: "not base64!" });
    expect((await refused(checkEst(services, est.estUrl))).message).toContain("base64");
    await bearsAnything(est, () => checkEst(services, est.estUrl));
  });
});

describe("the client of the hosted authority", () => {
  it("checks the profile, and distinguishes a wrong token, a wrong profile and an inactive one", async () => {
    const fake = await startHostedCa(await OpensslCa.make());
    const good = { url: fake.url, apiToken: API_TOKEN, profileId: "profile-1" };
    await checkProfile(services, good);
    expect((await refused(checkProfile(services, { ...good, apiToken: "x" }))).problem).toBe("credentials");
    expect((await refused(checkProfile(services, { ...good, profileId: "../x" }))).problem).toBe("profile");
    fake.profile.status = "Suspended";
    expect((await refused(checkProfile(services, good))).problem).toBe("profile");
    await bearsAnything(fake, () => checkProfile(services, good));
  });

  it("requests a certificate for a new key, and packs both for an Apple importer", {
    timeout: 600_000,
  }, async () => {
    const fake = await startHostedCa(await OpensslCa.make());
    const ca = { url: `${fake.url}/`, apiToken: API_TOKEN, profileId: "profile-1" };
    const order = { commonName: "ada@example.com", seatId: "seat-1", userPrincipalName: "ada@example.com" };
    const { certificate, serial, pkcs12 } = await orderCertificate(services, ca, order, "pkcs12-password");
    expect(certificate.parsed.subject).toBe("CN=ada@example.com");
    expect(serial).toBe(certificate.parsed.serialNumber);
    expect(JSON.parse(fake.requests[0]!.body.toString())).toMatchObject({
      profile: { id: "profile-1" },
      seat: { seat_id: "seat-1" },
      attributes: {
        subject: { common_name: "ada@example.com" },
        extensions: { san: { user_principal_names: ["ada@example.com"] } },
      },
    });
    const sealed = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(pkcs12.toString("binary")), "pkcs12-password");
    const bag = (type: string) => sealed.getBags({ bagType: type })[type]![0]!;
    const key = forge.pki.privateKeyToPem(bag(forge.pki.oids.pkcs8ShroudedKeyBag!).key!);
    const { createPrivateKey } = await import("node:crypto");
    expect(certificate.parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
    // The key was not sent: no request contains it or its parts.
    expect(fake.requests.map(({ body }) => body.toString()).join()).not.toContain("PRIVATE KEY");
    expect(() => forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(pkcs12.toString("binary")), "wrong")).toThrow();

    await orderCertificate(services, ca, { commonName: "host", seatId: "s" }, "p");
    expect(JSON.parse(fake.requests.at(-1)!.body.toString()).attributes).toEqual({ subject: { common_name: "host" } });
  });

  it("passes on the service's codes but not its texts, and accepts no certificate of another key", {
    timeout: 600_000,
  }, async () => {
    const ca = await OpensslCa.make();
    const fake = await startHostedCa(ca);
    const given = { url: fake.url, apiToken: API_TOKEN, profileId: "profile-1" };
    const order = () => orderCertificate(services, given, { commonName: "x", seatId: "s" }, "p");
    expect(
      (await refused(orderCertificate(services, { ...given, apiToken: "x" }, { commonName: "x", seatId: "s" }, "p")))
        .problem,
    ).toBe("credentials");
    fake.answer = () => ({
      status: 400,
      body: JSON.stringify({
        errors: [
          { code: "seat_not_found", message: SECRET_WORDS },
          { code: `<b>${SECRET_WORDS}`, message: "" },
        ],
      }),
    });
    expect((await refused(order())).message).toContain("seat_not_found");
    const other = await ca.sign((await readSigningRequest(await makeCsr())).der);
    fake.answer = () => ({
      status: 201,
      body: JSON.stringify({ serial_number: "0A", delivery_format: "x509", certificate: other }),
    });
    expect((await refused(order())).message).toContain("another key");
    fake.answer = () => ({
      status: 201,
      body: JSON.stringify({ serial_number: "xyz", delivery_format: "x509", certificate: other }),
    });
    expect((await refused(order())).problem).toBe("answer");
    await bearsAnything(fake, order, "refused");
  });
});

describe("the client of the challenge webhook", () => {
  it("sends the expected request, and uses the reply's body as the challenge", async () => {
    const fake = await startChallengeWebhook("hook", "hook-password");
    const given = {
      scepUrl: "https://scep.example.com/scep",
      challengeUrl: `${fake.url}/hook`,
      username: "hook",
      password: "hook-password",
    };
    expect(await fetchChallenge(services, given)).toBe("challenge-1");
    expect(await fetchChallenge(services, given)).toBe("challenge-2");
    expect(JSON.parse(fake.requests[0]!.body.toString())).toEqual({
      webhook: { id: 1, name: "SCEPChallenge", webhookEvent: "SCEPChallenge", eventTimestamp: expect.any(Number) },
      event: {
        scepServerUrl: "https://scep.example.com/scep",
        payloadIdentifier: expect.stringMatching(/^[0-9a-f-]{36}$/),
        payloadTypes: ["com.apple.security.scep"],
      },
    });
    expect((await refused(fetchChallenge(services, { ...given, password: "x" }))).problem).toBe("credentials");
    await bearsAnything(fake, () => fetchChallenge(services, given));
  });
});

describe("the client of the directory's admin page", () => {
  const start = async (): Promise<NdesServer> => startNdes(Buffer.alloc(0));
  const ask = ({ adminUrl }: NdesServer, username = `${NTLM_DOMAIN}\\${NTLM_USER}`, password = NTLM_PASSWORD) =>
    fetchNdesChallenge(services, { adminUrl, username, password });

  it("signs in with NTLM on one connection, and reads the page in each format", async () => {
    const fake = await start();
    for (const encoding of ["utf-16le with mark", "utf-16le", "utf-16be", "utf-8"] as const) {
      fake.encoding = encoding;
      expect(await ask(fake), encoding).toBe(NDES_CHALLENGE);
    }
    // Each time two requests on one connection, and no password in them.
    expect(fake.requests.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
    const sent = fake.requests.map(({ headers }) => Buffer.from(headers.authorization!.slice(5), "base64"));
    for (const message of sent)
      for (const encoding of ["latin1", "utf16le"] as const)
        expect(message.includes(Buffer.from(NTLM_PASSWORD, encoding))).toBe(false);
  });

  it("accepts a user without a domain", async () => {
    const fake = await start();
    expect(await ask(fake, NTLM_USER)).toBe(NDES_CHALLENGE);
  });

  it("computes the response of [MS-NLMP] 4.2.4, with the server's time if it is sent", () => {
    const hex = (text: string) => Buffer.from(text.replace(/\s/g, ""), "hex");
    const pairs = "02000c0044006f006d00610069006e00 01000c00530065007200760065007200";
    const given = {
      serverChallenge: hex("0123456789abcdef"),
      clientChallenge: hex("aaaaaaaaaaaaaaaa"),
      now: Date.UTC(1601, 0, 1),
      domain: "Domain",
      username: "User",
      passwordHash: hex("a4f49c406510bdcab6824ee7c30fd852"),
    };
    const message = authenticateMessage({ ...given, targetInfo: hex(`${pairs} 00000000`) });
    const field = (from: Buffer, at: number) => {
      const start = from.readUInt32LE(at + 4);
      return from.subarray(start, start + from.readUInt16LE(at)).toString("hex");
    };
    expect(field(message, 12)).toBe("86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa");
    expect(field(message, 20).slice(0, 32)).toBe("68cd0ab851e51c96aabc927bebef6a1c");
    const time = "0090d336b734c301";
    const timed = authenticateMessage({ ...given, targetInfo: hex(`${pairs} 0700 0800 ${time} 00000000`) });
    expect(field(timed, 12)).toBe("00".repeat(24));
    expect(field(timed, 20).slice(48, 64)).toBe(time);
  });

  it("uses a new challenge each time, and does not fall back to version 1", async () => {
    const fake = await start();
    for (let i = 0; i < 20; i++) await ask(fake);
    const messages = fake.requests.flatMap(({ headers }) => {
      const message = Buffer.from(headers.authorization!.slice(5), "base64");
      return message.readUInt32LE(8) === 3 ? [message] : [];
    });
    const challenges = messages.map((message) => {
      const nt = message.readUInt32LE(24);
      return message.subarray(nt + 32, nt + 40).toString("hex");
    });
    expect(new Set(challenges).size).toBe(20);
    // The challenge of a server that only supports version 1: no target information.
    const old = Buffer.alloc(48);
    old.write("NTLMSSP\0", 0, "latin1");
    old.writeUInt32LE(2, 8);
    old.writeUInt32LE(0x00008201, 20);
    fake.requests.length = 0;
    fake.answer = () => ({ status: 401, headers: { "www-authenticate": `NTLM ${old.toString("base64")}` } });
    expect((await refused(ask(fake))).problem).toBe("answer");
    expect(fake.requests).toHaveLength(1);
  });

  it("distinguishes a wrong password, a full cache, a missing right and other errors", async () => {
    const fake = await start();
    expect((await refused(ask(fake, `${NTLM_DOMAIN}\\${NTLM_USER}`, "wrong"))).problem).toBe("credentials");
    expect((await refused(ask(fake, `${NTLM_DOMAIN}\\Nobody`))).problem).toBe("credentials");
    for (const [page, problem] of [
      ["full", "full"],
      ["no permission", "permission"],
      ["other", "answer"],
    ] as const) {
      fake.page = page;
      expect((await refused(ask(fake))).problem, page).toBe(problem);
    }
  });

  it("handles an invalid offer, and a page without a sign-in", async () => {
    const fake = await start();
    for (const header of [
      ["Negotiate"],
      ["Basic realm=x"],
      ["NTLM TlRMTVNTUAACAAAA"],
      [`NTLM ${Buffer.alloc(200, 0xff).toString("base64")}`],
    ]) {
      fake.answer = () => ({ status: 401, headers: { "www-authenticate": header } });
      expect((await refused(ask(fake))).problem, header[0]).toBe("answer");
    }
    fake.answer = () => ({ status: 403 });
    expect((await refused(ask(fake))).problem).toBe("permission");
    await bearsAnything(fake, () => ask(fake));
  });
});

it("none of them connects to this machine or its network unless that is allowed", async () => {
  const fake = await startFake(() => ({ body: "x" }));
  const strict = withSettings(Settings.parse({ data_dir: "/nowhere" }));
  for (const url of [
    fake.url,
    fake.url.replace("127.0.0.1", "localhost"),
    "http://169.254.169.254/x",
    "http://[::1]/x",
  ]) {
    const calls = [
      () => checkEst(strict, url),
      () => checkProfile(strict, { url, apiToken: "x", profileId: "x" }),
      () => fetchChallenge(strict, { scepUrl: url, challengeUrl: url, username: "u", password: "p" }),
      () => fetchNdesChallenge(strict, { adminUrl: url, username: "u", password: "p" }),
    ];
    for (const call of calls) expect((await refused(call())).problem, url).toBe("blocked");
  }
  expect(fake.requests).toEqual([]);
});

it("none of them waits forever", async () => {
  const whole = AbortSignal.timeout.bind(AbortSignal);
  const asked: number[] = [];
  const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    asked.push(ms);
    return whole(100);
  });
  const fake = await startFake(() => null);
  const { url } = fake;
  const calls = [
    () => checkEst(services, url),
    () => checkProfile(services, { url, apiToken: "x", profileId: "x" }),
    () => fetchChallenge(services, { scepUrl: url, challengeUrl: url, username: "u", password: "p" }),
    () => fetchNdesChallenge(services, { adminUrl: url, username: "u", password: "p" }),
    () => fetchCertificates(services, url),
  ];
  for (const call of calls)
    expect(await refused(call())).toMatchObject({
      problem: "unreachable",
      message: expect.stringContaining("in time"),
    });
  expect(Math.max(...asked)).toBe(20_000);
  timeout.mockRestore();
});
