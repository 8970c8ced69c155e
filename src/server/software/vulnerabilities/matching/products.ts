// Apps, programs, extensions and packages of Homebrew and the like: products of NVD.

import type { Library } from "../reference/library.ts";
import type { ProductRecord } from "../reference/records.ts";
import { cpeName, isAbout, resolvedIn, type Target } from "./cpe.ts";
import type { MatchedSoftware, SoftwareRow } from "./matched-software.ts";
import { bundleVendorsOf, productNames, publisherVendors } from "./names.ts";
import { type AppRule, appRules } from "./rules/apps.ts";
import { packageProducts } from "./rules/packages.ts";
import { extensionPublishers } from "./rules/publishers.ts";

interface SourceRule {
  readonly platform: string;
  /** Words of NVD for the system or the extended program; the first is the one of generated names. */
  readonly targets: readonly string[];
  readonly needsTarget?: true;
}

const MAC = ["macos", "mac_os_x", "mac_os", "mac", "macosx"];
const WINDOWS = ["windows", "microsoft_windows", "windows_10", "windows_11"];

const sources: Readonly<Record<string, SourceRule>> = {
  apps: { platform: "darwin", targets: MAC },
  homebrew_packages: { platform: "darwin", targets: MAC },
  programs: { platform: "windows", targets: WINDOWS },
  chocolatey_packages: { platform: "windows", targets: WINDOWS },
  portage_packages: { platform: "linux", targets: ["linux", "linux_kernel", "gentoo_linux"] },
  pacman_packages: { platform: "linux", targets: ["linux", "linux_kernel", "arch_linux"] },
  chrome_extensions: { platform: "", targets: ["chrome", "google_chrome"], needsTarget: true },
  firefox_addons: { platform: "", targets: ["firefox", "mozilla_firefox"], needsTarget: true },
  vscode_extensions: { platform: "", targets: ["visual_studio_code", "visual_studio"], needsTarget: true },
  ios_apps: { platform: "ios", targets: ["iphone_os", "ios", "iphone"], needsTarget: true },
  ipados_apps: { platform: "ipados", targets: ["ipados", "ipad_os", "iphone_os", "ios"], needsTarget: true },
  android_apps: { platform: "android", targets: ["android"], needsTarget: true },
};

const targetSets = new Map(Object.entries(sources).map(([source, { targets }]) => [source, new Set(targets)]));

export async function productVulnerabilities(library: Library, row: SoftwareRow): Promise<MatchedSoftware> {
  const source = sources[row.source];
  if (source === undefined) return { cpe: "", cves: new Map() };
  const rule = ruleOf(row);
  const version = versionOf(row, rule);
  if (version === null) return { cpe: "", cves: new Map() };
  const edition = rule?.edition ?? (/\desr$/i.test(row.version) ? "esr" : "");
  const target: Target = {
    version,
    edition,
    platform: source.platform,
    software: targetSets.get(row.source)!,
    needsTarget: source.needsTarget ?? false,
  };
  const cves = new Map<string, string | null>();
  let cpe = "";
  for (const { vendor, product, records } of await productsOf(library, row, rule, target)) {
    cpe ||= cpeName({ part: "a", vendor, product, version, edition, target: source.targets[0]! });
    for (const record of records) {
      const resolved = resolvedIn(record, target);
      if (resolved !== undefined && (cves.get(record.cve) ?? null) === null) cves.set(record.cve, resolved);
    }
  }
  return { cpe, cves };
}

interface Product {
  readonly vendor: string;
  readonly product: string;
  readonly records: readonly ProductRecord[];
}

/** All products that a rule names; else the first one that NVD has by the software's own name. */
async function productsOf(
  library: Library,
  row: SoftwareRow,
  rule: AppRule | null,
  target: Target,
): Promise<Product[]> {
  const listed = rule?.products ?? listedProducts(row);
  if (listed !== undefined) {
    const all = listed.map(async (name): Promise<Product> => {
      const at = name.indexOf(":");
      const vendor = name.slice(0, at);
      const product = name.slice(at + 1);
      return { vendor, product, records: await library.products("a", vendor, product) };
    });
    return (await Promise.all(all)).filter(({ records }) => records.length > 0);
  }
  for (const [vendor, product] of candidates(row)) {
    const records = await library.products("a", vendor, product);
    if (records.some((record) => isAbout(record, target))) return [{ vendor, product, records }];
  }
  return [];
}

