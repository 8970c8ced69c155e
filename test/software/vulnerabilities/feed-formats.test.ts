import { describe, expect, it } from "vitest";
import { epssEntries, kevEntries } from "../../../src/server/software/vulnerabilities/feeds/exploits.ts";
import { jsonElements } from "../../../src/server/software/vulnerabilities/feeds/json-elements.ts";
import { msrcEntries } from "../../../src/server/software/vulnerabilities/feeds/msrc.ts";
import { cpeParts, nvdEntries } from "../../../src/server/software/vulnerabilities/feeds/nvd.ts";
import { advisoryEntries, ecosystemOf } from "../../../src/server/software/vulnerabilities/feeds/osv.ts";

/** The text in pieces of a few bytes, as a slow connection brings it. */
async function* bytes(text: string, size = 7) {
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("the objects of a JSON list", () => {
  const document = {
    vulnerabilitiesX: [{ no: 1 }],
    other: { vulnerabilities: [{ no: 2 }] },
    text: 'vulnerabilities":[{"no":3}]',
    vulnerabilities: [{ a: 'x"}]\\' }, { b: [{ c: { d: "ä\u2028" } }] }, {}],
    after: [{ no: 4 }],
  };

  it.each([1, 2, 3, 7, 1000])("are found in pieces of %d bytes", async (size) => {
    expect(await all(jsonElements(bytes(JSON.stringify(document), size), "vulnerabilities"))).toEqual(
      document.vulnerabilities,
    );
    expect(await all(jsonElements(bytes(JSON.stringify(document, null, 2), size), "vulnerabilities"))).toEqual(
      document.vulnerabilities,
    );
  });

  it.each([
    ["", "has no list"],
    ["[]", "is no object"],
    ['{"vulnerabilities": {}}', "has no list"],
    ['{"vulnerabilities": [{"a": 1}', "ends too early"],
    ['{"vulnerabilities": [{"a": "', "ends too early"],
    ['{"vulnerabilities": [{a}]}', "not valid JSON"],
    ["}", "closes nothing"],
    [`{"vulnerabilities": [{"a": ${"[".repeat(100_000)}`, "nested too deeply"],
  ])("%s is refused: %s", async (text, reason) => {
    await expect(all(jsonElements(bytes(text, 1000), "vulnerabilities"))).rejects.toThrow(reason);
  });
});

describe("NVD", () => {
  const match = (criteria: string, more = {}) => ({ vulnerable: true, criteria, ...more });
  const entries = (cve: object) =>
    all(nvdEntries(bytes(JSON.stringify({ vulnerabilities: [{ cve: { id: "CVE-2024-0001", ...cve } }] }))));

  it("gives score, description and time of a CVE", async () => {
    const metric = (type: string, baseScore: number) => ({ type, cvssData: { baseScore } });
    const found = await entries({
      published: "2024-01-31T18:15:47.000",
      descriptions: [
        { lang: "es", value: "no" },
        { lang: "en", value: "A flaw." },
      ],
      metrics: { cvssMetricV31: [metric("Secondary", 5), metric("Primary", 9.8)] },
    });
    expect(found).toEqual([
      { key: "v:CVE-2024-0001", value: { score: 9.8, published: "2024-01-31T18:15:47.000Z", text: "A flaw." } },
    ]);
  });

  it("gives the ranges of each product", async () => {
    const nodes = [
      {
        cpeMatch: [
          match("cpe:2.3:a:acme:tool:*:*:*:*:*:windows:*:*", { versionStartIncluding: "1", versionEndExcluding: "2" }),
          match("cpe:2.3:a:acme:tool:3.0:beta:*:*:*:*:*:*"),
          match("cpe:2.3:h:acme:box:*:*:*:*:*:*:*:*"),
        ],
      },
    ];
    expect((await entries({ configurations: [{ nodes }] }))[1]).toEqual({
      key: "p:a:acme:tool",
      value: {
        cve: "CVE-2024-0001",
        ranges: [
          ["windows", null, "1", null, null, "2"],
          ["", "3.0-beta", null, null, null, null],
        ],
      },
    });
  });

  it("limits a product to the systems on which it is affected", async () => {
    const nodes = [
      { cpeMatch: [match("cpe:2.3:a:acme:tool:*:*:*:*:*:*:*:*")] },
      { cpeMatch: [{ vulnerable: false, criteria: "cpe:2.3:o:microsoft:windows:-:*:*:*:*:*:*:*" }] },
    ];
    expect((await entries({ configurations: [{ operator: "AND", nodes }] }))[1]?.value).toMatchObject({
      on: ["windows"],
    });
  });

  it("gives no product of a rejected CVE", async () => {
    const nodes = [{ cpeMatch: [match("cpe:2.3:a:acme:tool:*:*:*:*:*:*:*:*")] }];
    expect(await entries({ vulnStatus: "Rejected", configurations: [{ nodes }] })).toHaveLength(1);
  });

  it("gives no scores, times and versions that cannot be real", async () => {
    const long = "1.".repeat(200);
    const nodes = [
      {
        cpeMatch: [
          match("cpe:2.3:a:acme:tool:*:*:*:*:*:*:*:*", { versionEndExcluding: long }),
          match(`cpe:2.3:a:acme:tool:${long}:*:*:*:*:*:*:*`),
          match("cpe:2.3:a:acme:tool:*:*:*:*:*:*:*:*", { versionEndExcluding: "2" }),
        ],
      },
    ];
    for (const score of ["1e308", "1e999", "-5", '"9"']) {
      const metrics = `{"cvssMetricV31":[{"type":"Primary","cvssData":{"baseScore":${score}}}]}`;
      const rest = JSON.stringify({
        id: "CVE-2024-0001",
        published: "+275760-09-13T00:00:00",
        configurations: [{ nodes }],
      });
      const text = `{"vulnerabilities":[{"cve":{"metrics":${metrics},${rest.slice(1)}}]}`;
      expect(await all(nvdEntries(bytes(text))), score).toEqual([
        { key: "v:CVE-2024-0001", value: { published: "" } },
        { key: "p:a:acme:tool", value: { cve: "CVE-2024-0001", ranges: [["", null, null, null, null, "2"]] } },
      ]);
    }
  });

  it("reads escaped names", () => {
    expect(cpeParts("cpe:2.3:a:a\\:b:c\\+\\+:1:*:*:*:*:*:*:*").slice(0, 4)).toEqual(["a", "a:b", "c++", "1"]);
  });
});

describe("KEV and EPSS", () => {
  it("gives exploited CVEs", async () => {
    const document = { title: "KEV", vulnerabilities: [{ cveID: "CVE-2021-44228" }, { cveID: "x" }] };
    expect(await all(kevEntries(bytes(JSON.stringify(document))))).toEqual([
      { key: "v:CVE-2021-44228", value: { kev: true } },
    ]);
  });

  it("gives probabilities", async () => {
    const text = "#model_version:v2025\ncve,epss,percentile\nCVE-1999-0001,0.0125,0.8\nCVE-1999-0002,2,1\nbad";
    expect(await all(epssEntries(bytes(text)))).toEqual([{ key: "v:CVE-1999-0001", value: { epss: 0.0125 } }]);
    await expect(all(epssEntries(bytes("<html>")))).rejects.toThrow("first line");
  });
});

it("Microsoft's documents give the build that fixes a CVE, for servers and others", async () => {
  const document = {
    ProductTree: {
      FullProductName: [
        { ProductID: "1", Value: "Windows 11 Version 23H2 for x64-based Systems" },
        { ProductID: "2", Value: "Windows Server 2022" },
        { ProductID: "3", Value: "Microsoft Office 2019" },
        { ProductID: "4", Value: "Windows 11 Version 22H2 for x64-based Systems" },
        { ProductID: "5", Value: "Windows 10 Version 21H2 for 32-bit Systems" },
      ],
    },
    Vulnerability: [
      {
        CVE: "CVE-2024-21412",
        Remediations: [
          // One update for two releases: the document gives the build of the older one.
          { Type: 2, FixedBuild: "10.0.22621.3155", ProductID: ["1", "4"] },
          { Type: 2, FixedBuild: "10.0.19045.4046", ProductID: ["5"] },
          { Type: 2, FixedBuild: "10.0.20348.2322", ProductID: ["2"] },
          { Type: 2, FixedBuild: "16.0.1.2", ProductID: ["3"] },
          { Type: 0, ProductID: ["1"] },
        ],
      },
    ],
  };
  expect(await all(msrcEntries(bytes(JSON.stringify(document), 100)))).toEqual([
    { key: "w:client:10.0.22631", value: { cve: "CVE-2024-21412", fixed: "10.0.22631.3155" } },
    { key: "w:client:10.0.22621", value: { cve: "CVE-2024-21412", fixed: "10.0.22621.3155" } },
    { key: "w:client:10.0.19044", value: { cve: "CVE-2024-21412", fixed: "10.0.19044.4046" } },
    { key: "w:server:10.0.20348", value: { cve: "CVE-2024-21412", fixed: "10.0.20348.2322" } },
  ]);
  await expect(all(msrcEntries(bytes("{}")))).rejects.toThrow("Vulnerability");
  await expect(all(msrcEntries(bytes("{")))).rejects.toThrow("not valid JSON");
});

describe("OSV", () => {
  it("gives the ranges of a source package and its binary packages", () => {
    const advisory = {
      id: "UBUNTU-CVE-2023-0001",
      upstream: ["CVE-2023-0001"],
      affected: [
        {
          package: { ecosystem: "Ubuntu:22.04:LTS", name: "openssl" },
          ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "3.0.2-0ubuntu1.8" }] }],
          ecosystem_specific: { binaries: [{ binary_name: "libssl3", binary_version: "3.0.2-0ubuntu1.8" }] },
        },
      ],
    };
    const value = { cves: ["CVE-2023-0001"], ranges: [["0", "3.0.2-0ubuntu1.8", null]] };
    expect([...advisoryEntries(advisory)]).toEqual([
      { key: "o:Ubuntu:22.04:openssl", value },
      { key: "o:Ubuntu:22.04:libssl3", value },
    ]);
    expect([...advisoryEntries({ ...advisory, withdrawn: "2024-01-01T00:00:00Z" })]).toEqual([]);
  });

  it("gives several ranges of one package", () => {
    const events = [{ introduced: "1.0" }, { fixed: "1.2" }, { introduced: "2.0" }, { last_affected: "2.3" }];
    const affected = [{ package: { ecosystem: "PyPI", name: "My_Package" }, ranges: [{ type: "ECOSYSTEM", events }] }];
    expect([...advisoryEntries({ id: "GHSA-1", aliases: ["CVE-2023-0001"], affected })]).toEqual([
      {
        key: "o:PyPI:my-package",
        value: {
          cves: ["CVE-2023-0001"],
          ranges: [
            ["1.0", "1.2", null],
            ["2.0", null, "2.3"],
          ],
        },
      },
    ]);
  });

  it.each([
    ["Ubuntu:22.04:LTS", "Ubuntu:22.04"],
    ["Ubuntu:Pro:18.04:LTS", null],
    ["Debian:12", "Debian:12"],
    ["Red Hat:enterprise_linux:9::appstream", "Red Hat:9"],
    ["Red Hat:rhel_eus:9.2::baseos", null],
    ["Rocky Linux:8", "Rocky Linux:8"],
    ["Alpine:v3.20", "Alpine:v3.20"],
    ["Alpine", null],
    ["npm", "npm"],
    ["Go", null],
  ])("reads the ecosystem %s as %s", (ecosystem, found) => {
    expect(ecosystemOf(ecosystem)).toBe(found);
  });
});
