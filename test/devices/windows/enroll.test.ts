// Enrollment of Windows devices: discovery, policy, certificates, and refusals.
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { request as httpsRequest } from "node:https";
import { toNodeHandler } from "h3/node";
import { generate } from "selfsigned";
import { describe, expect, it } from "vitest";
import { parseName } from "../../../src/pki/names.ts";
import { makeRequest } from "../../../src/pki/request.ts";
import { signData } from "../../../src/pki/signed-data.ts";
import { newKey } from "../../../src/pki/x509.ts";
import { createApp } from "../../../src/server/app.ts";
import { certificateIn } from "../../../src/server/platform/core/http/client-certificate.ts";
import { chooseAddress, listen } from "../../../src/server/platform/process/listen.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { readDiscovered, writeDiscover, writeGetPolicies } from "../../../src/soap/discovery.ts";
import { readEnvelope } from "../../../src/soap/envelope.ts";
import { faultIn } from "../../../src/soap/fault.ts";
import { actions, requestTypes, tokenTypes, valueTypes } from "../../../src/soap/names.ts";
import { find, parameterOf } from "../../../src/soap/provisioning.ts";
import { readSyncml } from "../../../src/syncml/read.ts";
import { syncCommand } from "../../../src/syncml/value.ts";
import { writeSyncml } from "../../../src/syncml/write.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeManaged } from "../../support/managed.ts";
import {
  deviceKey,
  enrollWindows,
  factsOf,
  MANAGEMENT,
  managedWindows,
  requestToken,
  soapCall,
  turnOnWindowsMdm,
  userToken,
} from "../../support/windows-device.ts";

const DISCOVERY = "/EnrollmentServer/Discovery.svc";
const asked = { email: "", version: "5.0", deviceType: "CIMClient_Windows", authPolicies: ["OnPremise", "Federated"] };
const discover = (t: TestApp, path = DISCOVERY, more = {}) =>
  soapCall(t, path, { action: actions.discover, body: writeDiscover({ ...asked, ...more }) });

