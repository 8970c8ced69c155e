import { describe, expect, it } from "vitest";
import type { EnrollSecret } from "../../src/api/settings/enroll-secrets.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { enrollTokenCleanup } from "../../src/server/settings/enroll-secrets/cleanup.ts";
import { addGlobalSecret, findEnrollSecrets } from "../../src/server/settings/enroll-secrets/service.ts";
import { errorOf, makeTeam, makeUser } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { secret as refSecret, textsOf } from "../support/configuration.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";

const GLOBAL = "/spec/enroll_secret";
const spec = (...secrets: string[]) => ({ spec: { secrets: secrets.map((secret) => ({ secret })) } });
const list = (...secrets: string[]) => ({ secrets: secrets.map((secret) => ({ secret })) });
const many = (count: number) => Array.from({ length: count }, (_, i) => `secret-${i}`);
const globals = async (t: TestApp) =>
  ((await (await t.get(GLOBAL)).json()) as { spec: { secrets: EnrollSecret[] } }).spec.secrets;
const edits = async (t: TestApp) =>
  (await t.store.activities.list())
    .filter(({ type }) => type === "edited_enroll_secrets")
    .map(({ details }) => details);
const expectRefused = async (response: Response) => {
  const body = await errorOf(response);
  expect([response.status, body.errors?.[0]?.name]).toEqual([422, "secrets"]);
};

