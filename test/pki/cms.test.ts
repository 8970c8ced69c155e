import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable, readDer, sequence } from "../../src/pki/der.ts";
import { contentKey, envelop, openEnvelope } from "../../src/pki/enveloped-data.ts";
import { selfSigned } from "../../src/pki/issue.ts";
import { parseName } from "../../src/pki/names.ts";
import { readSignedData, type SignedData, signData, verifySigned } from "../../src/pki/signed-data.ts";
import { cmsIn } from "../../src/pki/smime.ts";
import { newKey, readCertificate } from "../../src/pki/x509.ts";
import { newDir, openssl } from "../support/ca-fakes.ts";
import { amount } from "../support/engines.ts";

const now = Date.now();
const trustAll = (der: Buffer) => new X509Certificate(der).publicKey;

/** A folder with a key and a certificate of openssl's: me.key, me.pem. */
async function opensslSigner(key: readonly string[]) {
  const dir = newDir();
  await openssl(
    dir,
    ...["req", "-x509", "-newkey", ...key, "-nodes", "-keyout", "me.key", "-out", "me.pem", "-days", "30"],
    ...["-subj", "/CN=device/O=svc"],
  );
  return { dir, certificate: Buffer.from(new X509Certificate(await readFile(join(dir, "me.pem"))).raw) };
}

