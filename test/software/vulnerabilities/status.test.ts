// How far the import is, for admins; and the commands that start and show it.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { startApp } from "../../support/app.ts";
import { newDir } from "../../support/ca-fakes.ts";
import { bothEngines } from "../../support/engines.ts";
import { kevFiles, nvdCve, nvdFiles, writeFeeds } from "../../support/feeds.ts";
import { startFleet } from "../../support/fleet.ts";
import { makeSession, makeSoftware, makeUser } from "../../support/make.ts";

const feedFiles = () => ({
  ...nvdFiles("2024", [nvdCve("CVE-2024-0001", [{ cpe: "a:haxx:curl", before: "8.4.0" }])]),
  ...kevFiles(["CVE-2024-0001"]),
});

describe.each(bothEngines)("the status of vulnerability data on %s", (engine) => {
  it("shows each feed, its error, and how many versions were compared", async () => {
    const folder = newDir();
    writeFeeds(folder, { ...feedFiles(), "epss/epss_scores-current.csv.gz": Buffer.from("no gzip file") });
    const t = await startApp({ engine, settings: { vulnerability_data_url: pathToFileURL(folder).href } });
    await makeSoftware(t, "curl", "8.1.0", "homebrew_packages");
    const status = async () => (await (await t.get("/vulnerabilities/status")).json()) as Record<string, unknown>;
    expect(await status()).toMatchObject({ is_configured: true, feeds: [], matching: null, vulnerabilities_count: 0 });
    await expect(runJob(t.services, "vulnerabilities")).rejects.toThrow("epss");
    const after = await status();
    expect(after).toMatchObject({
      matching: { done: 1, total: 1, finished_at: expect.any(String) },
      vulnerabilities_count: 1,
    });
    const feeds = Object.fromEntries((after.feeds as { name: string }[]).map((feed) => [feed.name, feed]));
    expect(feeds["nvd-2024"]).toMatchObject({ state: "current", error: null, imported_at: t.clock.iso() });
    expect(feeds.epss).toMatchObject({ state: "failed", error: expect.stringContaining("gzip"), imported_at: null });
    expect(feeds["nvd-2023"]).toMatchObject({ state: "missing" });
    // What was imported is known, although it affects nothing.
    expect((await t.get("/vulnerabilities/CVE-2024-0001")).status).toBe(204);
    expect((await t.get("/vulnerabilities/CVE-2024-0002")).status).toBe(404);
  });

  it("is for admins", async () => {
    const t = await startApp({ engine });
    const user = await makeUser(t, "maintainer");
    expect((await t.as(await makeSession(t, user.id)).get("/vulnerabilities/status")).status).toBe(403);
    expect(await (await t.get("/vulnerabilities/status")).json()).toMatchObject({ is_configured: false });
  });
});

describe("svc vulnerabilities", () => {
  it("sync imports, and waits for the end", async () => {
    const folder = newDir();
    mkdirSync(join(folder, "nvd"), { recursive: true });
    writeFeeds(folder, feedFiles());
    const fleet = await startFleet({ settings: { vulnerability_data_url: pathToFileURL(folder).href } });
    const { store } = fleet.app;
    await makeSoftware(fleet.app, "curl", "8.1.0", "homebrew_packages");
    // The feeds are read in a thread, which takes real time.
    const onWait = () =>
      expect
        .poll(async () => (await store.jobRuns.list()).find(({ name }) => name === "vulnerabilities")?.finished_at)
        .toBeTruthy();
    const { exitCode, stderr } = await fleet.run(["vulnerabilities", "sync", "--wait"], { onWait });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("the import is done")]);
    expect(await store.vulnerabilities.count()).toBe(1);
    const { stdout } = await fleet.run(["vulnerabilities", "status", "-o", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ running: false, error: null, matching: { done: 2, total: 2 } });
  });

  it("say that nothing is imported without a place of data, and that a CVE affects no hosts", async () => {
    const fleet = await startFleet();
    const { stderr } = await fleet.run(["vulnerabilities", "status"]);
    expect(stderr).toContain("SVC_VULNERABILITY_DATA_URL is not set");
    const sync = await fleet.run(["vulnerabilities", "sync"]);
    expect([sync.exitCode, sync.stderr]).toEqual([
      0,
      "nothing is imported: SVC_VULNERABILITY_DATA_URL is not set on the server (docs/vulnerabilities.md); " +
        "the comparison with software is running: svc vulnerabilities status shows its progress\n",
    ]);
    const unknown = await fleet.run(["vulnerabilities", "get", "CVE-2026-0001"]);
    expect(unknown.exitCode).toBe(3);
    await fleet.app.store.vulnerabilities.insert({ cve: "CVE-2026-0001", created_at: fleet.app.clock.iso() });
    const none = await fleet.run(["vulnerabilities", "get", "cve-2026-0001"]);
    expect([none.exitCode, none.stdout, none.stderr]).toEqual([0, "", expect.stringContaining("affects no hosts")]);
  });
});