describe.each(bothEngines)("a Windows device on %s", (engine) => {
  it("finds its way from discovery to its provisioning document", async () => {
    const t = await startApp({ engine });
    await turnOnWindowsMdm(t);
    const agent = await makeManaged(t, { platform: "windows" });
    const probe = await t.raw(DISCOVERY);
    expect([probe.status, await probe.text()]).toEqual([200, ""]);
    for (const path of [DISCOVERY, "/api/mdm/windows/discovery"]) {
      const reply = await discover(t, path);
      expect([reply.action, reply.relatesTo]).toEqual([actions.discovered, "urn:uuid:1"]);
      const isOfUser = path === DISCOVERY;
      expect(readDiscovered(reply.content)).toEqual({
        authPolicy: isOfUser ? "Federated" : "OnPremise",
        version: "4.0",
        policyUrl: "https://svc.example.com/api/mdm/windows/policy",
        enrollmentUrl: "https://svc.example.com/api/mdm/windows/enroll",
        authenticationUrl: isOfUser ? "https://svc.example.com/api/mdm/windows/auth" : null,
      });
    }
    const token = userToken(agent.key);
    const policies = await soapCall(t, "/api/mdm/windows/policy", {
      action: actions.getPolicies,
      body: writeGetPolicies(),
      token,
    });
    expect([policies.action, policies.content.name]).toEqual([actions.policies, "GetPoliciesResponse"]);

    const device = await enrollWindows(t, token);
    const { document, certificate } = device;
    const ca = (await t.store.deviceCas.first({}))!;
    const issued = new X509Certificate(certificate);
    expect(issued.verify(new X509Certificate(Buffer.from(ca.certificate, "base64")).publicKey)).toBe(true);
    const own = find(document, "CertificateStore", "My", "User")!.inner[0]!;
    expect(own.type).toBe(issued.fingerprint.replaceAll(":", ""));
    const application = document.find(({ type }) => type === "APPLICATION")!;
    expect([parameterOf(application, "APPID"), parameterOf(application, "ADDR")]).toEqual([
      "w7",
      `https://svc.example.com${MANAGEMENT}`,
    ]);
    expect(parameterOf(application, "SSLCLIENTCERTSEARCHCRITERIA")).toBe(
      `Subject=${encodeURIComponent(issued.subject)}&Stores=MY%5CUser`,
    );
    expect(parameterOf(find(document, "DMClient", "Provider", "svc", "Poll"), "NumberOfFirstRetries")).toBe("8");
    expect((await device.start()).status).toBe("212");

    const { host } = (await (await t.get(`/hosts/${device.hostId}`)).json()) as { host: Record<string, unknown> };
    expect(host).toMatchObject({
      uuid: agent.uuid,
      mdm: { enrollment_status: "On (manual)", name: "svc", connected_to_svc: true },
    });
    const [activity] = await t.store.activities.list({ where: eq("type", "mdm_enrolled") });
    expect(activity!.details).toMatchObject({
      mdm_platform: "microsoft",
      platform: "windows",
      installed_from_dep: false,
    });
  });

  it("renews its certificate with the old one, which ends when the new one is used", async () => {
    const t = await startApp({ engine });
    const { device } = await managedWindows(t);
    const signer = { certificate: device.certificate, key: await deviceKey(), digest: "sha256" as const };
    const key = await newKey();
    const renewal = (content: Buffer, more = {}) => ({
      valueType: valueTypes.pkcs7,
      text: signData(content, { ...signer, ...more }).toString("base64"),
    });
    const request = makeRequest(parseName("/CN=x"), key);
    const renew = (token = renewal(request), facts: Record<string, string> = device.facts) =>
      requestToken(t, undefined, facts, token, requestTypes.renew);
    const { document } = await renew();
    expect(
      document!.map(({ type }) => type),
      "nothing but certificates",
    ).toEqual(["CertificateStore"]);
    const next = Buffer.from(
      parameterOf(find(document!, "CertificateStore", "My", "User")!.inner[0]!, "EncodedCertificate")!,
      "base64",
    );
    const damaged = renewal(request);
    const bytes = Buffer.from(damaged.text, "base64");
    bytes[bytes.length - 5]! ^= 1;
    const other = await managedWindows(t);
    const refused = [
      await renew({ ...damaged, text: bytes.toString("base64") }),
      await renew(renewal(Buffer.from("no request"))),
      await renew(renewal(request), other.device.facts),
    ];
    expect(refused.map(({ fault }) => fault?.code)).toEqual([
      "CertificateRequest",
      "CertificateRequest",
      "Authorization",
    ]);
    const second = await renew(renewal(request, { certificate: next, key }));
    expect(second.fault).toBeNull();
    expect((await renew()).fault?.code, "the new one was used").toBe("CertificateRequest");
  });
});

