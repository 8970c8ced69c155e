import { describe, expect, it } from "vitest";
import { Sharing } from "../../../src/server/platform/core/concurrency/sharing.ts";
import { startApp } from "../../support/app.ts";
import { makeHost, makeTeam, makeUser } from "../../support/make.ts";

/** Reads that end when the test releases them; each returns how many events had happened when it started. */
function world() {
  let happened = 0;
  const open: (() => void)[] = [];
  return {
    sharing: new Sharing(),
    happen: () => ++happened,
    runs: () => open.length,
    end: (i: number) => open[i]!(),
    read: () => {
      const seen = happened;
      return new Promise<number>((resolve) => open.push(() => resolve(seen)));
    },
  };
}
const settle = () => new Promise((done) => setImmediate(done));

describe("a shared read", () => {
  it("runs once for all callers before it starts, and never returns data from before a request", async () => {
    const w = world();
    const first = w.sharing.run("a", w.read);
    w.happen();
    const second = w.sharing.run("a", w.read);
    w.happen();
    const third = w.sharing.run("a", w.read);
    expect(w.runs()).toBe(1);
    w.end(0);
    await settle();
    expect(w.runs()).toBe(2);
    w.happen();
    const fourth = w.sharing.run("a", w.read);
    w.end(1);
    await settle();
    w.end(2);
    expect(await Promise.all([first, second, third, fourth])).toEqual([0, 2, 2, 3]);
    await settle();
    expect(w.sharing.size).toBe(0);
  });

  it("does not wait for others, and continues after one that failed", async () => {
    const w = world();
    const failing = w.sharing.run("a", () => Promise.reject(new Error("gone")));
    const next = w.sharing.run("a", async () => "well");
    const other = w.sharing.run("b", async () => "at once");
    await expect(failing).rejects.toThrow("gone");
    expect(await Promise.all([next, other])).toEqual(["well", "at once"]);
    await settle();
    expect(w.sharing.size).toBe(0);
  });

  it("keeps counts and summaries of callers with different teams separate", async () => {
    const t = await startApp();
    const [one, two] = [await makeTeam(t), await makeTeam(t)];
    await makeHost(t, { team_id: one.id });
    await makeHost(t, { team_id: one.id });
    await makeHost(t, { team_id: two.id });
    const callers = [
      t,
      await makeUser(t, { teams: [{ id: one.id, role: "observer" }] }),
      await makeUser(t, { teams: [{ id: two.id, role: "observer" }] }),
      await makeUser(t, "observer"),
    ];
    const answers = await Promise.all(
      [...callers, ...callers].flatMap((caller) => [caller.get("/hosts/count"), caller.get("/host_summary")]),
    );
    const counts = await Promise.all(
      answers.map(async (res) => {
        const body = (await res.json()) as { count?: number; totals_hosts_count?: number };
        return body.count ?? body.totals_hosts_count;
      }),
    );
    const once = [3, 3, 2, 2, 1, 1, 3, 3];
    expect(counts).toEqual([...once, ...once]);
  });
});