const packaged: ReadonlySet<string> = new Set([
  "homebrew_packages",
  "chocolatey_packages",
  "portage_packages",
  "pacman_packages",
]);

/** `openssl@3` and `dev-libs/openssl` are openssl. */
const packageName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/@[\d.]+$/, "")
    .replace(/\.(?:install|portable)$/, "");

const listedProducts = ({ source, name }: SoftwareRow): readonly string[] | undefined =>
  packaged.has(source) && Object.hasOwn(packageProducts, packageName(name))
    ? packageProducts[packageName(name)]
    : undefined;

const CANDIDATES_MAX = 24;

/** Pairs of vendor and product, the likeliest first. */
function candidates(row: SoftwareRow): (readonly [vendor: string, product: string])[] {
  const { source, vendor, bundle_identifier: bundle } = row;
  if (packaged.has(source)) {
    const name = packageName(row.name);
    const plain = name.replaceAll("-", "_");
    return [...new Set([name, plain])].flatMap((product) => [
      [product, product] as const,
      [`${product}_project`, product] as const,
    ]);
  }
  // Names of these extensions are publisher.name. Anyone may show the name of another publisher; the id is unique.
  const [publisher = "", ...rest] = source === "vscode_extensions" ? row.name.toLowerCase().split(".") : [];
  const vendors =
    rest.length > 0
      ? [...(extensionPublishers[publisher] ?? [publisher])]
      : bundle === ""
        ? publisherVendors(vendor)
        : bundleVendorsOf(bundle);
  const names = productNames(rest.length > 0 ? rest.join(" ") : row.name, vendors);
  // The last part of a bundle identifier often is the product's own name.
  const last = bundle.toLowerCase().split(".").at(-1) ?? "";
  if (last.length > 2 && !names.includes(last)) names.push(last);
  // Extensions need not have a publisher; their product names their target.
  if (vendors.length === 0 && sources[source]?.needsTarget) vendors.push(...names);
  return vendors.flatMap((vendor) => names.map((product) => [vendor, product] as const)).slice(0, CANDIDATES_MAX);
}

const nameOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/\.app$/, "")
    .trim();

const isPrefix = (bundle: string): boolean => bundle.endsWith("*");
const bundleRules = appRules.flatMap((rule) => (rule.bundles ?? []).map((bundle): [string, AppRule] => [bundle, rule]));
const byBundle: ReadonlyMap<string, AppRule> = new Map(bundleRules.filter(([bundle]) => !isPrefix(bundle)));
const byBundlePrefix = bundleRules
  .filter(([bundle]) => isPrefix(bundle))
  .map(([bundle, rule]) => ({ prefix: bundle.slice(0, -1), rule }));

/** Software with a bundle identifier is known by it alone; of the rules for names, the first one counts. */
function ruleOf({ source, name, vendor, bundle_identifier }: SoftwareRow): AppRule | null {
  if (bundle_identifier !== "") {
    const bundle = bundle_identifier.toLowerCase();
    return byBundle.get(bundle) ?? byBundlePrefix.find(({ prefix }) => bundle.startsWith(prefix))?.rule ?? null;
  }
  // The names of extensions are chosen by anyone.
  if (sources[source]?.needsTarget || packaged.has(source)) return null;
  const plain = nameOf(name);
  const publisher = vendor.toLowerCase();
  return (
    appRules.find(
      (rule) => rule.name?.test(plain) && (rule.publisher === undefined || publisher.includes(rule.publisher)),
    ) ?? null
  );
}

/** Null: the version that counts is not known. */
function versionOf({ name, version, source }: SoftwareRow, rule: AppRule | null): string | null {
  const parts = rule?.versionIn?.exec(nameOf(name));
  if (parts) return (rule?.version ?? "$1").replaceAll(/\$(\d)/g, (_, at: string) => parts[Number(at)] ?? "");
  if (rule?.needsVersionIn) return null;
  // Versions of pacman are epoch:version-release, of which NVD knows the version.
  const plainVersion = source === "pacman_packages" ? version.replace(/^\d+:/, "").replace(/-[\d.]+$/, "") : version;
  return plainVersion
    .replace(/\s*\(.*$/, "")
    .replace(/(?<=\d)esr$/i, "")
    .trim();
}
