// A title with a bundle identifier is named as most of its copies are, not as the copy that was reported first.
import { describe, expect, it } from "vitest";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { softwareCounts } from "../../src/server/software/software/counts.ts";
import { enroll, makeSecret, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeUser } from "../support/make.ts";

const DAY = 24 * 3600 * 1000;

async function macs(t: TestApp, count: number) {
  const send = throughApp(t);
  await makeSecret(t);
  const keys: string[] = [];
  for (let i = 0; i < count; i++)
    keys.push(
      await enroll(send, {
        host_identifier: `mac-${i}`,
        platform_type: "21",
        host_details: { os_version: { platform: "darwin", name: "macOS", version: "15.1" } },
      }),
    );
  return async (index: number, name: string, version = "1.0") => {
    const row = { name, version, bundle_identifier: "com.example.editor", source: "apps" };
    const body = { node_key: keys[index], queries: { svc_detail_query_software_apps: [row] }, statuses: {} };
    expect((await send("/api/v1/qengine/distributed/write", body)).status).toBe(200);
  };
}

async function recount(t: TestApp): Promise<void> {
  await t.services.running.of(softwareCounts).flush();
  t.clock.advance(DAY + 1);
  await runJob(t.services, "counts");
}

async function titles(t: TestApp): Promise<string[]> {
  const list = await t.get("/software/titles?order_key=name");
  return ((await list.json()) as { software_titles: { name: string }[] }).software_titles.map(({ name }) => name);
}

describe.each(bothEngines)("names of software titles on %s", (engine) => {
  it("become those of most copies, and stay while as many have the present one", async () => {
    const t = await startApp({ engine });
    const report = await macs(t, 3);
    await report(0, "My old editor.app");
    await recount(t);
    expect(await titles(t)).toEqual(["My old editor.app"]);
    await report(1, "Editor.app");
    await recount(t);
    expect(await titles(t), "one each").toEqual(["My old editor.app"]);
    // The name counts, not the version.
    await report(2, "Editor.app", "2.0");
    await recount(t);
    expect(await titles(t)).toEqual(["Editor.app"]);
    expect(await t.store.softwareTitleCounts.list()).toMatchObject([{ name: "Editor.app" }, { name: "Editor.app" }]);
    await report(2, "Another.app");
    await recount(t);
    expect(await titles(t), "one each").toEqual(["Editor.app"]);
    // Nobody has the name any more.
    await report(1, "Another.app");
    await report(0, "Another.app");
    await recount(t);
    expect(await titles(t)).toEqual(["Another.app"]);
  });

  it("stay as users have chosen them", async () => {
    const t = await startApp({ engine });
    const admin = await makeUser(t, "admin");
    const report = await macs(t, 3);
    await report(0, "A.app");
    await recount(t);
    const [title] = await t.store.softwareTitles.list();
    expect((await admin.patch(`/software/titles/${title!.id}/name`, { name: "A.app" })).status).toBe(205);
    await report(1, "B.app");
    await report(2, "B.app");
    await recount(t);
    expect(await titles(t)).toEqual(["A.app"]);
    // A name of an earlier version of the server, which did not store who has chosen it.
    const set = { name: "Chosen", named_by: "" as const };
    await t.store.softwareTitles.update({ where: eq("id", title!.id), set });
    await recount(t);
    expect((await t.store.softwareTitles.get(title!.id))!.name).toBe("Chosen");
    await t.store.softwareTitles.update({ where: eq("id", title!.id), set: { ...set, name: "A.app" } });
    await recount(t);
    expect((await t.store.softwareTitles.get(title!.id))!.name).toBe("B.app");
  });
});
