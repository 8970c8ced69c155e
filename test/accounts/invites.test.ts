import { describe, expect, it } from "vitest";
import type { Invite } from "../../src/api/accounts/invites.ts";
import { days } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { errorOf, login, makeTeam, makeUser, PASSWORD } from "../support/accounts.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { mailOf, tokenIn } from "../support/smtp.ts";

interface CreatedInvite {
  readonly invite: Invite;
  readonly link: string;
  readonly token: string;
}

/** An invite of a server that sends no mail: its link is in the reply. */
async function invite(caller: Caller, body: object): Promise<CreatedInvite> {
  const response = await caller.post("/invites", { name: "Ina", email: "ina@example.com", ...body });
  expect(response.status, await response.clone().text()).toBe(200);
  const made = (await response.json()) as { invite: Invite; link: string };
  expect(made.link).toMatch(/^https:\/\/svc\.example\.com\/login\/invites\/[\w-]{43}$/);
  return { ...made, token: made.link.split("/").at(-1)! };
}
const accept = (t: TestApp, { token, invite: { email } }: CreatedInvite, more: object = {}) =>
  t.as(null).post("/users", { email, name: "Ina Invited", invite_token: token, password: PASSWORD, ...more });
const status = async (response: Promise<Response>) => (await response).status;
const field = async (response: Response) => {
  expect(response.status).toBe(422);
  return (await errorOf(response)).errors![0]!.name;
};

