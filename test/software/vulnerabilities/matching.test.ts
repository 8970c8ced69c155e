// Software and operating systems of hosts are compared with imported data: all of them after an import, and new ones
// soon after hosts have reported them.
import { readdir } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { vulnerabilityMatcher } from "../../../src/server/software/vulnerabilities/matching/matcher.ts";
import { matchAll } from "../../../src/server/software/vulnerabilities/matching/run.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { newDir } from "../../support/ca-fakes.ts";
import { bothEngines } from "../../support/engines.ts";
import { epssFiles, kevFiles, nvdCve, nvdFiles, osvFiles, writeFeeds } from "../../support/feeds.ts";
import { makeHost, makeInventory } from "../../support/make.ts";

const curl = nvdCve("CVE-2024-0001", [{ cpe: "a:haxx:curl", before: "8.4.0" }], 9.8);
const editor = (before: string) => nvdCve("CVE-2024-0002", [{ cpe: "a:microsoft:visual_studio_code", before }], 7.8);
const macos = nvdCve("CVE-2024-0003", [{ cpe: "o:apple:macos", from: "14.0", before: "14.3" }]);
const advisory = {
  id: "UBUNTU-CVE-2024-0004",
  upstream: ["CVE-2024-0004"],
  affected: [
    {
      package: { ecosystem: "Ubuntu:22.04:LTS", name: "sudo" },
      ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1.9.9-1ubuntu2.2" }] }],
    },
  ],
};

afterEach(() => {
  vi.unstubAllEnvs();
});

async function start(engine: (typeof bothEngines)[number]) {
  const folder = newDir();
  writeFeeds(folder, {
    ...nvdFiles("2024", [curl, editor("1.87.2"), macos]),
    ...osvFiles("Ubuntu", [advisory]),
    ...kevFiles(["CVE-2024-0001"]),
    ...epssFiles({ "CVE-2024-0001": 0.5 }),
  });
  const t = await startApp({ engine, settings: { vulnerability_data_url: pathToFileURL(folder).href } });
  return { t, folder };
}

const sync = (t: TestApp) => runJob(t.services, "vulnerabilities");
const follow = (t: TestApp) => t.services.running.of(vulnerabilityMatcher).run();

async function make(t: TestApp, name: string, version: string, source: string, more = {}) {
  const key = `${name}|${source}`;
  const [title] = await t.store.softwareTitles.upsert([{ name, source, key }], { on: ["key"] });
  return t.store.software.insert({ title_id: title!.id, name, version, source, key: `${key}|${version}`, ...more });
}

const cvesOf = async (t: TestApp, id: number) =>
  (await t.store.softwareCves.list({ where: eq("software_id", id) })).map(({ cve, resolved_in_version }) => [
    cve,
    resolved_in_version,
  ]);

async function systemOf(t: TestApp, name: string, version: string, platform: string) {
  const system = await t.store.osVersions.insert({ name, version, platform });
  return { system, host: await makeHost(t, { os_version_id: system.id, platform }) };
}

