// Feeds of vulnerability data, as their publishers write them.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32, deflateRawSync, gzipSync } from "node:zlib";

/** A zip archive with these files, by name. */
export function zip(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const raw = Buffer.from(text);
    const data = deflateRawSync(raw);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(raw), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(raw.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), fields, Buffer.from(name), data]);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), fields, more, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}

export interface NvdRange {
  /** A name such as `a:openssl:openssl`. */
  readonly cpe: string;
  readonly version?: string;
  readonly target?: string;
  readonly from?: string;
  readonly before?: string;
  readonly upTo?: string;
}

export const nvdCve = (id: string, ranges: readonly NvdRange[], score = 7.5) => ({
  cve: {
    id,
    published: "2024-01-31T18:15:47.000",
    vulnStatus: "Analyzed",
    descriptions: [{ lang: "en", value: `A flaw (${id}).` }],
    metrics: { cvssMetricV31: [{ type: "Primary", cvssData: { baseScore: score } }] },
    configurations: [
      {
        nodes: [
          {
            operator: "OR",
            cpeMatch: ranges.map(({ cpe, version = "*", target = "*", from, before, upTo }) => ({
              vulnerable: true,
              criteria: `cpe:2.3:${cpe}:${version}:*:*:*:*:${target}:*:*`,
              ...(from === undefined ? {} : { versionStartIncluding: from }),
              ...(before === undefined ? {} : { versionEndExcluding: before }),
              ...(upTo === undefined ? {} : { versionEndIncluding: upTo }),
            })),
          },
        ],
      },
    ],
  },
});

export const nvdFeed = (cves: readonly object[]): string =>
  JSON.stringify({ resultsPerPage: cves.length, format: "NVD_CVE", version: "2.0", vulnerabilities: cves });

export const metaOf = (content: string): string =>
  `lastModifiedDate:2024-02-01T00:00:00-05:00\r\nsize:${content.length}\r\nsha256:${createHash("sha256").update(content).digest("hex").toUpperCase()}\r\n`;

/** The files of NVD's feed of a year. */
export const nvdFiles = (year: string, cves: readonly object[]): Record<string, Buffer> => ({
  [`nvd/nvdcve-2.0-${year}.json.gz`]: gzipSync(nvdFeed(cves)),
  [`nvd/nvdcve-2.0-${year}.meta`]: Buffer.from(metaOf(nvdFeed(cves))),
});

/** The archive of an ecosystem. */
export const osvFiles = (
  ecosystem: string,
  advisories: readonly { readonly id: string }[],
  more: Readonly<Record<string, string>> = {},
): Record<string, Buffer> => ({
  [`osv/${ecosystem}/all.zip`]: zip({
    ...Object.fromEntries(advisories.map((advisory) => [`${advisory.id}.json`, JSON.stringify(advisory)])),
    ...more,
  }),
});

export const kevFiles = (cves: readonly string[]): Record<string, Buffer> => ({
  "kev/known_exploited_vulnerabilities.json": Buffer.from(
    JSON.stringify({ title: "KEV", vulnerabilities: cves.map((cveID) => ({ cveID })) }),
  ),
});

export const epssFiles = (scores: Readonly<Record<string, number>>): Record<string, Buffer> => ({
  "epss/epss_scores-current.csv.gz": gzipSync(
    `#model_version:v2025.03.14\ncve,epss,percentile\n${Object.entries(scores)
      .map(([cve, score]) => `${cve},${score},0.5\n`)
      .join("")}`,
  ),
});

export function writeFeeds(folder: string, files: Readonly<Record<string, Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}
