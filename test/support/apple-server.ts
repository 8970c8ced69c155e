// An app behind a socket, with enrollment profiles for simulated Apple devices.
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writePlist } from "../../src/plist/write.ts";
import { newChallenge } from "../../src/server/certificates/device-ca/challenges.ts";
import type { TestApp } from "./app.ts";
import { CHANNEL } from "./apple-device.ts";
import { afterEveryTest } from "./ends.ts";

const stops: (() => Promise<void>)[] = [];
afterEveryTest(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Returns the address. */
export async function listen(answer: (path: string, init: RequestInit) => Promise<Response>): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const { method = "GET", url = "/" } = request;
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const body = method === "GET" ? {} : { body: new Uint8Array(Buffer.concat(chunks)) };
      const reply = await answer(url, { method, headers, ...body });
      response.writeHead(reply.status, Object.fromEntries(reply.headers));
      response.end(Buffer.from(await reply.arrayBuffer()));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const IDENTIFIER = "com.example.enrollment";

export interface ProfileFacts {
  readonly scepUrl: string;
  readonly challenge: string;
  readonly channelUrl: string;
  readonly topic: string;
  readonly commonName?: string;
  readonly fingerprint?: Buffer;
}

/** An enrollment profile for any server. */
export function enrollmentProfile(facts: ProfileFacts): string {
  const { scepUrl, challenge, channelUrl, topic, commonName = "svc identity", fingerprint } = facts;
  const payload = { PayloadVersion: 1, PayloadIdentifier: `${IDENTIFIER}.payload` };
  const identity = randomUUID();
  return writePlist({
    PayloadType: "Configuration",
    PayloadVersion: 1,
    PayloadIdentifier: IDENTIFIER,
    PayloadUUID: randomUUID(),
    PayloadContent: [
      {
        ...payload,
        PayloadType: "com.apple.security.scep",
        PayloadUUID: identity,
        PayloadContent: {
          URL: scepUrl,
          Challenge: challenge,
          Subject: [[["O", "svc"]], [["CN", commonName]]],
          ...(fingerprint === undefined ? {} : { CAFingerprint: fingerprint }),
        },
      },
      {
        ...payload,
        PayloadType: "com.apple.mdm",
        PayloadUUID: randomUUID(),
        IdentityCertificateUUID: identity,
        Topic: topic,
        ServerURL: channelUrl,
        SignMessage: true,
      },
    ],
  });
}

/** An enrollment profile for the app at this address. */
export async function makeEnrollmentProfile(t: TestApp, url: string, fingerprint?: Buffer): Promise<string> {
  const ca = Buffer.from(await (await t.raw("/mdm/vendora/scep?operation=GetCACert")).arrayBuffer());
  const challenge = await newChallenge(
    { ...t.services, store: t.store },
    { purpose: "apple_enrollment", team_id: null, facts: { kind: "manual" } },
  );
  return enrollmentProfile({
    scepUrl: `${url}/mdm/vendora/scep`,
    challenge,
    channelUrl: `${url}${CHANNEL}`,
    topic: "com.apple.mgmt.test",
    fingerprint: fingerprint ?? createHash("sha1").update(ca).digest(),
  });
}
