// Apple devices that do not sign their messages: the connection shows their certificate.
import { randomBytes, X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { request } from "node:https";
import { toNodeHandler } from "h3/node";
import { generate } from "selfsigned";
import { expect, it } from "vitest";
import { selfSigned } from "../../../src/pki/issue.ts";
import { parseName } from "../../../src/pki/names.ts";
import { signData } from "../../../src/pki/signed-data.ts";
import { newKey } from "../../../src/pki/x509.ts";
import { writePlist } from "../../../src/plist/write.ts";
import { createApp } from "../../../src/server/app.ts";
import { chooseAddress, listen } from "../../../src/server/platform/process/listen.ts";
import { startApp } from "../../support/app.ts";
import { CHANNEL, enrolledDevice, type Identity } from "../../support/apple-device.ts";

const HEADER = "x-client-certificate";

async function served(settings: Parameters<typeof startApp>[0] = {}) {
  const t = await startApp(settings);
  const names = { name: "subjectAltName" as const, altNames: [{ type: 7 as const, ip: "127.0.0.1" }] };
  const made = await generate([{ name: "commonName", value: "test" }], { keyType: "ec", extensions: [names] });
  const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: { cert: made.cert, key: made.private } });
  const app = toNodeHandler(createApp(t.services, { agent: t.agent, stop: async () => {} })) as RequestListener;
  const listening = await listen(app, address);
  return {
    t,
    close: () => listening.close({ graceMs: 0, limitMs: 0 }),
    /** The status of the answer to a device that asks for its next command. */
    async idle(udid: string, { shown = null as Identity | null, headers = {} } = {}): Promise<number> {
      const pair = shown && {
        cert: new X509Certificate(shown.certificate).toString(),
        key: shown.key.export({ type: "pkcs8", format: "pem" }),
      };
      const sent = request(`${address.url}${CHANNEL}`, {
        method: "PUT",
        ca: made.cert,
        agent: false,
        headers,
        ...pair,
      });
      sent.end(writePlist({ Status: "Idle", UDID: udid }));
      const [response] = await once(sent, "response");
      response.resume();
      return response.statusCode;
    },
  };
}

it("is the certificate of the connection, for its own device alone", async () => {
  const { t, idle, close } = await served();
  try {
    const ana = await enrolledDevice(t);
    const ben = await enrolledDevice(t, {}, { key: 1 });
    const { udid } = ana.device;
    expect(await idle(udid, { shown: ana.identity })).toBe(200);
    expect(await idle(udid), "without a certificate").toBe(403);
    expect(await idle(udid, { shown: ben.identity }), "with another device's").toBe(403);
    const key = await newKey();
    const stranger = selfSigned(parseName("/CN=svc identity/O=svc"), key, randomBytes(8), t.clock.now());
    expect(await idle(udid, { shown: { certificate: stranger, key } }), "with one of another CA").toBe(403);
    const other = signData(
      Buffer.from("another message"),
      { ...ana.identity, digest: "sha256" },
      {},
      { detached: true },
    );
    const headers = { "mdm-signature": other.toString("base64") };
    expect(await idle(udid, { shown: ana.identity, headers }), "with a wrong signature").toBe(403);
    expect(await idle(udid, { headers: { [HEADER]: escaped(ana.identity) } }), "in a header of anybody").toBe(403);
  } finally {
    await close();
  }
});

it("is passed on by a trusted proxy, in the header of the settings", async () => {
  const settings = { trusted_proxies: ["127.0.0.1"], mdm_identity_header: HEADER };
  const { t, idle, close } = await served({ settings });
  try {
    const { device, identity } = await enrolledDevice(t);
    expect(await idle(device.udid, { headers: { [HEADER]: escaped(identity) } })).toBe(200);
    expect(await idle(device.udid, { headers: { [HEADER]: `:${identity.certificate.toString("base64")}:` } })).toBe(
      200,
    );
    expect(await idle(device.udid, { headers: { [HEADER]: "x" } })).toBe(403);
    expect(await idle(device.udid, { shown: identity }), "the certificate of the proxy itself").toBe(403);
  } finally {
    await close();
  }
});

const escaped = ({ certificate }: Identity): string => encodeURIComponent(new X509Certificate(certificate).toString());
