import { X509Certificate } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { allowLocal, type Fake, makeCsr, OpensslCa, openssl, personSan, startFake } from "../support/ca-fakes.ts";
import { EST_PASSWORD, EST_USER, type EstServer, startEst } from "../support/est-server.ts";
import { makeTeam, makeUser } from "../support/make.ts";

const EMAIL = "ada@example.com";
const PRINCIPAL = "ada@example";
const TOKEN = "token-of-ada";

interface Scene {
  readonly t: TestApp;
  readonly ca: OpensslCa;
  readonly est: EstServer;
  readonly idp: Fake;
  readonly id: number;
  request(body: object, id?: number): Promise<Response>;
}

let web: { key: string; cert: string };
const reject = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
beforeAll(async () => {
  web = await (await OpensslCa.make("Web CA")).server();
  // The identity provider of these tests has a certificate that is not trusted otherwise.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
});
afterAll(() => {
  if (reject === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = reject;
});

async function scene(type: "hosted_est_ca" | "custom_est_proxy" = "hosted_est_ca"): Promise<Scene> {
  const t = await startApp({ settings: allowLocal });
  const ca = await OpensslCa.make();
  const est = await startEst(ca);
  const idp = await startFake(({ body, headers, method }) => {
    const form = new URLSearchParams(body.toString());
    const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
    const isKnown = method === "POST" && isForm && form.get("token") === TOKEN && form.get("client_id") === "client";
    const value = isKnown ? { active: true, username: EMAIL } : { active: false };
    return { headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
  }, web);
  const credentials =
    type === "hosted_est_ca"
      ? { client_id: EST_USER, client_secret: EST_PASSWORD }
      : { username: EST_USER, password: EST_PASSWORD };
  const made = await t.post("/certificate_authorities", { [type]: { name: "EST", url: est.estUrl, ...credentials } });
  expect(made.status, await made.clone().text()).toBe(200);
  const { id } = (await made.json()) as { id: number };
  const request = (body: object, of = id) => t.post(`/certificate_authorities/${of}/request_certificate`, body);
  return { t, ca, est, idp, id, request };
}
const refusal = async (response: Response) => {
  const { errors } = await errorOf(response);
  return [response.status, errors?.[0]?.name, errors?.[0]?.reason];
};
const certificateIn = async (response: Response) => {
  expect(response.status, await response.clone().text()).toBe(200);
  return ((await response.json()) as { certificate: string }).certificate;
};
const idpOf = ({ idp }: Scene, more: object = {}) => ({
  idp_oauth_url: `${idp.url}/introspect`,
  idp_token: TOKEN,
  idp_client_id: "client",
  ...more,
});

describe("requesting a certificate", () => {
  it.each(["hosted_est_ca", "custom_est_proxy"] as const)("gets the request signed by a %s", async (type) => {
    const s = await scene(type);
    for (const key of ["rsa:2048", "ec"] as const) {
      const csr = await makeCsr({ subject: "/CN=laptop", key });
      for (const form of [csr, csr.replaceAll("\n", "\\n"), csr.replaceAll("\n", "\r\n")]) {
        const pkcs7 = await certificateIn(await s.request({ csr: form }));
        expect(pkcs7).toMatch(/^-----BEGIN PKCS7-----\n/);
        await writeFile(s.ca.file("answer.pem"), pkcs7);
        expect(await openssl(s.ca.dir, ...["pkcs7", "-in", "answer.pem", "-print_certs", "-noout"])).toMatch(
          /CN ?= ?laptop/,
        );
      }
      const leaf = new X509Certificate(await certificateIn(await s.request({ csr, return_pem_certificate: true })));
      expect(leaf.subject).toBe("CN=laptop");
      expect(leaf.verify(new X509Certificate(await s.ca.certificate()).publicKey)).toBe(true);
    }
  });

  it("signs for the person of a valid token, and for nobody else", async () => {
    const s = await scene();
    const ask = async (san: string | undefined, more: object = {}) =>
      s.request({ csr: await makeCsr(san === undefined ? {} : { san }), ...idpOf(s, more) });
    await certificateIn(await ask(personSan(EMAIL, PRINCIPAL)));
    await certificateIn(await ask(personSan(EMAIL, EMAIL)));
    const enrolled = s.est.requests.length;
    const badRequest = [400, "csr", "Invalid certificate request"];
    const badToken = [400, "idp_token", "Invalid token"];
    const cases: [string, string | undefined, object, unknown[]][] = [
      ["no names", undefined, {}, badRequest],
      ["no principal name", `email:${EMAIL}`, {}, badRequest],
      ["no email", "otherName:1.3.6.1.4.1.311.20.2.3;UTF8:ada", {}, badRequest],
      ["two emails", `${personSan(EMAIL, PRINCIPAL)},email:eve@example.com`, {}, badRequest],
      ["a principal name of another", personSan(EMAIL, "eve@example"), {}, badRequest],
      ["the email of another", personSan("eve@example.com", "eve@example"), {}, badToken],
      ["another token", personSan(EMAIL, PRINCIPAL), { idp_token: "x" }, badToken],
      ["another client", personSan(EMAIL, PRINCIPAL), { idp_client_id: "x" }, badToken],
    ];
    for (const [what, san, more, wanted] of cases) expect(await refusal(await ask(san, more)), what).toEqual(wanted);
    const answers: [object | string, number][] = [
      [{ active: true }, 200],
      [{ active: true, username: "" }, 200],
      [{ active: "true", username: EMAIL }, 200],
      [{ username: EMAIL }, 200],
      ["<html>", 200],
      ["[]", 200],
    ];
    for (const [body, status] of answers) {
      s.idp.answer = () => ({ status, body: typeof body === "string" ? body : JSON.stringify(body) });
      expect(await refusal(await ask(personSan(EMAIL, PRINCIPAL))), JSON.stringify(body)).toEqual(badToken);
    }
    for (const reply of [
      { status: 500, body: "words of the provider" },
      { status: 201, body: JSON.stringify({ active: true, username: EMAIL }) },
      { status: 302, headers: { location: `${s.idp.url}/introspect` } },
      { body: "x".repeat(200_000) },
    ]) {
      s.idp.answer = () => reply;
      const [status, field, reason] = await refusal(await ask(personSan(EMAIL, PRINCIPAL)));
      expect([status, field]).toEqual([400, "idp_oauth_url"]);
      expect(reason).not.toContain("words");
    }
    expect(s.est.requests.length).toBe(enrolled);
  });

  it("calls a provider only over https, at an allowed address, with all three fields", async () => {
    const s = await scene();
    const csr = await makeCsr({ san: personSan(EMAIL, PRINCIPAL) });
    const ask = async (more: object) => refusal(await s.request({ csr, ...idpOf(s), ...more }));
    expect(await ask({ idp_oauth_url: s.idp.url.replace("https", "http") })).toEqual([
      400,
      "idp_oauth_url",
      "must be an https URL",
    ]);
    expect((await ask({ idp_oauth_url: "https://169.254.169.254/" })).slice(0, 2)).toEqual([400, "idp_oauth_url"]);
    for (const field of ["idp_oauth_url", "idp_token", "idp_client_id"])
      for (const value of ["", undefined]) expect((await ask({ [field]: value })).slice(0, 2)).toEqual([400, field]);
    expect(s.idp.requests).toEqual([]);
  });

  it("accepts only requests that are signed with their own key", async () => {
    const s = await scene();
    const csr = await makeCsr();
    const der = Buffer.from(csr.replace(/-----[^-]+-----|\s/g, ""), "base64");
    const pem = (bytes: Buffer) =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString("base64")}\n-----END CERTIFICATE REQUEST-----`;
    const changed = (at: number) =>
      pem(Buffer.concat([der.subarray(0, at), Buffer.from([der[at]! ^ 1]), der.subarray(at + 1)]));
    const cases: Record<string, string> = {
      "no text": " ",
      "no PEM": "request",
      "no base64": csr.replace(/[A-Za-z0-9]{20}/, "%%%%"),
      "a certificate": await s.ca.certificate(),
      "two requests": csr + csr,
      "a key besides": `${csr}-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----`,
      "a changed subject": changed(der.indexOf("host") + 1),
      "a changed signature": changed(der.length - 1),
      "a cut request": pem(der.subarray(0, der.length - 10)),
      "nesting without end": pem(Buffer.alloc(20_000, 0x30)),
    };
    for (const [what, text] of Object.entries(cases))
      expect(await refusal(await s.request({ csr: text })), what).toEqual([400, "csr", "Invalid certificate request"]);
    expect(s.est.requests.filter(({ method }) => method === "POST")).toEqual([]);
    expect((await s.request({})).status).toBe(422);
  });

  it("checks in the order of the rules: request, authority, its kind, the fields of the provider", async () => {
    const s = await scene();
    const csr = await makeCsr();
    const made = await s.t.post("/certificate_authorities?skip_check=true", {
      custom_scep_proxy: { name: "SCEP", url: "https://scep.example.com", challenge: "c" },
    });
    const { id: scep } = (await made.json()) as { id: number };
    expect(await refusal(await s.request({ csr: "x", idp_token: "x" }, 999))).toEqual([
      400,
      "csr",
      "Invalid certificate request",
    ]);
    expect((await s.request({ csr, idp_token: "x" }, 999)).status).toBe(404);
    expect((await refusal(await s.request({ csr, idp_token: "x" }, scep)))[2]).toContain("custom_scep_proxy");
    expect((await refusal(await s.request({ csr, idp_token: "x" }))).slice(0, 2)).toEqual([400, "idp_oauth_url"]);
  });

  it("reports the status of a refusal, but none of the authority's text", async () => {
    const s = await scene();
    const csr = await makeCsr();
    for (const status of [202, 204, 302, 400, 401, 500, 503]) {
      s.est.answer = () => ({
        status,
        body: status === 204 ? "" : "words of the authority",
        headers: { location: "http://127.0.0.1:1/" },
      });
      const [told, , reason] = await refusal(await s.request({ csr }));
      expect([told, reason]).toEqual([400, expect.stringContaining(String(status))]);
      expect(reason).not.toContain("words");
    }
    const other = await s.ca.sign(Buffer.from((await makeCsr()).replace(/-----[^-]+-----|\s/g, ""), "base64"));
    s.est.answer = async () => ({ body: (await s.ca.bundle(other)).toString("base64") });
    expect((await refusal(await s.request({ csr, return_pem_certificate: true })))[0]).toBe(400);
    s.est.answer = () => ({ body: "AAAA" });
    expect((await refusal(await s.request({ csr })))[0]).toBe(400);
    await s.est.close();
    expect((await refusal(await s.request({ csr })))[0]).toBe(400);
  });

  it("requires a global admin or maintainer", async () => {
    const s = await scene();
    const csr = await makeCsr();
    const path = `/certificate_authorities/${s.id}/request_certificate`;
    const team = (await makeTeam(s.t)).id;
    const allowed = await makeUser(s.t, "maintainer");
    expect((await allowed.post(path, { csr })).status).toBe(200);
    for (const role of ["gitops", "observer", "observer_plus", "technician"] as const)
      expect(
        (await (await makeUser(s.t, role, { api_only: role === "gitops" })).post(path, { csr })).status,
        role,
      ).toBe(403);
    expect((await (await makeUser(s.t, { teams: [{ id: team, role: "admin" }] })).post(path, { csr })).status).toBe(
      403,
    );
    expect((await s.t.as(null).post(path, { csr })).status).toBe(401);
  });
});
