import { describe, expect, it } from "vitest";
import { createSession } from "../../src/server/accounts/sessions/service.ts";
import { STREAMS_PER_USER } from "../../src/server/accounts/sessions/streams.ts";
import { makeUser } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";

/** Reads to the end; resolves when the server ends the stream. */
async function ended(response: Response): Promise<boolean> {
  expect(response.status).toBe(200);
  const reader = response.body!.getReader();
  while (!(await reader.read()).done);
  return true;
}

const session = (t: TestApp, userId: number): Promise<string> => createSession(t.services, userId);

describe.each(bothEngines)("streams on %s", (engine) => {
  const open = async () => {
    const t = await startApp({ engine });
    const user = await makeUser(t, "observer");
    const token = await session(t, user.user.id);
    const stream = ended(await t.as(token).get("/activities/stream"));
    return { t, user, token, stream };
  };

  // Without the notification the stream would end at its next check, 15 seconds later.
  const soon = (stream: Promise<boolean>) =>
    Promise.race([stream, new Promise((late) => setTimeout(() => late("too late"), 10_000).unref())]);

  it("end when the user signs out", async () => {
    const { t, token, stream } = await open();
    expect((await t.as(token).post("/logout")).status).toBe(200);
    expect(await soon(stream)).toBe(true);
  });

  it("end when an admin ends the user's sessions", async () => {
    const { t, user, stream } = await open();
    await t.delete(`/users/${user.user.id}/sessions`);
    expect(await soon(stream)).toBe(true);
  });

  it("end when the user is deleted", async () => {
    const { t, user, stream } = await open();
    expect((await t.delete(`/users/${user.user.id}`)).status).toBe(200);
    expect(await soon(stream)).toBe(true);
  });

  it("end when the user loses the role", async () => {
    const { t, user, stream } = await open();
    const team = (await (await t.post("/teams", { name: "A" })).json()) as { team: { id: number } };
    const change = { global_role: null, teams: [{ id: team.team.id, role: "observer" }] };
    expect((await t.patch(`/users/${user.user.id}`, change)).status).toBe(200);
    expect(await soon(stream)).toBe(true);
  });
});

describe("streams", () => {
  it("of one user are limited, independently of other users'", async () => {
    const t = await startApp();
    const user = await makeUser(t, "observer");
    const token = await session(t, user.user.id);
    const streams = [];
    for (let i = 0; i < STREAMS_PER_USER; i++) streams.push(await t.as(token).get("/activities/stream"));
    const refused = await t.as(token).get("/activities/stream");
    expect(refused.status).toBe(429);
    expect(((await refused.json()) as { message: string }).message).toContain("streams of activities");
    expect(refused.headers.get("retry-after")).toBe("30");
    const other = await t.get("/activities/stream");
    expect(other.status).toBe(200);
    await other.body!.cancel();
    await streams.pop()!.body!.cancel();
    const again = await t.as(token).get("/activities/stream");
    expect(again.status).toBe(200);
    await again.body!.cancel();
    for (const one of streams) await one.body!.cancel();
  });

  it("that stay open belong to users who may still read them", async () => {
    const t = await startApp();
    const user = await makeUser(t, "observer");
    const [kept, gone] = [await session(t, user.user.id), await session(t, user.user.id)];
    const one = await t.as(kept).get("/activities/stream");
    const other = ended(await t.as(gone).get("/activities/stream"));
    await t.as(gone).post("/logout");
    expect(await other).toBe(true);
    const reader = one.body!.getReader();
    expect((await reader.read()).done).toBe(false);
    await reader.cancel();
  });
});
