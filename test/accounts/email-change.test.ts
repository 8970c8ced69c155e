import { describe, expect, it } from "vitest";
import type { User } from "../../src/api/accounts/users.ts";
import { mailIdle } from "../../src/server/platform/mail/later.ts";
import { issueToken } from "../../src/server/platform/mail/one-time.ts";
import { errorOf, login, makeTeam, makeUser, PASSWORD } from "../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { mailOf, startRaw, tokenIn, useMail } from "../support/smtp.ts";

const DAY = 86_400_000;
const userIn = async (response: Response): Promise<User> => {
  if (response.status !== 200) throw new Error(await response.text());
  return ((await response.json()) as { user: User }).user;
};
const expectStatus = async (response: Response, status: number, message?: string) => {
  const body = await errorOf(response);
  expect([response.status, message && body.message], JSON.stringify(body)).toEqual([status, message]);
};
/** A user who has signed in with the password. */
async function signedIn(t: TestApp, email: string, roles: Parameters<typeof makeUser>[1] = "observer") {
  const { user } = await makeUser(t, roles, { api_only: false, email });
  const { token } = (await (await login(t, email, PASSWORD)).json()) as { token: string };
  return { id: user.id, ...t.as(token) };
}

describe.each(rulesEngines)("a new email address on %s", (engine) => {
  it("is used after its owner has opened the mailed link; the old address is notified", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const bo = await signedIn(t, "bo@example.com");
    const change = { email: " New@Example.com ", password: PASSWORD, name: "Bo Two" };
    const changed = await userIn(await bo.patch(`/users/${bo.id}`, change));
    expect(changed).toMatchObject({ email: "bo@example.com", name: "Bo Two" });
    const mail = await smtp.mailTo("new@example.com");
    expect(mail.text).toContain("https://svc.example.com/email/change/");
    expect((await smtp.mailTo("bo@example.com")).text).toContain("new@example.com");
    expect((await login(t, "new@example.com", PASSWORD)).status).toBe(401);
    const response = await bo.get(`/email/change/${tokenIn(mail, "/email/change/")}`);
    expect([response.status, await response.json()]).toEqual([200, { new_email: "new@example.com" }]);
    expect((await userIn(await bo.get("/me"))).email).toBe("new@example.com");
    expect((await login(t, "new@example.com", PASSWORD)).status).toBe(200);
    expect((await login(t, "bo@example.com", PASSWORD)).status).toBe(401);
  });

  it("cannot be confirmed any more if another user has it in the meantime, or after it was cancelled", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const bo = await signedIn(t, "bo@example.com");
    await bo.patch(`/users/${bo.id}`, { email: "wanted@example.com", password: PASSWORD });
    const token = tokenIn(await smtp.mailTo("wanted@example.com"), "/email/change/");
    await makeUser(t, "observer", { email: "wanted@example.com" });
    await expectStatus(await bo.get(`/email/change/${token}`), 409, "Resource Already Exists");
    await bo.patch(`/users/${bo.id}`, { email: "free@example.com", password: PASSWORD });
    const freed = tokenIn(await smtp.mailTo("free@example.com"), "/email/change/");
    expect((await bo.patch(`/users/${bo.id}`, { email: "bo@example.com" })).status).toBe(200);
    await expectStatus(await bo.get(`/email/change/${freed}`), 404);
  });

  it("requires one's own password and an unused address; otherwise nothing is mailed", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const bo = await signedIn(t, "bo@example.com");
    const url = `/users/${bo.id}`;
    const email = "new@example.com";
    await expectStatus(await bo.patch(url, { email }), 422);
    await expectStatus(await bo.patch(url, { email, password: "wrong-Password-1" }), 403, "Permission Denied");
    await expectStatus(await bo.patch(url, { email: ADMIN.email, password: PASSWORD }), 409);
    await expectStatus(await bo.patch(url, { email: "not an address", password: PASSWORD }), 422);
    await expectStatus(await bo.patch(url, { email, password: PASSWORD, global_role: "admin" }), 403);
    await mailIdle(t.services);
    await smtp.quiet();
    expect(smtp.mails).toEqual([]);
    expect(await t.store.oneTimeTokens.count()).toBe(0);
  });

  it("is confirmed in the same way if an admin changes it for others", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const team = await makeTeam(t, "A");
    const bo = await signedIn(t, "bo@example.com", { [team]: "observer" });
    const admin = await makeUser(t, { [team]: "admin" });
    expect((await userIn(await admin.patch(`/users/${bo.id}`, { email: "new@example.com" }))).email).toBe(
      "bo@example.com",
    );
    const token = tokenIn(await smtp.mailTo("new@example.com"), "/email/change/");
    await expectStatus(await admin.get(`/email/change/${token}`), 404);
    expect((await bo.get(`/email/change/${token}`)).status).toBe(200);
  });

  it("is used immediately if no outgoing mail is configured", async () => {
    const t = await startApp({ engine });
    const bo = await signedIn(t, "bo@example.com");
    const change = { email: "new@example.com", password: PASSWORD };
    expect((await userIn(await bo.patch(`/users/${bo.id}`, change))).email).toBe("new@example.com");
    expect((await login(t, "new@example.com", PASSWORD)).status).toBe(200);
  });

  it("changes nothing if the confirmation cannot be mailed", async () => {
    const t = await startApp({ engine });
    await useMail(t, await startRaw((socket) => socket.end("554 5.7.1 not today\r\n")));
    const bo = await signedIn(t, "bo@example.com");
    const before = await userIn(await bo.get("/me"));
    const change = {
      email: "new@example.com",
      name: "Bo the Second",
      new_password: "another-Horse-2",
      password: PASSWORD,
    };
    await expectStatus(await bo.patch(`/users/${bo.id}`, change), 500, "Mail Error");
    expect(await userIn(await bo.get("/me"))).toEqual(before);
    expect((await login(t, "bo@example.com", PASSWORD)).status).toBe(200);
    expect(await t.store.oneTimeTokens.count()).toBe(0);
  });

  it("works together with a new password in the same change", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const bo = await signedIn(t, "bo@example.com");
    const change = { email: "new@example.com", new_password: "another-Horse-2", password: PASSWORD };
    expect((await bo.patch(`/users/${bo.id}`, change)).status).toBe(200);
    const token = tokenIn(await smtp.mailTo("new@example.com"), "/email/change/");
    expect((await bo.get(`/email/change/${token}`)).status).toBe(200);
    expect((await login(t, "new@example.com", "another-Horse-2")).status).toBe(200);
  });

  it("becomes invalid with a new password", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const bo = await signedIn(t, "bo@example.com");
    await bo.patch(`/users/${bo.id}`, { email: "thief@example.com", password: PASSWORD });
    const token = tokenIn(await smtp.mailTo("thief@example.com"), "/email/change/");
    const fresh = { old_password: PASSWORD, new_password: "another-Horse-2" };
    expect((await bo.post("/change_password", fresh)).status).toBe(200);
    await expectStatus(await bo.get(`/email/change/${token}`), 404);
  });
});

