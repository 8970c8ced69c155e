// POST /certificate_authorities/:id/request_certificate with an HTTP message signature (RFC 9421) of a host's identity
// instead of a token (part D, certificates).
import { describe, expect, it } from "vitest";
import { days } from "../../src/server/core/clock.ts";
import { eq } from "../../src/server/store/query.ts";
import { startApp } from "../support/app.ts";
import { allowLocal, makeCsr, OpensslCa, personSan } from "../support/ca-fakes.ts";
import { bothEngines } from "../support/engines.ts";
import { EST_PASSWORD, EST_USER, startEst } from "../support/est-server.ts";
import {
  askForIdentity,
  fingerprintOf,
  type HostIdentity,
  type Sending,
  signedCall,
} from "../support/host-identity.ts";
import { makeTeam, makeUser } from "../support/make.ts";
import { addSecret, SECRET } from "../support/managed.ts";
import { withSecondServer } from "../support/second-server.ts";

async function scene(engine: "lowdb" | "postgres") {
  const t = await startApp({ engine, settings: allowLocal });
  await addSecret(t);
  const est = await startEst(await OpensslCa.make());
  const credentials = { client_id: EST_USER, client_secret: EST_PASSWORD };
  const made = await t.post("/certificate_authorities", {
    hosted_est_ca: { name: "EST", url: est.estUrl, ...credentials },
  });
  const { id } = (await made.json()) as { id: number };
  const path = `/certificate_authorities/${id}/request_certificate`;

  async function newHost(uuid: string, key: number, curve?: "p256") {
    const subject = `/CN=${uuid}`;
    const identity = (await askForIdentity(t, { secret: SECRET, subject, key, ...(curve ? { curve } : {}) }))!;
    const { status } = await signedCall(t, identity, "/enroll", {
      enroll_secret: SECRET,
      hardware_uuid: uuid,
      hardware_serial: `SERIAL-${uuid}`,
      hostname: `${uuid}.example.com`,
      platform: "ubuntu",
      computer_name: uuid,
      hardware_model: "M",
    });
    expect(status).toBe(200);
    const host = (await t.store.hosts.list()).find((one) => one.uuid.toLowerCase() === uuid.toLowerCase())!;
    return { identity, hostId: host.id };
  }
  let nonces = 0;
  const request = (identity: HostIdentity, body: object, more: Sending = {}) =>
    signedCall(t, identity, path, body, { prefix: "/api/v1/svc", nonce: `n${++nonces}`, ...more });
  return { t, est, path, newHost, request };
}

