import { describe, expect, it } from "vitest";
import type { EnrollSecret } from "../../src/api/enroll-secrets.ts";
import { channels } from "../../src/server/core/channels.ts";
import { serviceContext } from "../../src/server/core/context.ts";
import { addGlobalSecret, findEnrollSecrets } from "../../src/server/enroll-secrets/service.ts";
import { errorOf, makeTeam, makeUser } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";

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

describe.each(["lowdb", "postgres"] as const)("enroll secrets on %s", (engine) => {
  it("replace each other as a whole; what stays keeps its age", async () => {
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
    // The same again is no change, and no news.
    expect(await edits(t)).toEqual(Array(2).fill({ team_id: null, team_name: null }));
    expect((await t.post(GLOBAL, spec())).status).toBe(200);
    expect(await globals(t)).toEqual([]);
  });

  it("of a team are its own, and null when none is left", async () => {
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

  it("are found by an agent's secret, exactly", async () => {
    const t = await startApp({ engine });
    const alpha = await makeTeam(t, "Alpha", list("team-secret"));
    await t.post(GLOBAL, spec("global-secret"));
    expect(await findEnrollSecrets(t.store, ["team-secret"])).toEqual([{ team_id: alpha }]);
    expect(await findEnrollSecrets(t.store, ["global-secret"])).toEqual([{ team_id: null }]);
    for (const wrong of ["", "team-secret ", "Team-secret", "\u0000", "********"])
      expect(await findEnrollSecrets(t.store, [wrong, "team-secret"])).toEqual([null, { team_id: alpha }]);
  });

  it("are refused when there are too many, when used elsewhere, and when they cannot be typed", async () => {
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

  it("stay as they are in a dry run, which is refused as the run would be", async () => {
    const t = await startApp({ engine });
    await t.post(GLOBAL, spec("kept"));
    expect((await t.post(`${GLOBAL}?dry_run=true`, spec("new"))).status).toBe(200);
    await expectRefused(await t.post(`${GLOBAL}?dry_run=true`, spec(...many(51))));
    expect((await globals(t)).map(({ secret }) => secret)).toEqual(["kept"]);
    expect(await edits(t)).toHaveLength(1);
  });

  it("belong to one of two teams that want the same at once", async () => {
    const t = await startApp({ engine });
    const teams = [await makeTeam(t, "Alpha"), await makeTeam(t, "Beta")];
    const replies = await Promise.all(teams.map((id) => t.patch(`/teams/${id}/secrets`, list("wanted"))));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect(await t.store.enrollSecrets.count()).toBe(1);
  });

  it("are told to every server when they change", async () => {
    const t = await startApp({ engine });
    let told = 0;
    const stop = await t.store.listen(channels.enrollSecrets, () => told++);
    await t.post(GLOBAL, spec("new"));
    await expect.poll(() => told).toBe(1);
    await stop();
  });

  it("can be added to by the server itself", async () => {
    const t = await startApp({ engine });
    await t.post(GLOBAL, spec("kept"));
    const secret = await addGlobalSecret(serviceContext(t.services));
    expect((await globals(t)).map((row) => row.secret)).toEqual(["kept", secret]);
    expect(secret.length).toBeGreaterThanOrEqual(32);
  });

  it("are for the roles of the table", async () => {
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
