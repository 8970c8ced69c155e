import { describe, expect, it } from "vitest";
import { MASK } from "../../../src/api/fields.ts";
import { errorOf, makeTeam, makeUser } from "../../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { mailOf, SMTP_PASSWORD, SMTP_USER, smtpSettings, startRaw, startSmtp, useMail } from "../../support/smtp.ts";

const signIn = {
  authentication_type: "authtype_username_and_password",
  user_name: SMTP_USER,
  password: SMTP_PASSWORD,
} as const;
const test = (t: TestApp, body: object = {}) => t.post("/config/test_mail", body);
const expectSent = async (response: Response, to: string) =>
  expect([response.status, await response.json()]).toEqual([200, { sent_to: to }]);
const expectMailError = async (response: Response, reason: RegExp) => {
  const body = await errorOf(response);
  expect([response.status, body.message], JSON.stringify(body)).toEqual([500, "Mail Error"]);
  expect(body.errors?.[0]?.reason).toMatch(reason);
};
const expectField = async (response: Response, status: number, name: string) => {
  const body = await errorOf(response);
  expect([response.status, body.errors?.[0]?.name], JSON.stringify(body)).toEqual([status, name]);
};

describe.each(rulesEngines)("the test of outgoing mail on %s", (engine) => {
  it("sends with the stored settings, to the caller or a given address, turned on or not", async () => {
    const t = await startApp({ engine });
    const smtp = await startSmtp({ auth: true });
    await useMail(t, smtp.port, { ...signIn, enable_smtp: false });
    await expectSent(await test(t), ADMIN.email);
    expect(await smtp.mailTo(ADMIN.email)).toMatchObject({
      subject: "A test of outgoing mail",
      from: { name: "Test", address: "svc@example.com" },
      auth: "PLAIN",
    });
    await expectSent(await test(t, { to: " Bo@Example.com " }), "bo@example.com");
    await smtp.mailTo("bo@example.com");
  });

  it("tests settings that are not stored, and stores none", async () => {
    const t = await startApp({ engine });
    const smtp = await startSmtp({ auth: true });
    const { configured: _, ...settings } = smtpSettings(smtp.port, { ...signIn, server: "localhost" });
    const before = await (await t.get("/config")).json();
    await expectSent(await test(t, { smtp_settings: settings }), ADMIN.email);
    expect(await (await t.get("/config")).json()).toEqual(before);
  });

  it("uses the stored password only with its own server", async () => {
    const t = await startApp({ engine });
    const smtp = await startSmtp({ auth: true });
    const thief = await startSmtp({ auth: true });
    await useMail(t, smtp.port, signIn);
    await expectSent(await test(t, { smtp_settings: { password: MASK, domain: "a.example.com" } }), ADMIN.email);
    await expectSent(await test(t, { smtp_settings: { authentication_method: "authmethod_login" } }), ADMIN.email);
    const moved = [
      { port: thief.port },
      { port: thief.port, password: MASK },
      { server: "127.0.0.1", password: MASK },
      { server: "127.0.0.1" },
    ];
    for (const smtp_settings of moved)
      await expectField(await test(t, { smtp_settings }), 422, "smtp_settings.password");
    expect(thief.mails).toEqual([]);
    const again = { port: thief.port, password: SMTP_PASSWORD };
    await expectSent(await test(t, { smtp_settings: again }), ADMIN.email);
  });

  it("returns the server's own text, without the password", async () => {
    const t = await startApp({ engine });
    const smtp = await startSmtp({ auth: true, refuse: /^no@/ });
    await useMail(t, smtp.port, { ...signIn, password: "Wrong-Canary-77!" });
    const refused = await test(t);
    expect(await refused.clone().text()).not.toContain("Wrong-Canary-77!");
    await expectMailError(refused, /refused the sign-in: 535 Wrong credentials postmaster \*\*\*/);
    await useMail(t, smtp.port, signIn);
    await expectMailError(await test(t, { to: "no@example.com" }), /550 5\.1\.1 No such user here/);
  });

  it("ends in bounded time with a server that hangs, while others are served", async () => {
    const t = await startApp({ engine, settings: { mail_timeout: "500ms" } });
    await useMail(t, await startRaw(() => {}));
    const hanging = Array.from({ length: 5 }, () => test(t));
    expect((await t.get("/me")).status).toBe(200);
    for (const response of await Promise.all(hanging)) await expectMailError(response, /did not answer within 0\.5 s/);
  });

  it("refuses invalid values, with their names", async () => {
    const t = await startApp({ engine });
    await expectField(await test(t), 422, "smtp_settings.server");
    await expectField(await test(t, { smtp_settings: { server: "localhost" } }), 422, "smtp_settings.sender_address");
    await mailOf(t);
    await t.patch("/config", { smtp_settings: { enable_smtp: false, server: "", sender_address: "" } });
    await expectField(await test(t), 422, "smtp_settings.server");
    await useMail(t, (await startSmtp()).port);
    await expectField(await test(t, { to: "not an address" }), 422, "to");
    await expectField(await test(t, { smtp_settings: { port: 70_000 } }), 422, "smtp_settings.port");
    await expectField(await test(t, { smtp_settings: { server: 7 } }), 422, "smtp_settings.server");
    await expectField(await test(t, { smtp_settings: [] }), 422, "smtp_settings");
    const sender = { sender_address: "a@b, c@d" };
    await expectField(await test(t, { smtp_settings: sender }), 422, "smtp_settings.sender_address");
    await expectMailError(await test(t, { smtp_settings: { server: "10.1.2.3" } }), /private addresses are blocked/);
  });

  it("requires the right to change the configuration", async () => {
    const t = await startApp({ engine });
    await mailOf(t);
    const team = await makeTeam(t, "A");
    for (const roles of ["maintainer", "observer", { [team]: "admin" }] as const) {
      const user = await makeUser(t, roles);
      expect((await user.post("/config/test_mail", { to: "x@example.com" })).status).toBe(403);
    }
    const gitops = await makeUser(t, "gitops");
    expect((await gitops.post("/config/test_mail", { to: "x@example.com" })).status).toBe(200);
    expect((await t.as(null).post("/config/test_mail", {})).status).toBe(401);
  });
});