describe.each(bothEngines)("the link to a new email address on %s", (engine) => {
  it("accepts the link only from the user itself, once, within a day", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const bo = await signedIn(t, "bo@example.com");
    const other = await signedIn(t, "other@example.com", "admin");
    const request = async (email: string) => {
      expect((await bo.patch(`/users/${bo.id}`, { email, password: PASSWORD })).status).toBe(200);
      return tokenIn(await smtp.mailTo(email), "/email/change/");
    };
    const first = await request("one@example.com");
    const second = await request("two@example.com");
    await expectStatus(await t.as(null).get(`/email/change/${second}`), 401);
    await expectStatus(await other.get(`/email/change/${second}`), 404);
    await expectStatus(await bo.get(`/email/change/${first}`), 404);
    await expectStatus(await bo.get("/email/change/x"), 404);
    const reset = await issueToken(t.services, "password_reset", bo.id, DAY);
    await expectStatus(await bo.get(`/email/change/${reset}`), 404);
    const both = await Promise.all([bo.get(`/email/change/${second}`), bo.get(`/email/change/${second}`)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    const late = await request("three@example.com");
    t.clock.advance(DAY);
    await expectStatus(await bo.get(`/email/change/${late}`), 404);
    expect((await userIn(await bo.get("/me"))).email).toBe("two@example.com");
  });
});