describe("enveloped data against openssl", () => {
  it("opens envelopes of openssl, with each cipher, and the other way round", async () => {
    const dir = newDir();
    const key = await newKey();
    const certificate = selfSigned(parseName("/CN=me"), key, Buffer.from([1]), now);
    await writeFile(join(dir, "me.pem"), new X509Certificate(certificate).toString());
    await writeFile(join(dir, "me.key"), key.export({ type: "pkcs8", format: "pem" }));
    await writeFile(join(dir, "plain"), "what is to be kept");
    const me = readCertificate(certificate);
    for (const cipher of ["aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "des-ede3-cbc", "des-cbc"] as const) {
      const legacy = cipher === "des-cbc" ? ["-provider", "legacy", "-provider", "default"] : [];
      const encrypt = ["cms", "-encrypt", "-binary", "-in", "plain", "-outform", "DER", `-${cipher}`, ...legacy];
      await openssl(dir, ...encrypt, "-out", "sealed", "me.pem");
      const opened = openEnvelope(await readFile(join(dir, "sealed")), me, key);
      expect({ ...opened, content: opened.content.toString() }).toEqual({ content: "what is to be kept", cipher });
      // In a stream, lengths are indefinite, and the content consists of parts.
      await openssl(dir, ...encrypt, "-stream", "-out", "streamed", "me.pem");
      const streamed = openEnvelope(await readFile(join(dir, "streamed")), me, key);
      expect(streamed.content.toString(), cipher).toBe("what is to be kept");
      await writeFile(join(dir, "ours"), envelop(Buffer.from("for openssl"), me, cipher));
      const decrypt = ["cms", "-decrypt", "-inform", "DER", "-in", "ours", "-inkey", "me.key"];
      expect(await openssl(dir, ...decrypt, ...legacy)).toBe("for openssl");
    }
  });

  it("opens an S/MIME file, as portals send tokens", async () => {
    const dir = newDir();
    const key = await newKey();
    const certificate = selfSigned(parseName("/CN=me"), key, Buffer.from([1]), now);
    await writeFile(join(dir, "me.pem"), new X509Certificate(certificate).toString());
    await writeFile(join(dir, "token"), 'Content-Type: text/plain\r\n\r\n{"consumer_key":"CK"}');
    const encrypt = ["smime", "-encrypt", "-aes256", "-in", "token", "-out", "token.p7m"];
    await openssl(dir, ...encrypt, "-subject", "a token", "me.pem");
    const file = await readFile(join(dir, "token.p7m"));
    expect(file.toString()).toContain("smime-type=enveloped-data");
    const content = openEnvelope(cmsIn(file), readCertificate(certificate), key).content.toString();
    expect(content).toContain('{"consumer_key":"CK"}');
    expect(cmsIn(cmsIn(file))).toEqual(cmsIn(file));
    expect(() => cmsIn(Buffer.from("Content-Type: text/html\r\n\r\n<html></html>"))).toThrow("not an S/MIME message");
  });

  it("uses the fallback for a block without a padded key, and never a distinguishable error", () => {
    const block = (head: number[], filler: number, key: Buffer) =>
      Buffer.concat([
        Buffer.from(head),
        Buffer.alloc(256 - head.length - key.length - 1, filler),
        Buffer.from([0]),
        key,
      ]);
    const key = Buffer.alloc(16, 7);
    const fallback = Buffer.alloc(16, 8);
    expect(contentKey(block([0, 2], 1, key), 16, fallback)).toEqual(key);
    for (const bad of [block([0, 1], 1, key), block([1, 2], 1, key), block([0, 2], 0, key)])
      expect(contentKey(bad, 16, fallback)).toEqual(fallback);
    expect(contentKey(block([0, 2], 1, Buffer.alloc(24, 7)), 16, fallback)).toEqual(fallback);
  });
});

describe("detached signatures", () => {
  const verifyDetached = (signature: Buffer, content: Buffer, keyOf: (certificate: Buffer) => KeyObject | null) =>
    verifySigned(readSignedData(signature), keyOf, content);
  const body = Buffer.from("<plist>the exact bytes\r\n</plist>\n");
  const keys: [string, string[]][] = [
    ["RSA", ["rsa:2048"]],
    ["elliptic curve", ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]],
  ];

  it.each(keys)("of openssl are verified, with a key of type %s, in every form", async (_, key) => {
    const { dir, certificate } = await opensslSigner(key);
    await writeFile(join(dir, "body"), body);
    const forms = [
      ["-md", "sha1"],
      ["-md", "sha256"],
      ["-md", "sha512"],
      ["-md", "sha256", "-noattr"],
      ["-md", "sha256", "-keyid"],
    ];
    for (const form of forms) {
      const sign = ["cms", "-sign", "-binary", "-in", "body", "-signer", "me.pem", "-inkey", "me.key"];
      await openssl(dir, ...sign, "-outform", "DER", "-out", "signature", ...form);
      const signature = await readFile(join(dir, "signature"));
      const verified = verifyDetached(signature, body, trustAll);
      expect(verified.certificate, form.join(" ")).toEqual(certificate);
      expect(verified.digest).toBe(form[1]);
      const changed = Buffer.from(body);
      changed[8]! ^= 1;
      expect(() => verifyDetached(signature, changed, trustAll)).toThrow();
      expect(() => verifyDetached(signature, body, () => null)).toThrow("not accepted");
      expect(() => verifyDetached(signature, body, () => createPublicKey(other))).toThrow("the signature is wrong");
    }
  });
  const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

  it("of ours are verified by openssl, and attached ones with their chain", async () => {
    for (const [, key] of keys) {
      const { dir, certificate } = await opensslSigner(key);
      const signer = {
        certificate,
        key: createPrivateKey(await readFile(join(dir, "me.key"))),
        digest: "sha256",
      } as const;
      await writeFile(join(dir, "body"), body);
      await writeFile(join(dir, "detached"), signData(body, signer, {}, { detached: true }));
      const verify = ["cms", "-verify", "-binary", "-inform", "DER", "-CAfile", "me.pem", "-purpose", "any"];
      const trusted = [...verify, "-partial_chain"];
      expect(await openssl(dir, ...trusted, "-in", "detached", "-content", "body")).toBe(body.toString());
      const extra = selfSigned(parseName("/CN=chain"), other, Buffer.from([3]), now);
      const attached = signData(body, { ...signer, chain: [extra] }, { "1.2.3.4": printable("19") });
      await writeFile(join(dir, "attached"), attached);
      expect(await openssl(dir, ...trusted, "-in", "attached")).toBe(body.toString());
      expect(readSignedData(attached).certificates).toEqual([certificate, extra]);
    }
  });

  it("must be the only one, by a certificate inside", async () => {
    const { dir } = await opensslSigner(["rsa:2048"]);
    await writeFile(join(dir, "body"), body);
    const sign = ["cms", "-sign", "-binary", "-in", "body", "-signer", "me.pem", "-inkey", "me.key", "-outform", "DER"];
    await openssl(dir, ...sign, "-out", "none", "-nocerts");
    const none = await readFile(join(dir, "none"));
    expect(() => verifyDetached(none, body, trustAll)).toThrow("not accepted");
    await openssl(
      dir,
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-keyout",
      "b.key",
      "-out",
      "b.pem",
      "-subj",
      "/CN=b",
    );
    await openssl(dir, ...sign, "-signer", "b.pem", "-inkey", "b.key", "-out", "two");
    const two = await readFile(join(dir, "two"));
    expect(readSignedData(two).signerInfos).toHaveLength(2);
    expect(() => verifyDetached(two, body, trustAll)).toThrow("one signer");
  });

  it("survive no change of a byte that they cover, and never throw anything unexpected", async () => {
    const key = await newKey();
    const certificate = selfSigned(parseName("/CN=me"), key, Buffer.from([1]), now);
    const signature = signData(body, { certificate, key, digest: "sha256" }, {}, { detached: true });
    const { publicKey } = new X509Certificate(certificate);
    const accepts = (bytes: Buffer) => {
      try {
        return verifyDetached(bytes, body, (der) => (der.equals(certificate) ? publicKey : null)).certificate;
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        return null;
      }
    };
    expect(accepts(signature)).toEqual(certificate);
    fc.assert(
      fc.property(fc.nat(signature.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const bytes = Buffer.from(signature);
        bytes[at]! ^= change;
        // What a change leaves valid is the same signature by the same certificate.
        expect([null, certificate]).toContainEqual(accepts(bytes));
      }),
      { numRuns: amount(500, 20_000) },
    );
  });
});

