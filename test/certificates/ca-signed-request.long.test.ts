// POST /certificate_authorities/:id/request_certificate with an HTTP message signature (RFC 9421) of a host's identity
// instead of a token.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { days } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp } from "../support/app.ts";
import { allowLocal, makeCsr, OpensslCa, personSan, type RequestOptions, startFake } from "../support/ca-fakes.ts";
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

/** The name of the first host of each scene. */
const own = { subject: "/CN=AAAA-1" } as const;

const reject = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
// The identity provider of these tests has a certificate that is not trusted otherwise.
beforeAll(() => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
});
afterAll(() => {
  if (reject === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = reject;
});

async function scene(engine: "lowdb" | "postgres") {
  const t = await startApp({ engine, settings: allowLocal });
  await addSecret(t);
  const est = await startEst(await OpensslCa.make());
  const credentials = { client_id: EST_USER, client_secret: EST_PASSWORD };
  const made = await t.post("/certificate_authorities", {
    hosted_est_ca: { name: "EST", url: est.estUrl, ...credentials },
  });
  const { id } = (await made.json()) as { id: number };
  const caPath = `/certificate_authorities/${id}`;
  const path = `${caPath}/request_certificate`;

  async function newHost(uuid: string, key: number, curve?: "p256", serial = `SERIAL-${uuid}`) {
    const subject = `/CN=${uuid}`;
    const identity = (await askForIdentity(t, { secret: SECRET, subject, key, ...(curve ? { curve } : {}) }))!;
    const { status, json } = await signedCall(t, identity, "/enroll", {
      enroll_secret: SECRET,
      hardware_uuid: uuid,
      hardware_serial: serial,
      hostname: `${uuid}.example.com`,
      platform: "ubuntu",
      computer_name: uuid,
      hardware_model: "M",
    });
    expect(status).toBe(200);
    const host = (await t.store.hosts.list()).find((one) => one.uuid.toLowerCase() === uuid.toLowerCase())!;
    return { identity, hostId: host.id, key: json.agent_node_key as string };
  }
  let nonces = 0;
  const request = (identity: HostIdentity, body: object, more: Sending = {}) =>
    signedCall(t, identity, path, body, { prefix: "/api/v1/svc", nonce: `n${++nonces}`, ...more });
  return { t, est, path, caPath, newHost, request };
}

describe.each(bothEngines)("a certificate for a host that signs its request on %s", (engine) => {
  it("is issued with RSA and elliptic identities, once for each request", async () => {
    const s = await scene(engine);
    const [rsa, elliptic] = [await s.newHost("AAAA-1", 0), await s.newHost("AAAA-2", 0, "p256")];
    const csr = await makeCsr({ subject: "/CN=AAAA-1" });
    for (const [{ identity }, name] of [
      [rsa, "AAAA-1"],
      [elliptic, "AAAA-2"],
    ] as const) {
      const csr = await makeCsr({ subject: `/CN=${name}` });
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
    const csr = await makeCsr({ subject: "/CN=AAAA-1" });
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
    expect(await status(await makeCsr({ ...own, san: personSan("ann@example.com", "ann@example") }))).toBe(200);
    expect(await status(await makeCsr({ subject: "/CN=ANN@example.com" }))).toBe(200);
    const refused = await s.request(mine.identity, { csr: await makeCsr({ ...own, san: "email:bob@example.com" }) });
    expect([refused.status, refused.json.errors]).toEqual([
      403,
      [{ name: "csr", reason: expect.stringContaining("not known as a user of the host") }],
    ]);
    expect(await status(await makeCsr({ subject: "/CN=bob@example.com" }))).toBe(403);
    expect(await status(await makeCsr({ ...own, san: "email:eve@example.com" })), "reported by the host").toBe(403);
    const named = { agent_node_key: mine.key, email: "bob@example.com" };
    expect((await signedCall(s.t, mine.identity, "/device_mapping", named, { method: "PUT" })).status).toBe(200);
    expect(await status(await makeCsr({ subject: "/CN=bob@example.com" })), "named by the agent").toBe(403);
    expect(await status(await makeCsr({ ...own, san: personSan("ann@example.com", "bob") }))).toBe(403);
  });

  it("names only the host itself, without anything that other services could trust", async () => {
    const s = await scene(engine);
    const [mine] = [await s.newHost("AAAA-1", 0), await s.newHost("AAAA-2", 1)];
    const allowed: RequestOptions[] = [
      own,
      { subject: "/CN=serial-aaaa-1" },
      { subject: "/serialNumber=SERIAL-AAAA-1/UID=AAAA-1" },
      {
        ...own,
        extensions: ["keyUsage=critical,digitalSignature,keyEncipherment", "extendedKeyUsage=clientAuth"],
      },
      { ...own, extensions: ["basicConstraints=CA:FALSE", "subjectKeyIdentifier=hash"] },
    ];
    for (const options of allowed) {
      const { status, json } = await s.request(mine.identity, { csr: await makeCsr(options) });
      expect([status, json.errors], JSON.stringify(options)).toEqual([200, undefined]);
    }
    const enrolled = s.est.requests.length;
    const refused: Record<string, RequestOptions> = {
      "no names": { subject: "/" },
      "another host": { subject: "/CN=AAAA-2" },
      "another host's serial number": { subject: "/CN=AAAA-1/serialNumber=SERIAL-AAAA-2" },
      "two names, one of another": { subject: "/CN=AAAA-1/CN=AAAA-2" },
      "two names in one field": { subject: "/CN=AAAA-1+CN=administrator" },
      "a letter that is another one in lower case": { subject: "/CN=SERI\u212aL-AAAA-1" },
      "an organization": { subject: "/CN=AAAA-1/O=Domain Admins" },
      "its hostname": { subject: "/CN=AAAA-1.example.com" },
      "its hostname as DNS name": { ...own, san: "DNS:AAAA-1.example.com" },
      "a DNS name": { ...own, san: "DNS:dc01.example.com" },
      "a wildcard": { ...own, san: "DNS:*.example.com" },
      "its own UUID as DNS name": { ...own, san: "DNS:AAAA-1" },
      "an address": { ...own, san: "IP:10.0.0.1" },
      "a URI": { ...own, san: "URI:https://example.com" },
      "a security identifier as URI": { ...own, san: "URI:urn:sid:S-1-5-21-1-2-3-500" },
      "a registered ID": { ...own, san: "RID:1.2.3.4" },
      "a Kerberos name": { ...own, san: "otherName:1.3.6.1.5.2.2;UTF8:krbtgt" },
      "an unknown kind of name": { ...own, san: "otherName:1.3.6.1.4.1.311.25.1;UTF8:x" },
      "a directory name": { ...own, extensions: ["subjectAltName=DER:300FA40D300B3109300706035504030C00"] },
      "a security identifier": { ...own, extensions: ["1.3.6.1.4.1.311.25.2=DER:3003020101"] },
      "a template of the authority": { ...own, extensions: ["1.3.6.1.4.1.311.20.2=DER:1E0200410042"] },
      "an authority": { ...own, extensions: ["basicConstraints=CA:TRUE"] },
      "to sign certificates": { ...own, extensions: ["keyUsage=keyCertSign"] },
      "to sign in with smart cards": { ...own, extensions: ["extendedKeyUsage=msSmartcardLogin"] },
      "any usage": { ...own, extensions: ["extendedKeyUsage=anyExtendedKeyUsage"] },
      "to serve": { ...own, extensions: ["extendedKeyUsage=serverAuth"] },
    };
    for (const [what, options] of Object.entries(refused)) {
      const { status, json } = await s.request(mine.identity, { csr: await makeCsr(options) });
      expect([status < 500 && status >= 400, json.errors?.[0]?.name], what).toEqual([true, "csr"]);
    }
    expect(s.est.requests.length).toBe(enrolled);
    // A user with the role may ask for any certificate, as before.
    expect((await s.t.post(s.path, { csr: await makeCsr({ san: "DNS:*.example.com" }) })).status).toBe(200);
  });

  it("names identifiers only if they look like a UUID or a serial number", async () => {
    const s = await scene(engine);
    const uuid = "5E5E5E5E-0001-4000-8000-00000000000A";
    const mine = await s.newHost(uuid, 0, undefined, "ceo@example.com");
    const status = async (subject: string) => {
      const reply = await s.request(mine.identity, { csr: await makeCsr({ subject }) });
      return [reply.status, reply.json.errors?.[0]?.name];
    };
    const set = (columns: object) => s.t.store.hosts.update({ where: eq("id", mine.hostId), set: columns });
    for (const attribute of ["CN", "UID"]) expect(await status(`/${attribute}=ceo@example.com`)).toEqual([403, "csr"]);
    const names = ["dc01.corp.example.com", "Domain Admins 1", "administrator", "CEO", "*", "host\\/dc01"];
    for (const name of names)
      for (const column of ["hardware_serial", "uuid"]) {
        await set({ uuid, hardware_serial: "", [column]: name.replace("\\", "") });
        expect(await status(`/CN=${name}`), `${column} ${name}`).toEqual([403, "csr"]);
      }
    for (const serial of ["C02XL0ABJGH5", "VMW-1-2", "0123-4567-89"]) {
      await set({ uuid, hardware_serial: serial });
      for (const subject of [`/CN=${serial}`, `/UID=${uuid}`, `/serialNumber=${serial}`])
        expect(await status(subject), subject).toEqual([200, undefined]);
    }
  });

  it("does not name what identifies another host, or anybody but its own users", async () => {
    const s = await scene(engine);
    const uuid = "5E5E5E5E-0001-4000-8000-00000000000A";
    const theirs = await s.newHost(uuid, 0);
    const evil = await s.newHost("AAAA-1", 1, undefined, uuid);
    await s.t.store.hosts.update({
      where: eq("id", theirs.hostId),
      set: { team_id: (await makeTeam(s.t)).id, hostname: "DC-01.example.com", display_name: "Build-7" },
    });
    await s.t.store.hostEmails.insert({ host_id: theirs.hostId, email: "ann1@example.com", source: "custom" });
    await makeUser(s.t, "observer", { email: "joe1@example.com" });
    const scim = { created_at: s.t.clock.iso(), updated_at: s.t.clock.iso(), external_id: null, directory_id: null };
    const person = await s.t.store.scimUsers.insert({ ...scim, user_name: "Eve1", user_name_key: "eve1", emails: [] });
    await s.t.store.scimLogins.insertMany([
      { user_id: person.id, login: "eve1", kind: "user_name" },
      { user_id: person.id, login: "ev2@example.com", kind: "email" },
    ]);
    const reply = async (serial: string, attribute = "CN") => {
      await s.t.store.hosts.update({ where: eq("id", evil.hostId), set: { hardware_serial: serial } });
      const csr = await makeCsr({ subject: `/${attribute}=${serial}` });
      const { status, json } = await s.request(evil.identity, { csr });
      return [status, json.errors?.[0]?.reason];
    };
    const ofHost = [403, expect.stringContaining("another host has the same")];
    const ofUser = [403, expect.stringContaining("is the name of a user")];
    for (const name of [uuid, uuid.toLowerCase(), uuid.replaceAll("-", ""), "dc-01", "BUILD-7", `serial-${uuid}`])
      for (const attribute of ["CN", "UID", "serialNumber"]) expect(await reply(name, attribute), name).toEqual(ofHost);
    for (const name of ["ann1", "JOE1", "eve1", "EV2"]) expect(await reply(name), name).toEqual(ofUser);
    // An agent that reports an address must not be able to block another host's certificates.
    await s.t.store.hostEmails.insert({
      host_id: theirs.hostId,
      email: "free1@example.com",
      source: "browser_profiles",
    });
    for (const name of ["free1", "ann", "ann12", "dc-0"]) {
      const isPlain = /\d/.test(name);
      expect((await reply(name))[0], name).toBe(isPlain ? 200 : 403);
    }
    await s.t.store.hostEmails.insert({ host_id: evil.hostId, email: "ann1@example.com", source: "custom" });
    expect((await reply("ann1"))[0], "its own user").toBe(200);
  });

  it("names the hostname where the authority allows it, unless another host has it too", async () => {
    const s = await scene(engine);
    const [mine, theirs] = [await s.newHost("AAAA-1", 0), await s.newHost("AAAA-2", 1)];
    const csr = await makeCsr({
      subject: "/CN=aaaa-1.example.com",
      san: "DNS:AAAA-1.example.com",
      extensions: ["extendedKeyUsage=serverAuth,clientAuth"],
    });
    const status = async () => (await s.request(mine.identity, { csr })).status;
    expect(await status()).toBe(403);
    expect((await s.t.patch(s.caPath, { hosted_est_ca: { allow_hostname: true } })).status).toBe(200);
    expect(await (await s.t.get(s.caPath)).json()).toMatchObject({ allow_hostname: true });
    expect(await status()).toBe(200);
    const hostname = async (text: string) =>
      s.t.store.hosts.update({ where: eq("id", mine.hostId), set: { hostname: text } });
    for (const name of ["*.example.com", "10.0.0.1", "a b"]) {
      await hostname(name);
      const san = name === "10.0.0.1" ? `IP:${name}` : `DNS:${name}`;
      const reply = await s.request(mine.identity, { csr: await makeCsr({ ...own, san }) });
      expect(reply.status, name).toBe(403);
    }
    await hostname("AAAA-1.example.com");
    for (const column of ["uuid", "hardware_serial", "hostname"] as const) {
      const [before] = await s.t.store.hosts.pick(["uuid", "hardware_serial", "hostname"], {
        where: eq("id", theirs.hostId),
      });
      const [taken] = await s.t.store.hosts.pick(["uuid", "hardware_serial", "hostname"], {
        where: eq("id", mine.hostId),
      });
      await s.t.store.hosts.update({ where: eq("id", theirs.hostId), set: { [column]: taken![column] } });
      const reply = await s.request(mine.identity, { csr: await makeCsr({ subject: `/CN=${taken![column]}` }) });
      expect([reply.status, reply.json.errors?.[0]?.reason], column).toEqual([
        403,
        expect.stringContaining("another host has the same"),
      ]);
      await s.t.store.hosts.update({ where: eq("id", theirs.hostId), set: { [column]: before![column] } });
    }
  });

  it("checks tokens only where the settings say so, never where the host says so", async () => {
    const s = await scene(engine);
    const mine = await s.newHost("AAAA-1", 0);
    await s.t.store.hostEmails.insert({ host_id: mine.hostId, email: "ann@example.com", source: "mdm_idp_accounts" });
    const asked: string[] = [];
    const idp = await startFake(
      ({ body }) => {
        const token = new URLSearchParams(body.toString()).get("token") ?? "";
        asked.push(token);
        return {
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ active: true, username: token }),
        };
      },
      await (await OpensslCa.make("Web CA")).server(),
    );
    const url = `${idp.url}/introspect`;
    const ask = async (email: string, oauth = url, client = "client") =>
      s.request(mine.identity, {
        csr: await makeCsr({ ...own, san: personSan(email, email) }),
        idp_oauth_url: oauth,
        idp_token: email,
        idp_client_id: client,
      });
    const refusal = ({ status, json }: Awaited<ReturnType<typeof ask>>) => [status, json.errors?.[0]?.name];
    expect(refusal(await ask("ann@example.com"))).toEqual([403, "idp_oauth_url"]);
    const set = async (integrations: object) => expect((await s.t.patch("/config", { integrations })).status).toBe(200);
    await set({ certificates_idp_introspection_urls: [url], certificates_idp_client_ids: ["client"] });
    expect(refusal(await ask("ann@example.com", `${url}/../mine`))).toEqual([403, "idp_oauth_url"]);
    expect(refusal(await ask("ann@example.com", url, "mine"))).toEqual([403, "idp_client_id"]);
    expect(asked).toEqual([]);
    expect((await ask("ann@example.com")).status).toBe(200);
    expect(refusal(await ask("bob@example.com")), "the token of somebody else").toEqual([403, "csr"]);
    await set({ certificates_disable_host_end_user_binding: true });
    expect((await ask("bob@example.com")).status).toBe(200);
    const without = await s.request(mine.identity, {
      csr: await makeCsr({ ...own, san: "email:ann@example.com" }),
    });
    expect(refusal(without), "without a token nobody is proved").toEqual([403, "csr"]);
    const other = await s.t.post(s.path, {
      csr: await makeCsr({ san: personSan("ann@example.com", "ann") }),
      idp_oauth_url: `${url}/other`,
      idp_token: "ann@example.com",
      idp_client_id: "client",
    });
    expect(other.status, "users are held to the settings too").toBe(403);
  });

  it("is not for users with low roles, nor does a signature help their tokens", async () => {
    const s = await scene(engine);
    const { identity } = await s.newHost("AAAA-1", 0);
    const csr = await makeCsr({ subject: "/CN=AAAA-1" });
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
    const csr = await makeCsr({ subject: "/CN=AAAA-1" });
    await withSecondServer(s.t, async (there) => {
      const on = (t: typeof there) =>
        signedCall(t, identity, s.path, { csr }, { prefix: "/api/v1/svc", nonce: "same" });
      const replies = await Promise.all([s.t, there, s.t, there].map(on));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    });
  });
});