describe.each(rulesEngines)("invites on %s", (engine) => {
  it("are created, shown to holders of the token, and become an account once", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Alpha");
    const made = await invite(t, {
      email: "Ina@Example.COM",
      position: "Operations",
      teams: [{ id: team, role: "maintainer" }],
    });
    expect(made.invite).toMatchObject({
      id: 1,
      invited_by: 1,
      email: "ina@example.com",
      name: "Ina",
      position: "Operations",
      sso_enabled: false,
      mfa_enabled: false,
      global_role: null,
      teams: [{ id: team, name: "Alpha", role: "maintainer" }],
    });
    expect(JSON.stringify(await t.store.invites.list())).not.toContain(made.token);
    expect(await (await t.as(null).get(`/invites/${made.token}`)).json()).toEqual({ invite: made.invite });
    const accepted = await accept(t, made, { email: "INA@example.com", password_confirmation: "whatever" });
    expect(accepted.status).toBe(200);
    const { user } = (await accepted.json()) as { user: { id: number } };
    expect(user).toMatchObject({
      name: "Ina Invited",
      email: "ina@example.com",
      position: "Operations",
      global_role: null,
      force_password_reset: false,
      api_only: false,
      teams: [{ id: team, role: "maintainer" }],
    });
    expect((await login(t, "ina@example.com", PASSWORD)).status).toBe(200);
    expect(await status(accept(t, made))).toBe(404);
    expect(await status(t.as(null).get(`/invites/${made.token}`))).toBe(404);
    expect(await (await t.get("/invites")).json()).toMatchObject({ invites: [] });
    const feed = await t.store.activities.list({ order: [{ column: "id", direction: "asc" }] });
    expect(feed.filter(({ type }) => type === "created_invite" || type === "created_user").at(-2)).toMatchObject({
      type: "created_invite",
      actor_id: 1,
      details: { invite_id: 1, invite_email: "ina@example.com" },
    });
    expect(feed.filter(({ type }) => type === "created_user").at(-1)).toMatchObject({ actor_id: user.id });
    expect(JSON.stringify(feed)).not.toContain(made.token);
  });

  it("are only in the mail if the server sends mail", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const body = { name: "Ina", email: "ina@example.com", global_role: "observer", mfa_enabled: true };
    const reply = await t.post("/invites", body);
    expect(reply.status, await reply.clone().text()).toBe(200);
    const { invite: made, ...rest } = (await reply.json()) as { invite: Invite };
    expect(rest).toEqual({});
    expect(made.mfa_enabled).toBe(true);
    const mail = await smtp.mailTo("ina@example.com");
    expect(mail.subject).toContain("You are invited to svc of Test");
    expect(mail.text).toContain("Ada Admin (ada@example.com)");
    const token = tokenIn(mail, "/login/invites/");
    expect(await (await t.as(null).get(`/invites/${token}`)).json()).toEqual({ invite: made });
    await t.patch(`/invites/${made.id}`, { name: "Ina B." });
    await smtp.quiet();
    expect(smtp.mails).toHaveLength(1);
    const accepted = await accept(t, { invite: made, token, link: "" });
    expect(await accepted.json()).toMatchObject({ user: { mfa_enabled: true } });
  });

  it("that are changed to another address get a new link, mailed there and valid for five days; the old one becomes invalid", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t, { refuse: /nobody/ });
    const { invite: made } = (await (
      await t.post("/invites", { name: "Ina", email: "ina@example.com", global_role: "observer" })
    ).json()) as { invite: Invite };
    const old = tokenIn(await smtp.mailTo("ina@example.com"), "/login/invites/");
    t.clock.advance(days(4));
    // A failed mail changes nothing.
    expect(await status(t.patch(`/invites/${made.id}`, { email: "nobody@example.com" }))).toBe(500);
    expect(await (await t.as(null).get(`/invites/${old}`)).json()).toEqual({ invite: made });
    // The current address is not a new one.
    expect(await status(t.patch(`/invites/${made.id}`, { email: "INA@example.com" }))).toBe(200);
    await smtp.quiet();
    expect(smtp.mails).toHaveLength(1);
    const moved = await t.patch(`/invites/${made.id}`, { email: "ida@example.com" });
    expect(await moved.json()).toEqual({ invite: expect.objectContaining({ id: made.id, email: "ida@example.com" }) });
    const token = tokenIn(await smtp.mailTo("ida@example.com"), "/login/invites/");
    expect(token).not.toBe(old);
    for (const email of ["ina@example.com", "ida@example.com"])
      expect(await status(accept(t, { invite: { ...made, email }, token: old, link: "" }))).toBe(404);
    t.clock.advance(days(4));
    expect(await status(accept(t, { invite: { ...made, email: "ida@example.com" }, token, link: "" }))).toBe(200);
  });

  it("that cannot be mailed are not created", async () => {
    const t = await startApp({ engine });
    await mailOf(t, { refuse: /ina/ });
    const body = { name: "Ina", email: "ina@example.com", global_role: "observer" };
    const reply = await t.post("/invites", body);
    expect(reply.status).toBe(500);
    expect((await errorOf(reply)).message).toBe("Mail Error");
    expect(await t.store.invites.count()).toBe(0);
    // The address is available again.
    expect(await status(t.post("/invites", { ...body, email: "eve@example.com" }))).toBe(200);
    expect(await t.store.invites.count()).toBe(1);
  });

  it("expire after five days", async () => {
    const t = await startApp({ engine });
    const made = await invite(t, { global_role: "observer" });
    t.clock.advance(days(5) - 1);
    expect(await status(t.as(null).get(`/invites/${made.token}`))).toBe(200);
    t.clock.advance(1);
    expect(await field(await t.as(null).get(`/invites/${made.token}`))).toBe("invite_token");
    expect(await field(await accept(t, made))).toBe("invite_token");
    expect(await t.store.users.count()).toBe(1);
    // An expired invite no longer blocks the address.
    await t.store.sessions.update({ where: eq("id", 1), set: { accessed_at: t.clock.iso() } });
    const again = await invite(t, { global_role: "observer" });
    expect(again.token).not.toBe(made.token);
    expect(await status(accept(t, again))).toBe(200);
  });

  it("follow the rules of addresses", async () => {
    const t = await startApp({ engine });
    const person = await makeUser(t, "observer");
    const made = await invite(t, { global_role: "observer" });
    const post = (body: object) => t.post("/invites", { name: "X", email: "x@example.com", ...body });
    expect(await status(post({ email: "INA@example.com", global_role: "observer" }))).toBe(409);
    expect(await field(await post({ email: person.user.email, global_role: "observer" }))).toBe("email");
    expect(await field(await post({ email: "none", global_role: "observer" }))).toBe("email");
    expect(await field(await t.post("/invites", { name: "X", global_role: "observer" }))).toBe("email");
    expect(await field(await t.post("/invites", { email: "x@example.com", global_role: "observer" }))).toBe("name");
    // Nobody else gets the address in the meantime.
    const user = { name: "Y", password: PASSWORD, global_role: "observer", email: "ina@example.com" };
    const taken = await t.post("/users/admin", user);
    expect(taken.status).toBe(409);
    expect((await errorOf(taken)).errors![0]!.reason).toContain("invited");
    expect(await status(t.patch(`/users/${person.user.id}`, { email: "ina@example.com" }))).toBe(409);
    expect(await field(await accept(t, made, { email: "other@example.com" }))).toBe("email");
    expect(await t.store.invites.count()).toBe(1);
  });

  it("are changed and deleted", async () => {
    const t = await startApp({ engine });
    const [alpha, beta] = [await makeTeam(t, "Alpha"), await makeTeam(t, "Beta")];
    const person = await makeUser(t, "observer");
    const one = await invite(t, { teams: [{ id: alpha, role: "observer" }] });
    const two = await invite(t, { email: "two@example.com", global_role: "observer" });
    const path = `/invites/${one.invite.id}`;
    const change = async (body: object) => {
      const response = await t.patch(path, body);
      expect(response.status, await response.clone().text()).toBe(200);
      return ((await response.json()) as { invite: Invite }).invite;
    };
    t.clock.advance(1000);
    expect(await change({ name: "Ina B." })).toMatchObject({
      name: "Ina B.",
      teams: [{ id: alpha, role: "observer" }],
      updated_at: t.clock.iso(),
    });
    expect((await change({ teams: [{ id: beta, role: "admin" }] })).teams).toMatchObject([{ id: beta, role: "admin" }]);
    expect(await change({ global_role: "maintainer" })).toMatchObject({ global_role: "maintainer", teams: [] });
    const moved = await t.patch(path, { email: "New@example.com", position: "P" });
    const { invite: after, link } = (await moved.json()) as CreatedInvite;
    expect(after).toMatchObject({ email: "new@example.com", position: "P", global_role: "maintainer" });
    expect(await status(t.as(null).get(`/invites/${one.token}`))).toBe(404);
    expect(await status(t.patch(path, { email: "two@example.com" }))).toBe(409);
    expect(await status(t.patch(path, { email: person.user.email }))).toBe(409);
    expect(await status(t.patch("/invites/99", { name: "X" }))).toBe(404);
    const { status: code, ...rest } = await t.patch(path, { global_role: "gitops" });
    expect(code, JSON.stringify(rest)).toBe(422);
    expect(await status(accept(t, { ...one, invite: after }))).toBe(404);
    expect(await status(accept(t, { invite: after, link, token: link.split("/").at(-1)! }))).toBe(200);
    expect(await (await t.delete(`/invites/${two.invite.id}`)).json()).toEqual({});
    expect(await status(t.delete(`/invites/${two.invite.id}`))).toBe(404);
    expect(await status(t.as(null).get(`/invites/${two.token}`))).toBe(404);
    expect(await status(accept(t, two))).toBe(404);
  });

  it.each([
    ["no role", {}, 422, 1],
    ["an unknown role", { global_role: "king" }, 422, 1],
    ["both kinds of roles", { global_role: "admin", teams: [{ id: 1, role: "admin" }] }, 422, 1],
    ["the role for programs", { global_role: "gitops" }, 422, 4],
    ["a team that is not there", { teams: [{ id: 99, role: "observer" }] }, 422, undefined],
    ["two ways of signing in", { global_role: "observer", sso_enabled: true, mfa_enabled: true }, 409, undefined],
    ["mailed links where no mail is sent", { global_role: "observer", mfa_enabled: true }, 400, undefined],
  ])("refuse %s", async (_, body, code, errorCode) => {
    const t = await startApp({ engine });
    await makeTeam(t, "Alpha");
    const response = await t.post("/invites", { name: "X", email: "x@example.com", ...body });
    expect(response.status).toBe(code);
    expect((await errorOf(response)).code).toBe(errorCode);
    expect(await t.store.invites.count()).toBe(0);
    expect(await t.store.inviteTeams.count()).toBe(0);
  });

  it("need the premium tier for premium roles, when created and when accepted", async () => {
    const t = await startApp({ engine, tier: "free" });
    for (const body of [
      { global_role: "observer_plus" },
      { teams: [{ id: 1, role: "observer" }] },
      { global_role: "observer", mfa_enabled: true },
    ])
      expect(await status(t.post("/invites", { name: "X", email: "x@example.com", ...body }))).toBe(402);
    const made = await invite(t, { global_role: "observer" });
    await t.store.invites.update({ where: eq("id", 1), set: { global_role: "observer_plus" } });
    expect(await status(accept(t, made))).toBe(402);
    expect(await t.store.users.count()).toBe(1);
    expect(await t.store.invites.count()).toBe(1);
  });

  it("for single sign-on create users without a password", async () => {
    const t = await startApp({ engine });
    const made = await invite(t, { global_role: "observer", sso_enabled: true });
    expect(await field(await accept(t, made))).toBe("password");
    const none = { password: undefined };
    expect(await field(await accept(t, made, { ...none, sso_invite: false }))).toBe("sso_invite");
    const accepted = await accept(t, made, { ...none, sso_invite: true });
    expect(await accepted.json()).toMatchObject({ user: { sso_enabled: true, email: "ina@example.com" } });
    expect((await login(t, "ina@example.com", PASSWORD)).status).toBe(401);
  });

  it("accept no weak password, no additional fields, and no role from the caller", async () => {
    const t = await startApp({ engine });
    const made = await invite(t, { global_role: "observer" });
    for (const password of [undefined, "", "short-1", "no-digits-in-here", `${"x".repeat(47)}1-`])
      expect(await field(await accept(t, made, { password }))).toBe("password");
    expect(await field(await accept(t, made, { sso_invite: true }))).toBe("sso_invite");
    expect(await field(await accept(t, made, { name: " " }))).toBe("name");
    const more = { global_role: "admin", teams: [{ id: 1, role: "admin" }], id: 1, api_only: true, mfa_enabled: true };
    const refused = await accept(t, made, more);
    expect(refused.status).toBe(400);
    expect((await errorOf(refused)).errors!.map(({ name }) => name)).toEqual(Object.keys(more));
    const accepted = await accept(t, made);
    expect(await accepted.json()).toMatchObject({
      user: { id: 2, global_role: "observer", teams: [], api_only: false, mfa_enabled: false },
    });
  });

  it("become invalid when their team is deleted", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Alpha");
    const made = await invite(t, { teams: [{ id: team, role: "admin" }] });
    expect(await status(t.delete(`/teams/${team}`))).toBe(200);
    expect(await field(await accept(t, made))).toBe("invite_token");
    expect(await t.store.users.count()).toBe(1);
  });

  it("are listed with pages, order and search", async () => {
    const t = await startApp({ engine });
    for (const name of ["Bea", "Abe", "Cid"])
      await invite(t, { name, email: `${name}@example.com`, global_role: "observer" });
    const names = async (query: string) =>
      ((await (await t.get(`/invites?${query}`)).json()) as { invites: Invite[] }).invites.map(({ name }) => name);
    expect(await names("")).toEqual(["Bea", "Abe", "Cid"]);
    expect(await names("order_key=name")).toEqual(["Abe", "Bea", "Cid"]);
    expect(await names("order_key=email&order_direction=desc&per_page=1&page=1")).toEqual(["Bea"]);
    expect(await names("query=ABE@")).toEqual(["Abe"]);
    expect(await status(t.get("/invites?order_key=token_hash"))).toBe(400);
  });

  it("are restricted to admins", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Alpha");
    const made = await invite(t, { global_role: "observer" });
    const boss = await makeUser(t, { [team]: "admin" });
    const other = await makeUser(t, "maintainer");
    for (const caller of [boss, other]) {
      expect(await status(caller.get("/invites"))).toBe(403);
      expect(
        await status(
          caller.post("/invites", { name: "X", email: "x@example.com", teams: [{ id: team, role: "admin" }] }),
        ),
      ).toBe(403);
      expect(await status(caller.patch(`/invites/${made.invite.id}`, { name: "X" }))).toBe(403);
      expect(await status(caller.delete(`/invites/${made.invite.id}`))).toBe(403);
    }
    for (const token of ["1", "x".repeat(512), "%00", "..%2f..", made.token.slice(1)])
      expect(await status(t.as(null).get(`/invites/${token}`)), token).toBe(404);
  });
});

describe.each(bothEngines)("concurrent use of invites on %s", (engine) => {
  it("are used by exactly one of many concurrent callers", async () => {
    const t = await startApp({ engine });
    const made = await invite(t, { global_role: "observer" });
    const codes = await Promise.all(Array.from({ length: 8 }, () => status(accept(t, made))));
    expect(codes.filter((code) => code === 200)).toHaveLength(1);
    expect(codes.filter((code) => code === 404)).toHaveLength(7);
    expect(await t.store.users.count(eq("email", "ina@example.com"))).toBe(1);
    expect(await t.store.invites.count()).toBe(0);
  });
});
