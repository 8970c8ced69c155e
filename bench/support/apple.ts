// A built server that manages Apple devices.
import { FormData } from "undici";
import { newKey } from "../../src/pki/x509.ts";
import { systemClock } from "../../src/server/platform/core/clock.ts";
import type { ProfileSource } from "../../src/simulator/apple/fleet.ts";
import { pemOfKey, pushCertificateFor } from "../../test/support/push-certificate.ts";
import { type BenchServer, tokenOf } from "./serve.ts";

/** Uploads a push certificate. Returns where devices get their enrollment profiles. */
export async function turnAppleOn(server: BenchServer): Promise<ProfileSource> {
  const headers = { authorization: `Bearer ${await tokenOf(server)}` };
  const key = await newKey();
  const form = new FormData();
  form.set("certificate", new Blob([await pushCertificateFor(key, systemClock.now())]), "push.pem");
  form.set("private_key", new Blob([pemOfKey(key)]), "push.key");
  const request = async (method: string, path: string, init: { body: FormData | string; type?: string }) => {
    const reply = await server.send(`/api/v1/svc${path}`, {
      method,
      headers: { ...headers, ...(init.type === undefined ? {} : { "content-type": init.type }) },
      body: init.body,
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  };
  const settings = JSON.stringify({ server_settings: { server_url: server.url } });
  await request("PATCH", "/config", { body: settings, type: "application/json" });
  await request("POST", "/mdm/vendora/apns_certificate", { body: form });
  return { url: `${server.url}/api/v1/svc/enrollment_profiles/manual`, headers };
}