describe("attached signatures", () => {
  const make = async () => {
    const key = await newKey();
    const certificate = selfSigned(parseName("/CN=me"), key, Buffer.from([1]), now);
    return { key, certificate, keyOf: (der: Buffer) => (der.equals(certificate) ? createPublicKey(key) : null) };
  };

  it("are verified only for exactly the given content, by a trusted signer", async () => {
    const { key, certificate, keyOf } = await make();
    const data = readSignedData(signData(Buffer.from("mine"), { certificate, key, digest: "sha256" }));
    expect(verifySigned(data, keyOf).attributes.size).toBe(2);
    const changed = (change: Partial<SignedData>) => () => verifySigned({ ...data, ...change }, keyOf);
    expect(changed({ content: Buffer.from("thine") })).toThrow("not what was signed");
    expect(changed({ content: null })).toThrow("no content");
    expect(() => verifySigned(data, () => null)).toThrow("not accepted");
    expect(changed({ signerInfos: [...data.signerInfos, ...data.signerInfos] })).toThrow("one signer");
    expect(changed({ signerInfos: [] })).toThrow("one signer");
    expect(changed({ type: Buffer.from("0603550403", "hex") })).toThrow("another");
  });

  it("of attributes do not pass for signatures of content that looks like attributes", async () => {
    const { dir, certificate } = await opensslSigner(["rsa:2048"]);
    await writeFile(join(dir, "body"), "content");
    const sign = ["cms", "-sign", "-binary", "-nodetach", "-in", "body", "-signer", "me.pem", "-inkey", "me.key"];
    await openssl(dir, ...sign, "-outform", "DER", "-out", "signed");
    const data = readSignedData(await readFile(join(dir, "signed")));
    const info = data.signerInfos[0]!;
    const attributes = info.children[3]!;
    const forged: SignedData = {
      ...data,
      content: Buffer.concat([Buffer.from([0x31]), attributes.raw.subarray(1)]),
      signerInfos: [readDer(sequence(...info.children.filter((one) => one !== attributes).map(({ raw }) => raw)))],
    };
    expect(verifySigned(data, trustAll).certificate).toEqual(certificate);
    expect(() => verifySigned(forged, trustAll)).toThrow("could be attributes");
  });
});