describe.each(rulesEngines)("enroll secrets on %s", (engine) => {
  it("are replaced together; secrets that stay keep their age", async () => {
    const t = await startApp({ engine });
    const first = t.clock.iso();
    expect(await (await t.post(GLOBAL, spec("one", "two"))).json()).toEqual({});
    t.clock.advance(60_000);
    expect((await t.post(GLOBAL, spec("two", "three"))).status).toBe(200);
    expect(await globals(t)).toEqual([
      { secret: "two", created_at: first },
      { secret: "three", created_at: t.clock.iso() },
    ]);
    expect((await t.post(GLOBAL, spec("three", "two"))).status).toBe(200);
    // Equal secrets are no change, and not recorded.
    expect(await edits(t)).toEqual(Array(2).fill({ team_id: null, team_name: null }));
    expect((await t.post(GLOBAL, spec())).status).toBe(200);
    expect(await globals(t)).toEqual([]);
  });

  it("enroll hosts until they expire, and are then removed", async () => {
    const t = await startApp({ engine });
    const until = new Date(t.clock.now() + 3_600_000).toISOString();
    await t.post(GLOBAL, spec("old"));
    const rotated = { spec: { secrets: [{ secret: "new" }, { secret: "old", expires_at: until }] } };
    expect((await t.post(GLOBAL, rotated)).status).toBe(200);
    expect(await globals(t)).toMatchObject([{ secret: "old", expires_at: until }, { secret: "new" }]);
    // A list without times, as files of configuration have it, leaves them as they are.
    await t.post(GLOBAL, spec("new", "old"));
    expect((await globals(t)).map(({ expires_at }) => expires_at)).toEqual([until, undefined]);
    const valid = () => findEnrollSecrets(t.services, ["old", "new"]);
    expect(await valid()).toEqual([{ team_id: null }, { team_id: null }]);
    t.clock.advance(3_600_001);
    expect(await valid()).toEqual([null, { team_id: null }]);
    await enrollTokenCleanup.run(t.services, new AbortController().signal);
    expect((await globals(t)).map(({ secret }) => secret)).toEqual(["new"]);
    const late = { spec: { secrets: [{ secret: "new", expires_at: until }] } };
    await expectRefused(await t.post(GLOBAL, late));
    expect(await edits(t)).toHaveLength(2);
  });

  it("of a team are its own, and null if there are no secrets", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha");
    const path = `/teams/${alpha}/secrets`;
    const one = { secret: "one", created_at: t.clock.iso(), team_id: alpha };
    expect(await (await t.patch(path, list("one"))).json()).toEqual({ secrets: [one] });
    expect(await (await t.get(path)).json()).toEqual({ secrets: [one] });
    expect(await globals(t)).toEqual([]);
    expect(await (await t.patch(path, list())).json()).toEqual({ secrets: null });
    expect(await edits(t)).toEqual(Array(2).fill({ team_id: alpha, team_name: "Alpha" }));
    expect(await (await t.get("/teams/999/secrets")).json()).toEqual({ secrets: [] });
    expect((await t.patch("/teams/999/secrets", list("x"))).status).toBe(404);
  });

  it("are found by exactly the agent's secret", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha", list("team-secret"));
    await t.post(GLOBAL, spec("global-secret"));
    expect(await findEnrollSecrets(t, ["team-secret"])).toEqual([{ team_id: alpha }]);
    expect(await findEnrollSecrets(t, ["global-secret"])).toEqual([{ team_id: null }]);
    for (const wrong of ["", "team-secret ", "Team-secret", "\u0000", "********"])
      expect(await findEnrollSecrets(t, [wrong, "team-secret"])).toEqual([null, { team_id: alpha }]);
  });

  it("of other teams cannot be guessed: a secret in use elsewhere gets the same reply as any other, and still enrolls there", async () => {
    const t = await startApp({ engine });
    await t.post(GLOBAL, spec("global-secret"));
    const theirs = await makeTeam(t, "Theirs", list("their-secret"));
    const own = await makeTeam(t, "Own");
    const ways: ((secret: string) => { method: string; path: string; body: object })[] = [
      (secret) => ({ method: "PATCH", path: `/teams/${own}/secrets`, body: list(secret) }),
      (secret) => ({ method: "PATCH", path: `/teams/${own}`, body: list(secret) }),
      (secret) => ({ method: "POST", path: "/spec/teams", body: { specs: [{ name: "Own", ...list(secret) }] } }),
      (secret) => {
        const value = { secrets: [refSecret(secret)] };
        const change = { kind: "enroll_secrets", owner: "Own", name: "enroll_secrets", action: "update", value };
        return { method: "POST", path: "/spec/apply", body: { secrets: textsOf(secret), changes: [change] } };
      },
    ];
    const admin = await makeUser(t, { [own]: "admin", [theirs]: "observer" });
    for (const way of ways) {
      const answers = [];
      for (const secret of ["their-secret", "global-secret", `free-${Math.random()}`]) {
        const { method, path, body } = way(secret);
        const res = await admin.request(method, path, body);
        answers.push([res.status, (await res.text()).replaceAll(secret, "S")]);
        expect(res.status, String(answers.at(-1))).toBe(200);
        const shown = (await (await admin.get(`/teams/${own}/secrets`)).json()) as { secrets: EnrollSecret[] };
        expect(shown.secrets).toMatchObject([{ secret }]);
        const found = secret.startsWith("free") ? own : secret === "their-secret" ? theirs : null;
        expect(await findEnrollSecrets(t, [secret])).toEqual([{ team_id: found }]);
      }
      expect(answers[0]![0], String(answers[0]![1])).toBe(200);
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[2]).toEqual(answers[0]);
    }
    // Users who may read them are informed.
    await expectRefused(await t.patch(`/teams/${own}/secrets`, list("their-secret")));
    const both = await makeUser(t, { [own]: "admin", [theirs]: "maintainer" });
    await expectRefused(await both.patch(`/teams/${own}/secrets`, list("their-secret")));
    expect((await both.patch(`/teams/${own}/secrets`, list("global-secret"))).status).toBe(200);
    // The secret enrolls no host into this team after the other team removes it, until it is set again.
    await t.post(GLOBAL, spec());
    expect(await findEnrollSecrets(t, ["global-secret"])).toEqual([null]);
    await both.patch(`/teams/${own}/secrets`, list());
    await both.patch(`/teams/${own}/secrets`, list("global-secret"));
    expect(await findEnrollSecrets(t, ["global-secret"])).toEqual([{ team_id: own }]);
  });

  it("are refused if there are too many, if they are used elsewhere, and if they cannot be typed", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha", list("taken"));
    await t.post(GLOBAL, spec("kept"));
    for (const bad of [many(51), ["taken"], ["new", "taken"], ["a", "a"], [""], ["  "], ["a\u0000b"], ["a\nb"]]) {
      await expectRefused(await t.post(GLOBAL, spec(...bad)));
      expect((await globals(t)).map(({ secret }) => secret)).toEqual(["kept"]);
    }
    await expectRefused(await t.patch(`/teams/${alpha}/secrets`, list("kept")));
    await expectRefused(await t.patch(`/teams/${alpha}/secrets`, list(...many(51))));
    await expectRefused(await t.patch(`/teams/${alpha}/secrets`, {}));
    expect((await t.post(GLOBAL, spec(...many(50)))).status).toBe(200);
    expect(await globals(t)).toHaveLength(50);
    expect((await t.post(GLOBAL, {})).status).toBe(422);
  });

  it("are not changed by a dry run, which is refused like the real request", async () => {
    const t = await startApp({ engine });
    await t.post(GLOBAL, spec("kept"));
    expect((await t.post(`${GLOBAL}?dry_run=true`, spec("new"))).status).toBe(200);
    await expectRefused(await t.post(`${GLOBAL}?dry_run=true`, spec(...many(51))));
    expect((await globals(t)).map(({ secret }) => secret)).toEqual(["kept"]);
    expect(await edits(t)).toHaveLength(1);
  });

  it("are updated on every server when they change", async () => {
    const t = await startApp({ engine });
    let told = 0;
    const stop = await t.store.listen(channels.enrollSecrets, () => told++);
    await t.post(GLOBAL, spec("new"));
    await expect.poll(() => told).toBe(1);
    await stop();
  });

  it("can be added by the server itself", async () => {
    const t = await startApp({ engine });
    await t.post(GLOBAL, spec("kept"));
    const secret = await addGlobalSecret(serviceContext(t.services));
    expect((await globals(t)).map((row) => row.secret)).toEqual(["kept", secret]);
    expect(secret.length).toBeGreaterThanOrEqual(32);
  });

  it("require the roles of the table", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha", list("alpha-secret"));
    const beta = await makeTeam(t, "Beta", list("beta-secret"));
    const own = `/teams/${alpha}/secrets`;
    const reads = { admin: 200, maintainer: 200, observer: 403, observer_plus: 403, gitops: 403, technician: 403 };
    for (const [role, read] of Object.entries(reads) as [keyof typeof reads, number][]) {
      const everywhere = await makeUser(t, role);
      expect([role, (await everywhere.get(GLOBAL)).status]).toEqual([role, read]);
      expect([role, (await everywhere.get(own)).status]).toEqual([role, read]);
      const write = role === "gitops" ? 200 : read;
      expect([role, (await everywhere.post(GLOBAL, spec())).status]).toEqual([role, write]);
      expect([role, (await everywhere.patch(own, list("alpha-secret"))).status]).toEqual([role, write]);
      const member = await makeUser(t, { [alpha]: role });
      expect([role, (await member.get(GLOBAL)).status]).toEqual([role, 403]);
      expect([role, (await member.post(GLOBAL, spec())).status]).toEqual([role, 403]);
      expect([role, (await member.get(own)).status]).toEqual([role, read]);
      expect([role, (await member.patch(own, list("alpha-secret"))).status]).toEqual([role, read]);
      for (const id of [beta, 999]) {
        const other = read === 200 ? 404 : 403;
        expect([role, (await member.get(`/teams/${id}/secrets`)).status]).toEqual([role, other]);
        expect([role, (await member.patch(`/teams/${id}/secrets`, list())).status]).toEqual([role, other]);
      }
    }
  });
});

describe.each(bothEngines)("concurrent changes of enroll secrets on %s", (engine) => {
  it("belong to one of two teams that set the same concurrently", async () => {
    const t = await startApp({ engine });
    const teams = [await makeTeam(t, "Alpha"), await makeTeam(t, "Beta")];
    const replies = await Promise.all(teams.map((id) => t.patch(`/teams/${id}/secrets`, list("wanted"))));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect(await t.store.enrollSecrets.count()).toBe(1);
  });
});
