// What is stored of the vulnerabilities that versions have.
import { describe, expect, it } from "vitest";
import { eq } from "../../../src/server/platform/store/query.ts";
import {
  replaceVulnerabilities,
  replaceVulnerabilitiesOfAll,
  setMetadata,
} from "../../../src/server/software/software/vulnerabilities/service.ts";
import { correctSeverities } from "../../../src/server/software/software/vulnerabilities/severity.ts";
import { startApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeSoftware } from "../../support/make.ts";

const AT = "2026-01-05T00:00:00.000Z";
const found = (...cves: string[]) => cves.map((cve) => ({ cve, resolved_in_version: `fixed ${cve.slice(-1)}` }));
const described = { cvss_score: 5.5, epss_probability: 0.1, cisa_known_exploit: false, cve_description: "A bug." };

describe.each(bothEngines)("vulnerabilities of versions on %s", (engine) => {
  it("are replaced, and each is new once", async () => {
    const t = await startApp({ engine });
    const app = await makeSoftware(t, "App", "1.0");
    const replace = (...cves: string[]) =>
      t.store.tx((tx) => replaceVulnerabilities(tx, "software", app.id, found(...cves), AT));
    expect(await replace("cve-2026-0001", "CVE-2026-0002")).toEqual(["CVE-2026-0001", "CVE-2026-0002"]);
    expect(await replace("CVE-2026-0001", "CVE-2026-0002")).toEqual([]);
    expect(await replace("CVE-2026-0002", "CVE-2026-0003")).toEqual(["CVE-2026-0003"]);
    const rows = await t.store.softwareCves.list({ order: [{ column: "cve", direction: "asc" }] });
    expect(rows.map((row) => [row.cve, row.resolved_in_version])).toEqual([
      ["CVE-2026-0002", "fixed 2"],
      ["CVE-2026-0003", "fixed 3"],
    ]);
    expect(await t.store.vulnerabilities.count()).toBe(3);

    const os = await t.store.osVersions.insert({ name: "macOS", version: "15.1", platform: "darwin" });
    const ofSystem = await t.store.tx((tx) => replaceVulnerabilities(tx, "os", os.id, found("CVE-2026-0002"), AT));
    expect(ofSystem).toEqual(["CVE-2026-0002"]);
    expect(await t.store.tx((tx) => replaceVulnerabilities(tx, "os", os.id + 1, found("CVE-2026-0002"), AT))).toEqual(
      [],
    );
  });

  it("are replaced for several versions at once, each with its own; versions that were deleted are left out", async () => {
    const t = await startApp({ engine });
    const [one, two, three] = [
      await makeSoftware(t, "App", "1.0"),
      await makeSoftware(t, "App", "2.0"),
      await makeSoftware(t, "App", "3.0"),
    ];
    const replace = (wanted: Readonly<Record<number, readonly string[]>>) =>
      t.store.tx((tx) =>
        replaceVulnerabilitiesOfAll(
          tx,
          "software",
          new Map(Object.entries(wanted).map(([id, cves]) => [Number(id), found(...cves)])),
          AT,
        ),
      );
    const stored = async () =>
      (await t.store.softwareCves.list())
        .map(({ software_id, cve, resolved_in_version }) => `${software_id} ${cve} ${resolved_in_version}`)
        .sort();
    const deleted = three.id + 1_000;
    expect(
      await replace({
        [one.id]: ["CVE-2026-0001", "CVE-2026-0002"],
        [two.id]: ["CVE-2026-0002"],
        [three.id]: ["CVE-2026-0003"],
        [deleted]: ["CVE-2026-0009"],
      }),
    ).toEqual(["CVE-2026-0001", "CVE-2026-0002", "CVE-2026-0003"]);
    expect(await replace({ [one.id]: [], [two.id]: ["CVE-2026-0002", "CVE-2026-0003"] })).toEqual(["CVE-2026-0003"]);
    expect(await stored()).toEqual(
      [
        `${two.id} CVE-2026-0002 fixed 2`,
        `${two.id} CVE-2026-0003 fixed 3`,
        `${three.id} CVE-2026-0003 fixed 3`,
      ].sort(),
    );
    expect((await t.store.vulnerabilities.list()).map(({ cve }) => cve).sort()).toEqual([
      "CVE-2026-0001",
      "CVE-2026-0002",
      "CVE-2026-0003",
    ]);
    const vulnerable = await t.store.software.list({ where: eq("is_vulnerable", true) });
    expect(vulnerable.map(({ id }) => id).sort()).toEqual([two.id, three.id].sort());
  });

  it("make the severity of a version, which follows what is known about them", async () => {
    const t = await startApp({ engine });
    const app = await makeSoftware(t, "App", "1.0");
    const severity = () => t.store.software.first({ where: eq("id", app.id) });
    expect(await severity()).toMatchObject({ is_vulnerable: false, cvss_score: -1, cve_published: "" });
    await t.store.tx((tx) =>
      replaceVulnerabilities(tx, "software", app.id, found("CVE-2026-0001", "CVE-2026-0002"), AT),
    );
    expect(await severity()).toMatchObject({ is_vulnerable: true, cvss_score: -1 });
    const records = [
      { ...described, cve: "CVE-2026-0001", cve_published: AT },
      { ...described, cve: "CVE-2026-0002", cvss_score: 9.8, epss_probability: null, cve_published: null },
      { ...described, cve: "CVE-2026-9999", cve_published: null },
    ];
    expect(await t.store.tx((tx) => setMetadata(tx, records))).toBe(2);
    expect(await t.store.tx((tx) => setMetadata(tx, records))).toBe(0);
    await correctSeverities(t.store);
    expect(await severity()).toMatchObject({ cvss_score: 9.8, epss_probability: 0.1, cve_published: AT });
    await t.store.tx((tx) => replaceVulnerabilities(tx, "software", app.id, [], AT));
    expect(await severity()).toMatchObject({ is_vulnerable: false, cvss_score: -1, epss_probability: -1 });
  });
});
