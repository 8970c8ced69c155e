// The tables in test/fixtures/vulnerabilities: advisories as the feeds have them, and software with what it is affected by.

import { readFileSync } from "node:fs";
import { msrcEntries } from "../../src/server/software/vulnerabilities/feeds/msrc.ts";
import { nvdEntries } from "../../src/server/software/vulnerabilities/feeds/nvd.ts";
import { advisoryEntries } from "../../src/server/software/vulnerabilities/feeds/osv.ts";
import type { SoftwareRow } from "../../src/server/software/vulnerabilities/matching/matched-software.ts";
import { matchSoftware } from "../../src/server/software/vulnerabilities/matching/software.ts";
import { matchSystem, type System } from "../../src/server/software/vulnerabilities/matching/systems.ts";
import type { Library } from "../../src/server/software/vulnerabilities/reference/library.ts";
import {
  buildKey,
  cveKey,
  packageKey,
  productKey,
} from "../../src/server/software/vulnerabilities/reference/records.ts";
import type { Entry } from "../../src/server/software/vulnerabilities/reference/table-file.ts";

const linesOf = (name: string): string[] =>
  readFileSync(new URL(`../fixtures/vulnerabilities/${name}`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

const systemCpes: Readonly<Record<string, string>> = {
  windows: "cpe:2.3:o:microsoft:windows:-:*:*:*:*:*:*:*",
  darwin: "cpe:2.3:o:apple:macos:-:*:*:*:*:*:*:*",
  linux: "cpe:2.3:o:linux:linux_kernel:-:*:*:*:*:*:*:*",
};

/** A range such as `1..2`, `1..=2`, `..2`, `=1`, `*`. */
function cpeMatch(name: string, edition: string, target: string, range: string) {
  const criteria = (version: string, update = "*") =>
    `cpe:2.3:${name.replaceAll("+", "\\+")}:${version}:${update}:*:*:${edition}:${target}:*:*`;
  if (range === "*") return { vulnerable: true, criteria: criteria("*") };
  if (range.startsWith("=")) {
    const [version, update] = range.slice(1).split(":") as [string, string | undefined];
    return { vulnerable: true, criteria: criteria(version, update) };
  }
  const [from = "", to = ""] = range.split("..");
  return {
    vulnerable: true,
    criteria: criteria("*"),
    ...(from === "" ? {} : { versionStartIncluding: from }),
    ...(to.startsWith("=") ? { versionEndIncluding: to.slice(1) } : { versionEndExcluding: to }),
  };
}

function nvdElement([cve, product, ...rest]: string[]) {
  const option = (name: string) => rest.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
  const name = product!.startsWith("os:") ? `o:${product!.slice(3)}` : `a:${product}`;
  const ranges = rest.filter((part) => !/^(target|edition|on)=/.test(part));
  const cpes = ranges.map((range) => cpeMatch(name, option("edition") ?? "*", option("target") ?? "*", range));
  const on = option("on")?.split(",") ?? [];
  const systems = on.map((system) => ({ vulnerable: false, criteria: systemCpes[system]! }));
  const nodes = [
    { operator: "OR", cpeMatch: cpes },
    ...(on.length === 0 ? [] : [{ operator: "OR", cpeMatch: systems }]),
  ];
  return { cve: { id: cve, configurations: [{ operator: on.length === 0 ? "OR" : "AND", nodes }] } };
}

function advisory([ecosystem, name, cve, ...rest]: string[]) {
  const binaries =
    rest
      .find((part) => part.startsWith("binaries="))
      ?.slice("binaries=".length)
      .split(",") ?? [];
  const ranges = rest.filter((part) => !part.startsWith("binaries="));
  const events = ranges.flatMap((range) => {
    const [introduced, fixed] = range.split("..");
    return [{ introduced }, ...(fixed === "" ? [] : [{ fixed }])];
  });
  return {
    id: `X-${cve}`,
    aliases: [cve],
    affected: [
      {
        package: { ecosystem: ecosystem!.replaceAll("%20", " "), name },
        ranges: [{ type: "ECOSYSTEM", events }],
        ecosystem_specific: {
          binaries: binaries.map((binary) => ({
            binary_name: binary,
            binary_version: ranges[0]!.split("..")[1],
          })),
        },
      },
    ],
  };
}

const windowsNames: Readonly<Record<string, string>> = { server: "Windows Server", client: "Windows 11" };

/** `kind` is one of `windowsNames`, or the whole name of a release with `%20` for blanks. */
const document = ([cve, kind, ...builds]: string[]) => ({
  ProductTree: { FullProductName: [{ ProductID: "1", Value: windowsNames[kind!] ?? kind!.replaceAll("%20", " ") }] },
  Vulnerability: [{ CVE: cve, Remediations: builds.map((FixedBuild) => ({ Type: 2, FixedBuild, ProductID: ["1"] })) }],
});

async function* bytes(value: unknown) {
  yield Buffer.from(JSON.stringify(value));
}

async function* entriesOfAll(lines: readonly string[]): AsyncGenerator<Entry> {
  const of = (kind: string) =>
    lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.split(" ").slice(1));
  yield* nvdEntries(bytes({ vulnerabilities: of("nvd").map(nvdElement) }));
  for (const line of of("osv")) yield* advisoryEntries(advisory(line));
  for (const line of of("msrc")) yield* msrcEntries(bytes(document(line)));
}

/** The advisories in memory. */
export async function advisories(): Promise<Library> {
  const records = new Map<string, unknown[]>();
  for await (const { key, value } of entriesOfAll(linesOf("advisories.txt")))
    records.set(key, [...(records.get(key) ?? []), value]);
  const get = async (key: string) => (records.get(key) ?? []) as never[];
  return {
    data: "advisories",
    products: (part, vendor, product) => get(productKey(part, vendor, product)),
    packages: (ecosystem, name) => get(packageKey(ecosystem, name)),
    builds: (build, isServer) => get(buildKey(build, isServer)),
    cve: async (cve) => (await get(cveKey(cve)))[0] ?? null,
    close: async () => undefined,
  };
}

export interface KnownSoftware {
  readonly line: string;
  readonly row: SoftwareRow;
  /** Set for operating systems. */
  readonly system: System | null;
  readonly releases: readonly string[];
  readonly affected: ReadonlySet<string>;
  readonly unaffected: ReadonlySet<string>;
  /** Pairs in both lists for which the matching is known to be wrong. */
  readonly mistaken: ReadonlySet<string>;
}

export const softwareRow = (row: Partial<SoftwareRow>): SoftwareRow => ({
  name: "",
  version: "",
  source: "",
  bundle_identifier: "",
  extension_for: "",
  release: "",
  vendor: "",
  source_package: "",
  ...row,
});

const bundled = new Set(["apps", "ios_apps", "ipados_apps", "android_apps"]);

export const knownSoftware = (): KnownSoftware[] =>
  linesOf("pairs.txt").map((line) => {
    const [source = "", name = "", version = "", maker = "", more = "", cves = ""] = line
      .split("|")
      .map((cell) => cell.trim());
    const fields = Object.fromEntries(
      [...more.matchAll(/(\w+)=(.+?)(?=\s+\w+=|$)/g)].map(([, key, value]) => [key!, value!]),
    );
    const { on = "", ...rest } = fields;
    const marked = cves.split(/\s+/).filter((cve) => cve !== "");
    const listed = marked.map((cve) => cve.replace(/^\?/, ""));
    return {
      line,
      row: softwareRow({
        source,
        name,
        version,
        [bundled.has(source) ? "bundle_identifier" : "vendor"]: maker,
        ...rest,
      }),
      system: source === "os" ? { name, version, platform: maker } : null,
      releases: on === "" ? [] : on.split(","),
      affected: new Set(listed.filter((cve) => !cve.startsWith("!"))),
      unaffected: new Set(listed.filter((cve) => cve.startsWith("!")).map((cve) => cve.slice(1))),
      mistaken: new Set(marked.filter((cve) => cve.startsWith("?")).map((cve) => cve.replace(/^\?!?/, ""))),
    };
  });

export interface ComparedPairs {
  readonly pairs: number;
  /** The share of what is found that is right. */
  readonly precision: number;
  /** The share of what is known that is found. */
  readonly recall: number;
  /** CVEs with their software that are known and not found, and found though they are not known. */
  readonly missed: readonly string[];
  readonly wrong: readonly string[];
  /** Pairs in both lists that the table marks as mistakes. */
  readonly marked: readonly string[];
}

/** Matches all known software with all advisories. */
export async function comparePairs(): Promise<ComparedPairs> {
  const library = await advisories();
  const foundFor = async ({ row, system, releases }: KnownSoftware) =>
    system === null ? (await matchSoftware(library, row, releases)).cves : await matchSystem(library, system);
  let pairs = 0;
  let right = 0;
  const missed: string[] = [];
  const wrong: string[] = [];
  const marked: string[] = [];
  for (const known of knownSoftware()) {
    const found = await foundFor(known);
    pairs += known.affected.size + known.unaffected.size;
    for (const cve of known.mistaken) marked.push(`${cve}: ${known.line}`);
    for (const cve of known.affected)
      if (found.has(cve)) right++;
      else missed.push(`${cve}: ${known.line}`);
    for (const cve of found.keys()) if (!known.affected.has(cve)) wrong.push(`${cve}: ${known.line}`);
  }
  const precision = right / (right + wrong.length);
  return { pairs, precision, recall: right / (right + missed.length), missed, wrong, marked };
}
