// Host identities of managed agents: certificates by SCEP, and requests that are signed with them.
import { constants, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readCertificate } from "../../../src/pki/x509.ts";
import { days } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { askForIdentity, fingerprintOf, SCEP, signedCall } from "../../support/host-identity.ts";
import { makeSession } from "../../support/make.ts";
import { addSecret, agentCall, makeManaged, SECRET } from "../../support/managed.ts";

const UUID = "4C4C4544-0042";
const subject = `/CN=${UUID}`;
const details = {
  hardware_uuid: UUID,
  hardware_serial: "SERIAL-1",
  hostname: "one.example.com",
  platform: "ubuntu",
  computer_name: "one",
  hardware_model: "M",
};
const enrollment = { enroll_secret: SECRET, ...details };

describe.each(bothEngines)("a host identity on %s", (engine) => {
  it("is got by SCEP, bound by an enrollment, required from then on, and renewed", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    expect(await (await t.raw(`${SCEP}?operation=GetCACaps`)).text()).toContain("POSTPKIOperation");
    const identity = (await askForIdentity(t, { secret: SECRET, subject }))!;
    expect(readCertificate(identity.certificate).parsed.subject).toBe(`CN=${UUID}`);
    const enrolled = await signedCall(t, identity, "/enroll", enrollment);
    expect(enrolled.status, JSON.stringify(enrolled.json)).toBe(200);
    const agent_node_key = enrolled.json.agent_node_key;
    const config = { agent_node_key };
    expect((await signedCall(t, identity, "/config", config)).status).toBe(200);
    expect((await signedCall(t, identity, "/config", config, { prefix: "/api/svc/orbit" })).status).toBe(200);
    expect((await agentCall(t, "/config", config)).status, "without a signature").toBe(401);

    const refused = await agentCall(t, "/enroll", enrollment);
    expect(refused.status).toBe(403);
    expect(JSON.stringify(refused.json)).toContain("the host has an identity");
    expect((await signedCall(t, identity, "/config", config)).status, "the key still counts").toBe(200);

    t.clock.advance(days(350));
    const renewed = (await askForIdentity(t, { subject, key: 1, identity }))!;
    expect(fingerprintOf(renewed)).not.toBe(fingerprintOf(identity));
    t.clock.advance(days(30));
    expect((await signedCall(t, identity, "/config", config)).status, "it has ended").toBe(401);
    expect((await signedCall(t, renewed, "/config", config)).status).toBe(200);
    const again = await signedCall(t, renewed, "/enroll", enrollment);
    expect(again.status, JSON.stringify(again.json)).toBe(200);
    expect(await t.store.hosts.count()).toBe(1);
    expect((await signedCall(t, renewed, "/config", config)).status, "there is another key now").toBe(401);

    const [host] = await t.store.hosts.list();
    const admin = t.as(await makeSession(t, 1));
    expect((await admin.delete(`/hosts/${host!.id}`)).status).toBe(200);
    const free = await agentCall(t, "/enroll", enrollment);
    expect(free.status, JSON.stringify(free.json)).toBe(200);
  });
});

describe.each(bothEngines)("a host identity with an elliptic key on %s", (engine) => {
  it.each(["p256", "p384"] as const)("%s is got, bound, and renewed by a signed request only", async (curve) => {
    const t = await startApp({ engine });
    await addSecret(t);
    const identity = (await askForIdentity(t, { secret: SECRET, subject, curve }))!;
    const { parsed } = readCertificate(identity.certificate);
    expect(parsed.publicKey.asymmetricKeyDetails?.namedCurve).toBe(curve === "p256" ? "prime256v1" : "secp384r1");
    const { status, json } = await signedCall(t, identity, "/enroll", enrollment);
    expect(status, JSON.stringify(json)).toBe(200);
    const config = { agent_node_key: json.agent_node_key };
    expect((await signedCall(t, identity, "/config", config)).status).toBe(200);
    expect((await agentCall(t, "/config", config)).status, "without a signature").toBe(401);
    const other = curve === "p256" ? "p384" : "p256";
    expect(await askForIdentity(t, { subject, identity, curve, proves: false }), "without proof").toBeNull();
    const stranger = (await askForIdentity(t, { secret: SECRET, subject: "/CN=OTHER", curve }))!;
    expect(await askForIdentity(t, { subject, identity: stranger, curve }), "of another machine").toBeNull();
    const renewed = (await askForIdentity(t, { subject, identity, curve: other }))!;
    expect((await signedCall(t, renewed, "/config", config)).status).toBe(200);
    const rsa = (await askForIdentity(t, { subject, identity: renewed, key: 1 }))!;
    expect(rsa.key.asymmetricKeyType).toBe("rsa");
    expect((await signedCall(t, rsa, "/config", config)).status).toBe(200);
    expect((await askForIdentity(t, { subject, identity: rsa, curve }))?.key.asymmetricKeyType).toBe("ec");
    expect(await t.store.hosts.count()).toBe(1);
  });
});

