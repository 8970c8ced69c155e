// NVD's feeds of CVEs, in the format of its API 2.0.
import { isRecord, listIn } from "../../../../text/record.ts";
import { type CpeRange, type CveRecord, cveKey, type ProductRecord, productKey } from "../reference/records.ts";
import type { Entry } from "../reference/table-file.ts";
import { isCve, isShort } from "./cve.ts";
import { jsonElements } from "./json-elements.ts";
import { Tally } from "./tally.ts";

const TEXT_MAX = 4_000;
/** The highest score of CVSS. */
const SCORE_MAX = 10;
const nonEmptyText = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

export async function* nvdEntries(
  content: AsyncIterable<Buffer>,
  tally: Tally = new Tally(),
): AsyncGenerator<Entry, void, undefined> {
  for await (const element of jsonElements(content, "vulnerabilities")) {
    const cve = isRecord(element) && isRecord(element.cve) ? element.cve : {};
    const isReadable = isCve(cve.id) && (cve.configurations === undefined || Array.isArray(cve.configurations));
    if (tally.note(isReadable, JSON.stringify(cve.id ?? null))) yield* entriesOf(cve);
  }
}

function* entriesOf(cve: Record<string, unknown>): Generator<Entry, void, undefined> {
  const { id } = cve;
  if (!isCve(id)) return;
  yield { key: cveKey(id), value: aboutCve(cve) };
  if (cve.vulnStatus === "Rejected") return;
  const products = new Map<string, { value: ProductRecord; ranges: CpeRange[] }>();
  for (const configuration of listIn(cve.configurations)) addConfiguration(products, id, configuration);
  for (const [key, { value, ranges }] of products)
    yield { key: key.slice(0, key.lastIndexOf("|")), value: { ...value, ranges } };
}

function aboutCve(cve: Record<string, unknown>): CveRecord {
  const english = listIn(cve.descriptions).find((description) => isRecord(description) && description.lang === "en");
  const text = isRecord(english) ? nonEmptyText(english.value) : null;
  const published = nonEmptyText(cve.published);
  const score = scoreOf(cve.metrics);
  return {
    ...(score === null ? {} : { score }),
    ...(published === null ? {} : { published: isoOf(published) }),
    ...(text === null ? {} : { text: text.slice(0, TEXT_MAX) }),
  };
}

/** NVD's times have no zone and are UTC. */
function isoOf(time: string): string {
  const ms = Date.parse(/Z|[+-]\d\d:?\d\d$/.test(time) ? time : `${time}Z`);
  return Number.isNaN(ms) || !/^\d{4}-/.test(time) ? "" : new Date(ms).toISOString();
}

/** NVD's own score if it has one, else that of the CVE's numbering authority. */
function scoreOf(metrics: unknown): number | null {
  if (!isRecord(metrics)) return null;
  const all = [...listIn(metrics.cvssMetricV31), ...listIn(metrics.cvssMetricV30)].filter(isRecord);
  for (const metric of [...all.filter(({ type }) => type === "Primary"), ...all]) {
    const score = isRecord(metric.cvssData) ? metric.cvssData.baseScore : null;
    if (typeof score === "number" && score >= 0 && score <= SCORE_MAX) return score;
  }
  return null;
}

interface Match {
  readonly isVulnerable: boolean;
  readonly parts: readonly string[];
  readonly source: Record<string, unknown>;
}

function matchesOf(node: unknown): Match[] {
  if (!isRecord(node) || node.negate === true) return [];
  return listIn(node.cpeMatch).flatMap((match) => {
    if (!isRecord(match) || typeof match.criteria !== "string") return [];
    const parts = cpeParts(match.criteria);
    return parts.length < 11 ? [] : [{ isVulnerable: match.vulnerable === true, parts, source: match }];
  });
}

/** The parts of a formatted CPE name; escaped characters lose their backslash. */
export function cpeParts(name: string): string[] {
  if (!name.startsWith("cpe:2.3:")) return [];
  const rest = name.slice("cpe:2.3:".length);
  if (!rest.includes("\\")) return rest.split(":");
  const parts = [""];
  for (let at = 0; at < rest.length; at++) {
    const char = rest[at]!;
    if (char === ":") parts.push("");
    else parts[parts.length - 1] += char === "\\" ? (rest[++at] ?? "") : char;
  }
  return parts;
}

/** Words of our platforms for operating systems of NVD. */
const systems: Readonly<Record<string, string>> = {
  macos: "darwin",
  mac_os_x: "darwin",
  mac_os: "darwin",
  linux_kernel: "linux",
  chrome_os: "chrome",
  iphone_os: "ios",
  ipados: "ipados",
  ipad_os: "ipados",
  android: "android",
};
const systemOf = (vendor: string, product: string): string =>
  vendor === "microsoft" && product.startsWith("windows") ? "windows" : (systems[product] ?? "other");

/** Systems of which CPE ranges are used: for the others, distributions and Microsoft publish what is affected. */
const ownSystems = new Set(["macos", "mac_os_x", "mac_os", "iphone_os", "ipados", "ipad_os"]);

function addConfiguration(
  products: Map<string, { value: ProductRecord; ranges: CpeRange[] }>,
  cve: string,
  configuration: unknown,
): void {
  if (!isRecord(configuration)) return;
  const nodes = listIn(configuration.nodes).map(matchesOf);
  const on = new Set<string>();
  let hasOther = false;
  if (configuration.operator === "AND") {
    for (const node of nodes) {
      if (node.some(({ isVulnerable }) => isVulnerable)) continue;
      for (const { parts } of node)
        if (parts[0] === "o") on.add(systemOf(parts[1]!, parts[2]!));
        else hasOther = true;
    }
    // Affected only together with hardware or another product, which one entry does not show.
    if (hasOther && on.size === 0) return;
  }
  for (const { isVulnerable, parts, source } of nodes.flat()) {
    const [part, vendor, product] = parts as [string, string, string];
    const range = rangeOf(parts, source);
    if (range.some((bound) => typeof bound === "string" && !isShort(bound)) || !isShort(`${vendor}${product}`))
      continue;
    if (!isVulnerable || (part !== "a" && !(part === "o" && vendor === "apple" && ownSystems.has(product)))) continue;
    const systemsText = [...on].sort().join(",");
    const key = `${productKey(part, vendor, product)}|${systemsText}`;
    let entry = products.get(key);
    if (!entry) {
      entry = { value: { cve, ranges: [], ...(on.size === 0 ? {} : { on: [...on].sort() }) }, ranges: [] };
      products.set(key, entry);
    }
    entry.ranges.push(range);
  }
}

function rangeOf(parts: readonly string[], source: Record<string, unknown>): CpeRange {
  const [, , , version = "*", update = "*"] = parts;
  const [edition = "*", target = "*"] = parts.slice(7);
  // "-" (no version) is kept as it is: no version of a host is equal to it.
  const exact = version === "*" ? null : update === "*" || update === "-" ? version : `${version}-${update}`;
  return [
    target === "*" || target === "-" ? "" : target,
    exact,
    nonEmptyText(source.versionStartIncluding),
    nonEmptyText(source.versionStartExcluding),
    nonEmptyText(source.versionEndIncluding),
    nonEmptyText(source.versionEndExcluding),
    ...(edition === "*" ? ([] as const) : ([edition] as const)),
  ];
}