describe("a Windows device that is refused gets a fault with the reason", () => {
  it("while device management is turned off", async () => {
    const t = await startApp();
    expect(faultIn(await discover(t))).toMatchObject({ code: "EnrollmentServer" });
  });

  it("for messages that are wrong", async () => {
    const t = await startApp();
    await turnOnWindowsMdm(t);
    for (const body of ["", "<a/>", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>']) {
      const response = await t.raw(DISCOVERY, { method: "POST", body });
      expect(response.status).toBe(400);
      expect(faultIn(readEnvelope(Buffer.from(await response.arrayBuffer())))).toMatchObject({ code: "MessageFormat" });
    }
    expect(faultIn(await discover(t, DISCOVERY, { version: "3.0" }))).toMatchObject({ code: "MessageFormat" });
  });

  it("for tokens, hosts and certificate requests that are not accepted", async () => {
    const t = await startApp();
    await turnOnWindowsMdm(t);
    const windows = await makeManaged(t, { platform: "windows" });
    const linux = await makeManaged(t);
    const server = await makeManaged(t, { platform: "windows" });
    const { id } = await server.host();
    await t.store.hostMdm.upsert([{ id, enrollment_status: "Off", is_server: true }], { on: ["id"] });
    const code = async (...given: Parameters<typeof requestToken> extends [unknown, ...infer R] ? R : never) =>
      (await requestToken(t, ...given)).fault?.code;
    expect(await code(undefined, factsOf())).toBe("InvalidSecurity");
    expect(await code(userToken("unknown"), factsOf())).toBe("InvalidSecurity");
    expect(await code({ valueType: tokenTypes.user, text: "!" }, factsOf())).toBe("InvalidSecurity");
    expect(await code({ valueType: "urn:other", text: "AAAA" }, factsOf())).toBe("InvalidSecurity");
    expect(await code(userToken(linux.key), factsOf())).toBe("Authorization");
    expect(await code(userToken(server.key), factsOf())).toBe("Authorization");
    const token = userToken(windows.key);
    expect(await code(token, factsOf({ DeviceID: "" }))).toBe("MessageFormat");
    expect(await code(token, factsOf({ DeviceID: "A\u200b" }))).toBe("MessageFormat");
    expect(await code(token, factsOf(), { valueType: valueTypes.pkcs10, text: "AAAA" })).toBe("CertificateRequest");
    expect(await code(token, factsOf(), { valueType: valueTypes.pkcs7, text: "AAAA" })).toBe("CertificateRequest");
    expect(await t.store.windowsEnrollments.count()).toBe(0);
  });

  it("if its DeviceID is that of another host's device", async () => {
    const t = await startApp();
    const { device } = await managedWindows(t);
    const thief = await makeManaged(t, { platform: "windows" });
    const { fault } = await requestToken(t, userToken(thief.key), device.facts);
    expect(fault?.code).toBe("Authorization");
    expect((await device.start()).status).toBe("212");
  });
});

it("authenticates by its certificate, and only as itself; replies have a length", async () => {
  const t = await startApp();
  const ana = await managedWindows(t);
  const ben = await managedWindows(t);
  const names = { name: "subjectAltName" as const, altNames: [{ type: 7 as const, ip: "127.0.0.1" }] };
  const made = await generate([{ name: "commonName", value: "test" }], { keyType: "ec", extensions: [names] });
  const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: { cert: made.cert, key: made.private } });
  const app = toNodeHandler(createApp(t.services, { agent: t.agent, stop: async () => {} })) as RequestListener;
  const listening = await listen(app, address);
  try {
    const key = await deviceKey();
    const message = (source: string) => {
      const header = { sessionId: "1", msgId: "1", target: "x", source, credentials: null, maxMsgSize: null };
      return writeSyncml({ header, commands: [syncCommand("Alert", "2", { data: "1201" })], isFinal: true });
    };
    const send = async (certificate: Buffer | null, source: string) => {
      const cert = certificate && new X509Certificate(certificate).toString();
      const sent = httpsRequest(`${address.url}${MANAGEMENT}`, {
        method: "POST",
        ca: made.cert,
        agent: false,
        ...(cert === null ? {} : { cert, key: key.export({ type: "pkcs8", format: "pem" }) }),
      });
      sent.end(message(source));
      const [response] = await once(sent, "response");
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      expect(response.headers["content-length"]).toBe(String(body.length));
      return readSyncml(body).commands[0]!.data;
    };
    const [mine, his] = [ana.device.facts.DeviceID, ben.device.facts.DeviceID];
    expect(await send(ana.device.certificate, mine)).toBe("200");
    expect(await send(ana.device.certificate, his)).toBe("407");
    expect(await send(null, mine)).toBe("407");
    const { identity_id } = (await t.store.windowsEnrollments.first({ where: eq("device_id", mine) }))!;
    await enrollWindows(t, userToken(ana.agent.key), ana.device.facts);
    expect((await t.store.deviceIdentities.get(identity_id!))!.revoked_at).not.toBeNull();
    expect(await send(ana.device.certificate, mine), "an earlier one").toBe("407");
  } finally {
    await listening.close({ graceMs: 0, limitMs: 0 });
  }
});

it("reads certificates that proxies pass on", async () => {
  const made = await generate([{ name: "commonName", value: "test" }], { keyType: "ec" });
  const { raw } = new X509Certificate(made.cert);
  expect(certificateIn(`:${raw.toString("base64")}:`)).toEqual(raw);
  expect(certificateIn(encodeURIComponent(made.cert))).toEqual(raw);
  for (const text of ["", ":AAAA:", "%", "x"]) expect(certificateIn(text)).toBeNull();
});