describe.each(bothEngines)("matching on %s", (engine) => {
  it("finds the vulnerabilities of all versions after an import, with their details", async () => {
    const { t, folder } = await start(engine);
    const old = await make(t, "curl", "8.1.0", "homebrew_packages");
    const code = await make(t, "Visual Studio Code.app", "1.86.0", "apps", {
      bundle_identifier: "com.microsoft.VSCode",
    });
    const sudo = await make(t, "sudo", "1.9.9-1ubuntu2", "deb_packages");
    const { host } = await systemOf(t, "Ubuntu", "22.04.3 LTS", "ubuntu");
    const { system } = await systemOf(t, "macOS", "14.2.1", "darwin");
    await makeInventory(t, host.id, [old, code, sudo]);

    await sync(t);
    expect(await cvesOf(t, old.id)).toEqual([["CVE-2024-0001", "8.4.0"]]);
    expect(await cvesOf(t, code.id)).toEqual([["CVE-2024-0002", "1.87.2"]]);
    expect(await cvesOf(t, sudo.id)).toEqual([["CVE-2024-0004", "1.9.9-1ubuntu2.2"]]);
    expect(await t.store.osCves.list()).toMatchObject([{ os_version_id: system.id, cve: "CVE-2024-0003" }]);
    expect(await t.store.software.get(code.id)).toMatchObject({
      generated_cpe: "cpe:2.3:a:microsoft:visual_studio_code:1.86.0:*:*:*:*:macos:*:*",
      is_matched: true,
      cvss_score: 7.8,
    });
    expect(await t.store.vulnerabilities.first({ where: eq("cve", "CVE-2024-0001") })).toMatchObject({
      cvss_score: 9.8,
      epss_probability: 0.5,
      cisa_known_exploit: true,
      cve_description: "A flaw (CVE-2024-0001).",
    });
    expect(await t.store.vulnerabilityMatching.list()).toMatchObject([{ done: 3, total: 3 }]);

    // Changes of the last days replace what the year's file says.
    writeFeeds(folder, { ...nvdFiles("modified", [editor("1.86.0")]), ...epssFiles({ "CVE-2024-0001": 0.9 }) });
    await sync(t);
    expect(await cvesOf(t, code.id)).toEqual([]);
    expect(await t.store.software.get(code.id)).toMatchObject({ is_vulnerable: false });
    expect(await t.store.vulnerabilities.first({ where: eq("cve", "CVE-2024-0001") })).toMatchObject({
      epss_probability: 0.9,
    });
    expect(await t.store.software.get(old.id)).toMatchObject({ epss_probability: 0.9 });
  });

  it("finds those of Alpine's packages by their source package and the release", async () => {
    const { t, folder } = await start(engine);
    const openssl = {
      id: "ALPINE-CVE-2024-0009",
      upstream: ["CVE-2024-0009"],
      affected: [
        {
          package: { ecosystem: "Alpine:v3.20", name: "openssl" },
          ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "3.3.1-r1" }] }],
        },
      ],
    };
    writeFeeds(folder, osvFiles("Alpine", [openssl]));
    const old = await make(t, "libssl3", "3.3.1-r0", "apk_packages", { source_package: "openssl" });
    const fixed = await make(t, "libssl3", "3.3.1-r10", "apk_packages", { source_package: "openssl" });
    const elsewhere = await make(t, "libssl3", "3.3.0-r0", "apk_packages", { source_package: "openssl" });
    const { host } = await systemOf(t, "Alpine Linux", "3.20.3", "alpine");
    await makeInventory(t, host.id, [old, fixed]);
    const { host: other } = await systemOf(t, "Alpine Linux", "3.19.1", "alpine");
    await makeInventory(t, other.id, [elsewhere]);
    await sync(t);
    expect(await cvesOf(t, old.id)).toEqual([["CVE-2024-0009", "3.3.1-r1"]]);
    expect(await cvesOf(t, fixed.id)).toEqual([]);
    expect(await cvesOf(t, elsewhere.id)).toEqual([]);
  });

  it("finds those of pacman's packages by their product", async () => {
    const { t } = await start(engine);
    const old = await make(t, "curl", "1:8.1.0-2", "pacman_packages");
    const fixed = await make(t, "curl", "8.4.0-1", "pacman_packages");
    await sync(t);
    expect(await cvesOf(t, old.id)).toEqual([["CVE-2024-0001", "8.4.0"]]);
    expect(await cvesOf(t, fixed.id)).toEqual([]);
  });

  it("finds those of new versions, once the host that has them is known", async () => {
    const { t } = await start(engine);
    await sync(t);
    const { host } = await systemOf(t, "Ubuntu", "22.04.3 LTS", "ubuntu");
    const old = await make(t, "curl", "8.1.0", "homebrew_packages");
    const sudo = await make(t, "sudo", "1.9.9-1ubuntu2", "deb_packages");
    await follow(t);
    expect(await cvesOf(t, old.id)).toHaveLength(1);
    expect(await cvesOf(t, sudo.id)).toEqual([]);
    await makeInventory(t, host.id, [sudo]);
    await systemOf(t, "macOS", "14.1", "darwin");
    await follow(t);
    expect(await cvesOf(t, sudo.id)).toHaveLength(1);
    expect(await t.store.osCves.count()).toBe(1);
    expect(await t.store.software.count(eq("is_matched", false))).toBe(0);
  });

  it("continues where an interrupted run has stopped, and leaves new versions to it", async () => {
    const { t } = await start(engine);
    const first = await make(t, "curl", "8.1.0", "homebrew_packages");
    await sync(t);
    const second = await make(t, "curl", "8.2.0", "homebrew_packages");
    const [row] = await t.store.vulnerabilityMatching.list();
    const interrupted = { software_id: first.id, finished_at: null };
    await t.store.vulnerabilityMatching.update({ where: eq("id", row!.id), set: interrupted });
    await t.store.softwareCves.delete(eq("software_id", first.id));
    await follow(t);
    expect(await cvesOf(t, second.id)).toEqual([]);

    const aborted = new AbortController();
    aborted.abort();
    await matchAll(t.services, aborted.signal);
    expect((await t.store.vulnerabilityMatching.list())[0]).toMatchObject(interrupted);
    await matchAll(t.services, new AbortController().signal);
    expect(await cvesOf(t, first.id)).toEqual([]);
    expect(await cvesOf(t, second.id)).toHaveLength(1);
    expect((await t.store.vulnerabilityMatching.list())[0]!.finished_at).not.toBeNull();
  });

  it("copies reference files that are not on this machine, and removes the copies", async () => {
    const { t } = await start(engine);
    const old = await make(t, "curl", "8.1.0", "homebrew_packages");
    vi.spyOn(t.services.blobs, "localPath").mockReturnValue(null);
    const folder = newDir();
    vi.stubEnv("TMPDIR", folder);
    await sync(t);
    expect(await cvesOf(t, old.id)).toEqual([["CVE-2024-0001", "8.4.0"]]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("does nothing without imported data", async () => {
    const t = await startApp({ engine });
    await make(t, "curl", "8.1.0", "homebrew_packages");
    await sync(t);
    await follow(t);
    expect(await t.store.vulnerabilityMatching.count()).toBe(0);
    expect(await t.store.software.count(eq("is_matched", false))).toBe(1);
  });
});
