// Activities about accounts and their actors: passwords, sign-in, addresses, sessions.
import { describe, expect, it } from "vitest";
import { gt } from "../../src/server/platform/store/query.ts";
import { login, makeUser, PASSWORD } from "../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { mailOf, tokenIn } from "../support/smtp.ts";

const FRESH = "another-Horse-2-ride";

/** The activities that the work recorded, except sign-ins. */
async function told(t: TestApp, work: () => Promise<Response>) {
  const before = Number((await t.store.activities.max("id")) ?? 0);
  const response = await work();
  expect(response.ok, await response.clone().text()).toBe(true);
  const rows = await t.store.activities.list({ where: gt("id", before), order: [{ column: "id", direction: "asc" }] });
  return rows
    .filter(({ type }) => type !== "user_logged_in")
    .map(({ type, actor_email: actor, details }) => ({ type, actor, ...(details as object) }));
}

const sessionOf = async (t: TestApp, email: string, password = PASSWORD) =>
  t.as(((await (await login(t, email, password)).json()) as { token: string }).token);

describe.each(rulesEngines)("accounts in the feed, on %s", (engine) => {
  it("record each new password, whoever sets it", async () => {
    const t = await startApp({ engine });
    const smtp = await mailOf(t);
    const { user } = await makeUser(t, "observer", { api_only: false });
    const about = { user_id: user.id, user_name: user.name, user_email: user.email };
    const own = await sessionOf(t, user.email);
    const changed = (actor: string | null, by: string) => ({ type: "changed_user_password", actor, ...about, by });
    expect(await told(t, () => own.post("/change_password", { old_password: PASSWORD, new_password: FRESH }))).toEqual([
      changed(user.email, "user"),
    ]);
    expect(await told(t, () => t.patch(`/users/${user.id}`, { new_password: PASSWORD }))).toEqual([
      changed(ADMIN.email, "manager"),
    ]);
    await t.as(null).post("/forgot_password", { email: user.email });
    const token = tokenIn(await smtp.mailTo(user.email), "/login/reset/");
    const reset = { new_password: FRESH, password_reset_token: token };
    expect(await told(t, () => t.as(null).post("/reset_password", reset))).toEqual([changed(null, "link")]);
    expect(await told(t, () => t.post(`/users/${user.id}/require_password_reset`, { require: true }))).toEqual([
      { type: "required_user_password_reset", actor: ADMIN.email, ...about, required: true },
    ]);
    const again = await sessionOf(t, user.email, FRESH);
    expect(await told(t, () => again.post("/perform_required_password_reset", { new_password: PASSWORD }))).toEqual([
      changed(user.email, "user"),
    ]);
    expect(JSON.stringify(await t.store.activities.list())).not.toMatch(new RegExp(`${FRESH}|${PASSWORD}`));
  });

  it("record changes of an account, and no reads", async () => {
    const t = await startApp({ engine });
    await mailOf(t);
    const { user } = await makeUser(t, "observer", { api_only: false });
    const path = `/users/${user.id}`;
    const entry = {
      type: "edited_user",
      actor: ADMIN.email,
      user_id: user.id,
      user_name: "Grace",
      user_email: user.email,
    };
    expect(await told(t, () => t.patch(path, { name: "Grace", mfa_enabled: true }))).toEqual([
      { ...entry, changed: ["name", "mfa_enabled"] },
    ]);
    expect(await told(t, () => t.patch(path, { name: "Grace", settings: { hidden_host_columns: ["a"] } }))).toEqual([]);
    expect((await t.patch("/config?force=true", { smtp_settings: { enable_smtp: false } })).status).toBe(200);
    expect(await told(t, () => t.patch(path, { email: "grace@example.com" }))).toEqual([
      { ...entry, user_email: "grace@example.com", changed: ["email"], old_email: user.email },
    ]);
  });

  it("record sessions that are ended on request, but not one's own logout", async () => {
    const t = await startApp({ engine });
    const { user } = await makeUser(t, "observer", { api_only: false });
    const callers = [await sessionOf(t, user.email), await sessionOf(t, user.email), await sessionOf(t, user.email)];
    expect(await told(t, () => callers[0]!.post("/logout"))).toEqual([]);
    const list = (await (await t.get(`/users/${user.id}/sessions`)).json()) as { sessions: { session_id: number }[] };
    expect(list.sessions).toHaveLength(2);
    const ended = { type: "ended_user_sessions", user_id: user.id, user_name: user.name, user_email: user.email };
    const one = list.sessions[0]!.session_id;
    expect(await told(t, () => t.delete(`/sessions/${one}`))).toEqual([
      { ...ended, actor: ADMIN.email, sessions_count: 1 },
    ]);
    expect(await told(t, () => t.delete(`/users/${user.id}/sessions`))).toEqual([
      { ...ended, actor: ADMIN.email, sessions_count: 1 },
    ]);
    for (const caller of callers) expect((await caller.get("/me")).status).toBe(401);
  });
});
