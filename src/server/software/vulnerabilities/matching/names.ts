// Words of names and publishers, as NVD writes products and vendors: lower case, with `_` between words.
import { bundleHosts, bundleVendors, publishers } from "./rules/publishers.ts";

/** What says which build of a program it is, not which program. */
const builds =
  /^(?:x64|x86|x86_64|amd64|arm64|aarch64|ia32|i386|win32|win64|64bit|32bit|64-bit|32-bit|universal|en-us|en|msi|setup|installer|edition|stable)$/;
const version = /^v?\d+(?:[.,]\d+)+[a-z]?\d*(?:[-+].*)?$/;
const legalForms: ReadonlySet<string> = new Set(
  "inc incorporated llc ltd limited corporation corp co company gmbh ag sa sas srl spa bv nv oy ab plc pty kg kgaa ug as aps sarl s.r.o b.v s.a s.l fz-llc pte".split(
    " ",
  ),
);
const softWords: ReadonlySet<string> = new Set(
  "software systems technologies technology team project developers community foundation development group communications labs studio studios international solutions networks".split(
    " ",
  ),
);

/** The name without case, `.app`, parts in brackets, versions, and words such as "x64". */
function wordsOf(name: string): string[] {
  const plain = name
    .toLowerCase()
    .replace(/\.app$/, "")
    .replaceAll(/[([{][^)\]}]*[)\]}]/g, " ")
    .replaceAll(/[®™©]/g, "")
    .replaceAll(/[,:;]/g, " ");
  const words = plain.split(/[\s_]+|\s-\s/).filter((word) => word !== "" && word !== "-");
  return words.filter((word, at) => {
    if (version.test(word) || builds.test(word)) return false;
    const next = words[at + 1];
    return !((word === "version" || word === "release") && next !== undefined && /^v?\d/.test(next));
  });
}

const SUFFIXES: ReadonlySet<string> = new Set(["for", "on", "mac", "macos", "windows", "desktop", "app", "client"]);

/** Names that a product may have in NVD: as it is, without its vendor, without numbers, without its system. */
export function productNames(name: string, vendors: readonly string[]): string[] {
  const words = wordsOf(name);
  const products: string[] = [];
  const add = (part: readonly string[]) => {
    if (part.length === 0) return;
    for (const separator of ["_", "-"]) {
      const product = part.join(separator);
      if (product.length > 1 && product.length <= 100 && !products.includes(product)) products.push(product);
    }
  };
  const variants = [words];
  const first = words[0];
  if (words.length > 1 && first !== undefined && vendors.some((vendor) => vendor.split(/[-_]/)[0] === first))
    variants.unshift(words.slice(1));
  for (const variant of variants) {
    add(variant);
    const plain = variant.filter((word) => !/^\d+$/.test(word));
    add(plain);
    const end = plain.findLastIndex((word) => !SUFFIXES.has(word));
    add(plain.slice(0, end + 1));
  }
  return products;
}

/** Vendors that a publisher may have in NVD. */
export function publisherVendors(publisher: string): string[] {
  const words = publisher
    .toLowerCase()
    .replaceAll(/[®™©]/g, "")
    .replaceAll(/[(),"]/g, " ")
    .split(/\s+/)
    .map((word) => word.replace(/\.$/, ""))
    .filter((word) => word !== "" && !legalForms.has(word));
  if (words[0] === "the") words.shift();
  const vendors = publishers[words.join(" ")];
  if (vendors !== undefined) return [...vendors];
  const candidates = [
    words.join("_"),
    words.filter((word) => !softWords.has(word)).join("_"),
    words.join(""),
    words[0] ?? "",
  ];
  return [...new Set(candidates)].filter((vendor) => vendor.length > 1);
}

/** Vendors that a bundle identifier such as `com.google.Chrome` may have in NVD. */
export function bundleVendorsOf(bundle: string): string[] {
  const parts = bundle.toLowerCase().split(".");
  // The first part is a top-level domain.
  let at = parts.length > 1 ? 1 : 0;
  if (bundleHosts.has(parts[at] ?? "") && parts.length > at + 2) at++;
  const vendor = parts[at];
  if (vendor === undefined || vendor.length < 2) return [];
  return [...(bundleVendors[vendor] ?? [vendor.replaceAll(" ", "_")])];
}
