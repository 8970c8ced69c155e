// The two servers that apple-idle compares, each in its own process: `bare` is plain node:http that verifies the same
// signature, and replies nothing; `lowdb` and `postgres` are complete servers with enrolled devices.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { readSignedData, verifySigned } from "../../src/pki/signed-data.ts";
import { newKey, readCertificate } from "../../src/pki/x509.ts";
import { writePlist } from "../../src/plist/write.ts";
import { newChallenge } from "../../src/server/certificates/device-ca/challenges.ts";
import { fingerprintOf } from "../../src/server/certificates/device-ca/identities.ts";
import { startServer } from "../../src/server/main.ts";
import { Authorities, messageSignature, requestIdentity } from "../../src/simulator/scep.ts";
import { Web } from "../../src/simulator/web.ts";
import { CHANNEL } from "../../test/support/apple-device.ts";
import { type IdleReady, serveIdle } from "./idle.ts";
import { makePlace } from "./place.ts";

const CHECK_IN = "application/x-apple-aspen-mdm-checkin";
const DEVICES = 200;

async function bare(): Promise<IdleReady> {
  const keys = new Map<string, ReturnType<typeof keyIn>>();
  const keyIn = (der: Buffer) => readCertificate(der).parsed.publicKey;
  const keyOf = (der: Buffer) => {
    const fingerprint = fingerprintOf(der);
    const key = keys.get(fingerprint) ?? keyIn(der);
    keys.set(fingerprint, key);
    return key;
  };
  const server = createServer({ keepAliveTimeout: 120_000 }, (req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const signature = Buffer.from(String(req.headers["mdm-signature"]), "base64");
      verifySigned(readSignedData(signature), keyOf, Buffer.concat(chunks));
      res.setHeader("content-length", 0);
      res.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, requests: [] };
}

async function complete(engine: "lowdb" | "postgres"): Promise<IdleReady> {
  const place = await makePlace(engine);
  process.on("disconnect", () => void place.remove().finally(() => process.exit(0)));
  const { services, url } = await startServer(place.settings, pino({ level: "silent" }));
  const web = new Web({ maxConnections: 4 });
  const authorities = new Authorities(web);
  const keys = await Promise.all([newKey(), newKey(), newKey(), newKey()]);
  const requests: string[] = [];
  for (let i = 0; i < DEVICES; i++) {
    const challenge = await newChallenge(services, {
      purpose: "apple_enrollment",
      team_id: null,
      facts: { kind: "manual" },
    });
    const scep = { url: `${url}/mdm/vendora/scep`, name: "svc", challenge, subject: [], fingerprint: null };
    const profile = { scep, identifier: "", serverUrl: "", checkInUrl: "", topic: "", signsMessages: true };
    const identity = await requestIdentity(web, authorities, profile.scep, keys[i % keys.length]!);
    const UDID = `${String(i).padStart(8, "0")}-0000-4000-8000-000000000000`;
    const send = async (message: Parameters<typeof writePlist>[0], type: string) => {
      const body = Buffer.from(writePlist(message));
      const headers = { "content-type": type, "mdm-signature": messageSignature(body, identity) };
      const { status } = await web.call({ method: "PUT", url: `${url}${CHANNEL}`, headers, body });
      if (status !== 200) throw new Error(`a device is answered with ${status}`);
      const lines = Object.entries({ ...headers, "content-length": body.length }).map((line) => line.join(": "));
      return `PUT ${CHANNEL} HTTP/1.1\r\nhost: localhost\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
    };
    const facts = { SerialNumber: `C02${i}`, ProductName: "MacBookPro18,3", DeviceName: "Mac", OSVersion: "15.1" };
    const Topic = "com.apple.mgmt.test";
    await send({ MessageType: "Authenticate", UDID, Topic, ...facts }, CHECK_IN);
    await send({ MessageType: "TokenUpdate", UDID, Topic, Token: Buffer.from("token"), PushMagic: "magic" }, CHECK_IN);
    requests.push(await send({ UDID, Status: "Idle" }, "application/xml"));
  }
  await web.close();
  await place.analyze();
  return { port: Number(new URL(url).port), requests };
}

await serveIdle({ complete, bare });