describe.each(rulesEngines)("requests that are signed on %s", (engine) => {
  const start = async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const identity = (await askForIdentity(t, { secret: SECRET, subject }))!;
    const { json } = await signedCall(t, identity, "/enroll", enrollment);
    return { t, identity, body: { agent_node_key: json.agent_node_key as string } };
  };

  it("are refused if the signature is not that of the whole request, by this host, at this time", async () => {
    const { t, identity, body } = await start();
    const other = await askForIdentity(t, { secret: SECRET, subject: "/CN=OTHER", key: 1 });
    const enrolled = await signedCall(t, other!, "/enroll", { ...enrollment, hardware_uuid: "OTHER" });
    expect(enrolled.status, JSON.stringify(enrolled.json)).toBe(200);
    const call = (options: Parameters<typeof signedCall>[4], by = identity) =>
      signedCall(t, by, "/config", body, options).then(({ status }) => status);
    expect(await call({})).toBe(200);
    expect(await call({ at: -240 })).toBe(200);
    expect(await call({ at: -400 }), "too old").toBe(401);
    expect(await call({ at: 400 }), "of the future").toBe(401);
    expect(await call({}, other!), "another host's").toBe(401);
    expect(await call({ keyId: fingerprintOf(other!) }), "another host's name").toBe(401);
    expect(await call({ keyId: "../x" })).toBe(401);
    const serial = readCertificate(identity.certificate).parsed.serialNumber;
    expect(await call({ keyId: serial }), "named by its serial number").toBe(200);
    expect(await call({ sent: JSON.stringify({ ...body, more: 1 }) }), "another body").toBe(400);
    const without = (name: string) => (headers: Record<string, string>) =>
      Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
    for (const name of ["signature", "signature-input", "content-digest"])
      expect(await call({ changed: without(name) }), name).toBe(401);
    const input = (change: (text: string) => string) => (headers: Record<string, string>) => ({
      ...headers,
      "signature-input": change(headers["signature-input"]!),
    });
    expect(await call({ changed: input((text) => text.replace(' "content-digest"', "")) })).toBe(401);
    expect(await call({ changed: input((text) => text.replace(/;created=\d+/, "")) })).toBe(401);
    expect(await call({ changed: input((text) => text.replace("rsa-v1_5-sha256", "none")) })).toBe(401);
    expect(await call({ changed: input((text) => `${text}, ${text}`) })).toBe(401);
    expect(await call({ changed: input((text) => "(".repeat(10_000) + text) })).toBe(401);
  });

  it("are refused with an algorithm for keys of another kind, or a signature in another form", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const identity = (await askForIdentity(t, { secret: SECRET, subject, curve: "p256" }))!;
    const { json } = await signedCall(t, identity, "/enroll", enrollment);
    const body = { agent_node_key: json.agent_node_key as string };
    const signedAs =
      (name: string, encoding: "der" | "ieee-p1363" = "ieee-p1363") =>
      (headers: Record<string, string>) => {
        const params = headers["signature-input"]!.slice("sig=".length).replace(/alg="[^"]+"/, `alg="${name}"`);
        const base = [
          '"@method": POST',
          '"@path": /api/v1/svc/agent/config',
          '"@query": ?',
          `"content-digest": ${headers["content-digest"]}`,
          `"@signature-params": ${params}`,
        ].join("\n");
        const value = sign("sha256", Buffer.from(base), { key: identity.key, dsaEncoding: encoding }).toString(
          "base64",
        );
        return { ...headers, "signature-input": `sig=${params}`, signature: `sig=:${value}:` };
      };
    const call = async (changed: (headers: Record<string, string>) => Record<string, string>) =>
      (await signedCall(t, identity, "/config", body, { changed })).status;
    expect(await call(signedAs("ecdsa-p256-sha256"))).toBe(200);
    expect(await call(signedAs("ecdsa-p256-sha256", "der")), "as in certificates").toBe(401);
    for (const name of ["ecdsa-p384-sha384", "rsa-v1_5-sha256", "rsa-pss-sha512", "constructor", ""])
      expect(await call(signedAs(name)), name).toBe(401);
  });

  it("may use the other algorithm of RFC 9421 for RSA keys", async () => {
    const { t, identity, body } = await start();
    const changed = (headers: Record<string, string>) => {
      const params = headers["signature-input"]!.slice("sig=".length).replace("rsa-v1_5-sha256", "rsa-pss-sha512");
      const base = [
        '"@method": POST',
        '"@path": /api/v1/svc/agent/config',
        '"@query": ?',
        `"content-digest": ${headers["content-digest"]}`,
        `"@signature-params": ${params}`,
      ].join("\n");
      const options = { key: identity.key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 };
      const value = sign("sha512", Buffer.from(base), options).toString("base64");
      return { ...headers, "signature-input": `sig=${params}`, signature: `sig=:${value}:` };
    };
    expect((await signedCall(t, identity, "/config", body, { changed })).status).toBe(200);
  });

  it("enroll only the machine of the identity, which only an enroll secret gives", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    expect(await askForIdentity(t, { secret: "wrong", subject })).toBeNull();
    expect(await askForIdentity(t, { subject })).toBeNull();
    expect(await askForIdentity(t, { secret: SECRET, subject: "/O=Example" })).toBeNull();
    expect(await askForIdentity(t, { secret: SECRET, subject: "/CN=a b" })).toBeNull();
    expect(await t.store.deviceIdentities.count()).toBe(0);
    const identity = (await askForIdentity(t, { secret: SECRET, subject: "/CN=4c4c4544-0042" }))!;
    const wrong = await signedCall(t, identity, "/enroll", { ...enrollment, hardware_uuid: "OTHER" });
    expect([wrong.status, wrong.json.errors[0].name]).toEqual([422, "hardware_uuid"]);
    expect((await signedCall(t, identity, "/enroll", { ...enrollment, enroll_secret: "wrong" })).status).toBe(401);
    const made = (await (await t.post("/enroll_tokens", {})).json()) as { token: string };
    expect(await askForIdentity(t, { secret: made.token, subject: "/CN=by-token" })).not.toBeNull();
    // Until a host uses it, another request for the same machine replaces it.
    const newer = (await askForIdentity(t, { secret: SECRET, subject: "/CN=4c4c4544-0042", key: 1 }))!;
    expect(await t.store.deviceIdentities.count(eq("hardware_uuid", "4c4c4544-0042"))).toBe(1);
    expect((await signedCall(t, newer, "/enroll", enrollment)).status, "in any letter case").toBe(200);
  });

  it("are not needed by hosts without an identity, which may get one later", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t, details);
    expect((await agent.call("/config")).status).toBe(200);
    const identity = (await askForIdentity(t, { secret: SECRET, subject }))!;
    expect((await agent.call("/config")).status, "it is not bound yet").toBe(200);
    const { status, json } = await signedCall(t, identity, "/enroll", enrollment);
    expect(status, JSON.stringify(json)).toBe(200);
    expect(await t.store.hosts.count()).toBe(1);
    agent.key = json.agent_node_key;
    expect((await agent.call("/config")).status).toBe(401);
    expect((await signedCall(t, identity, "/config", { agent_node_key: agent.key })).status).toBe(200);
  });
});