describe.each(bothEngines)("a certificate for a host that signs its request on %s", (engine) => {
  it("is issued with RSA and elliptic identities, once for each request", async () => {
    const s = await scene(engine);
    const csr = await makeCsr({ subject: "/CN=laptop" });
    const [rsa, elliptic] = [await s.newHost("AAAA-1", 0), await s.newHost("AAAA-2", 0, "p256")];
    for (const { identity } of [rsa, elliptic]) {
      const { status, json } = await s.request(identity, { csr }, { nonce: "one" });
      expect([status, json.certificate]).toEqual([200, expect.stringContaining("-----BEGIN PKCS7-----")]);
      expect((await s.request(identity, { csr }, { nonce: "one" })).status, "the same request").toBe(401);
      expect((await s.request(identity, { csr }, { nonce: "two" })).status).toBe(200);
    }
    s.t.clock.advance(days(1));
    expect((await s.request(rsa.identity, { csr })).status).toBe(200);
    expect(await s.t.store.usedSignatures.count(), "those that are too old are forgotten").toBe(1);
  });

  it("is refused for a wrong key, another body, an old request, and identities without a host", async () => {
    const s = await scene(engine);
    const csr = await makeCsr({ subject: "/CN=laptop" });
    const [one, other] = [await s.newHost("AAAA-1", 0), await s.newHost("AAAA-2", 1)];
    const status = async (identity: HostIdentity, more: Sending = {}) =>
      (await s.request(identity, { csr }, more)).status;
    expect(await status(one.identity, { keyId: fingerprintOf(other.identity) }), "another host's name").toBe(401);
    expect(await status(one.identity, { keyId: "00" }), "an unknown key").toBe(401);
    expect(await status(one.identity, { sent: JSON.stringify({ csr, more: 1 }) }), "another body").toBe(400);
    expect(await status(one.identity, { at: -400 }), "too old").toBe(401);
    const without = (name: string) => (headers: Record<string, string>) =>
      Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
    for (const name of ["signature", "content-digest"])
      expect(await status(one.identity, { changed: without(name) }), name).toBe(401);
    expect(await status(one.identity, { changed: without("signature-input") }), "no signature").toBe(401);
    const unbound = (await askForIdentity(s.t, { secret: SECRET, subject: "/CN=AAAA-3", key: 1 }))!;
    expect(await status(unbound), "no host uses it").toBe(401);
    expect((await s.t.delete(`/hosts/${other.hostId}`)).status).toBe(200);
    expect(await status(other.identity), "its host was deleted").toBe(401);
    expect(await status(one.identity)).toBe(200);
    expect(s.est.requests.filter(({ url }) => url.pathname.endsWith("simpleenroll"))).toHaveLength(1);
  });

  it("names only the host's own users, not those of a host of another team", async () => {
    const s = await scene(engine);
    const [mine, theirs] = [await s.newHost("AAAA-1", 0), await s.newHost("AAAA-2", 1)];
    await s.t.store.hosts.update({ where: eq("id", theirs.hostId), set: { team_id: (await makeTeam(s.t)).id } });
    for (const [{ hostId }, email, source] of [
      [mine, "ann@example.com", "mdm_idp_accounts"],
      [theirs, "bob@example.com", "mdm_idp_accounts"],
      [mine, "eve@example.com", "browser_profiles"],
    ] as const)
      await s.t.store.hostEmails.insert({ host_id: hostId, email, source });
    const status = async (csr: string) => (await s.request(mine.identity, { csr })).status;
    expect(await status(await makeCsr({ san: personSan("ann@example.com", "ann@example") }))).toBe(200);
    expect(await status(await makeCsr({ subject: "/CN=ANN@example.com" }))).toBe(200);
    const refused = await s.request(mine.identity, { csr: await makeCsr({ san: "email:bob@example.com" }) });
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      [{ name: "csr", reason: expect.stringContaining("not known as a user of the host") }],
    ]);
    expect(await status(await makeCsr({ subject: "/CN=bob@example.com" }))).toBe(400);
    expect(await status(await makeCsr({ san: "email:eve@example.com" })), "what the host reports itself").toBe(400);
    expect(await status(await makeCsr({ san: personSan("ann@example.com", "bob") }))).toBe(400);
  });

  it("is not for users with low roles, nor does a signature help their tokens", async () => {
    const s = await scene(engine);
    const { identity } = await s.newHost("AAAA-1", 0);
    const csr = await makeCsr({ subject: "/CN=laptop" });
    const observer = await makeUser(s.t, "observer");
    const authorized = (authorization: string) => (headers: Record<string, string>) => ({ ...headers, authorization });
    const status = async (authorization: string) =>
      (await s.request(identity, { csr }, { changed: authorized(authorization) })).status;
    expect(await status(`Bearer ${observer.token}`)).toBe(403);
    expect(await status("Bearer wrong")).toBe(401);
    // A signature opens only what accepts one.
    const list = await signedCall(s.t, identity, "/teams", { name: "Mine" }, { prefix: "/api/v1/svc" });
    expect(list.status).toBe(401);
  });
});

describe("a signed request on two servers", () => {
  it("is accepted by one of them", async () => {
    const s = await scene("postgres");
    const { identity } = await s.newHost("AAAA-1", 0);
    const csr = await makeCsr({ subject: "/CN=laptop" });
    await withSecondServer(s.t, async (there) => {
      const on = (t: typeof there) =>
        signedCall(t, identity, s.path, { csr }, { prefix: "/api/v1/svc", nonce: "same" });
      const replies = await Promise.all([s.t, there, s.t, there].map(on));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    });
  });
});
