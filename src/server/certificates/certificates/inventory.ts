import type { CertificateInventory, CertificateName } from "../../hosts/hosts/details.ts";
import type { InventorySource } from "../../hosts/hosts/inventory/source.ts";
import { msToIso, toCount, toNumber } from "../../platform/agent-protocol/numbers.ts";
import { type AgentRow, has, text } from "../../platform/agent-protocol/rows.ts";
import { limit } from "../../platform/core/limits.ts";

// Values may contain "/" and "+": only one before a known attribute name or an OID starts a new part. A name of several
// values joins them by "+".
const PART =
  /[/+](?=(?:C|ST|L|O|OU|CN|DC|UID|SN|GN|title|street|postalCode|serialNumber|emailAddress|\d{1,6}(?:\.\d{1,9}){1,20})=)/;

/** Parses "/C=US/O=Example/CN=host". The last, most specific value of a repeated attribute is used. */
export function certificateName(name: string): CertificateName {
  const parts = new Map<string, string>();
  for (const part of name.split(PART)) {
    const equals = part.indexOf("=");
    if (equals > 0) parts.set(part.slice(0, equals).replace(/^\//, "").trim(), part.slice(equals + 1).trim());
  }
  return nameOfParts(parts);
}

// One part of a name in the columns `subject2` and `issuer2`, with the sign that separates it from the next.
const KEY = "\\s*([A-Za-z][A-Za-z0-9.-]{0,63}|[0-9.]{1,64})";
const END = "\\s*(?:[,+]|$)";
/** `O = "Example, Inc.", OU = IT + CN = caf\C3\A9`: by OpenSSL. */
const SPACED = new RegExp(`^${KEY} = (?:"((?:[^"\\\\]|\\\\.)*)"|((?:[^,+"\\\\]|\\\\.)*))${END}`, "s");
/** `O="Example, ""Inc.""", OU=IT + CN=host`: by Windows. */
const UNSPACED = new RegExp(`^${KEY}=(?:"((?:[^"]|"")*)"|([^,+"]*))${END}`);

/** Null if the text is no such name. */
function separatedName(name: string): CertificateName | null {
  const parts = new Map<string, string>();
  const isSpaced = SPACED.test(name);
  for (let rest = name; rest !== ""; ) {
    const [whole, key, quoted, plain] = (isSpaced ? SPACED : UNSPACED).exec(rest) ?? [];
    if (whole === undefined) return null;
    const value = quoted ?? plain!.trim();
    parts.set(key!, isSpaced ? unescaped(value) : value.replaceAll('""', '"'));
    rest = rest.slice(whole.length);
  }
  return parts.size === 0 ? null : nameOfParts(parts);
}

/** `\C3\A9` are bytes of UTF-8, and another character after a backslash stands for itself. */
function unescaped(value: string): string {
  const withText = value.replaceAll(/(?:\\[0-9A-Fa-f]{2})+/g, (bytes) =>
    Buffer.from(bytes.replaceAll("\\", ""), "hex").toString("utf8"),
  );
  return withText.replaceAll(/\\(.)/gs, "$1");
}

/** Agents before version 5.13 have only the column without a number, in which other than ASCII characters are mangled. */
const nameIn = (row: AgentRow, column: "subject" | "issuer"): CertificateName =>
  separatedName(text(row, `${column}2`, 4096)) ?? certificateName(text(row, column, 4096));

function nameOfParts(parts: ReadonlyMap<string, string>): CertificateName {
  return {
    country: parts.get("C") ?? "",
    organization: parts.get("O") ?? "",
    organizational_unit: parts.get("OU") ?? "",
    common_name: parts.get("CN") ?? "",
  };
}

function instant(cell: unknown): string | null {
  const seconds = toNumber(cell);
  return seconds === null || cell === "" || cell === undefined ? null : msToIso(seconds * 1000);
}

function owner(row: AgentRow, platform: "darwin" | "windows"): Pick<CertificateInventory, "scope" | "username"> {
  if (platform === "darwin") {
    if (text(row, "scope") !== "user") return { scope: "system", username: "" };
    return { scope: "user", username: /^\/Users\/([^/]+)\//.exec(text(row, "path", 1024))?.[1] ?? "" };
  }
  // Certificates of service accounts and of the machine stores have scope `system`.
  const sid = text(row, "sid");
  if (!/^S-1-5-21-/i.test(sid)) return { scope: "system", username: "" };
  return { scope: "user", username: text(row, "username") || sid };
}

/** Null (keep the stored list) if no row describes a certificate. */
export const certificatesLimit = limit({
  what: "certificates of a host",
  max: 2_000,
  unit: "entries",
  per: "host",
  beyond: "The rest is ignored.",
});

export function hostCertificates(
  rows: readonly AgentRow[],
  platform: "darwin" | "windows",
): CertificateInventory[] | null {
  const certificates = new Map<string, CertificateInventory>();
  for (const row of rows.slice(0, certificatesLimit.max)) {
    const sha1 = text(row, "sha1").trim().toLowerCase();
    if (sha1 === "") continue;
    const { scope, username } = owner(row, platform);
    const key = JSON.stringify([sha1, scope, username]);
    if (certificates.has(key)) continue;
    const subject = nameIn(row, "subject");
    certificates.set(key, {
      sha1,
      scope,
      username,
      not_valid_before: instant(row.not_valid_before),
      not_valid_after: instant(row.not_valid_after),
      certificate_authority: toNumber(row.ca) === 1,
      common_name: has(row, "common_name") ? text(row, "common_name") || subject.common_name : subject.common_name,
      key_algorithm: text(row, "key_algorithm"),
      key_strength: toCount(row.key_strength) ?? 0,
      key_usage: text(row, "key_usage", 1024),
      serial: text(row, "serial"),
      signing_algorithm: text(row, "signing_algorithm"),
      subject,
      issuer: nameIn(row, "issuer"),
    });
  }
  return certificates.size === 0 ? null : [...certificates.values()];
}

export const certificateInventory: InventorySource<CertificateInventory[]> = {
  queries: [
    {
      name: "certificates_darwin",
      platforms: ["darwin"],
      sql: "SELECT c.*, 'system' AS scope FROM certificates AS c WHERE c.path = '/Library/Keychains/System.keychain' UNION ALL SELECT c.*, 'user' FROM certificates AS c WHERE c.path LIKE '/Users/%/Library/Keychains/login.keychain-db';",
    },
    {
      name: "certificates_windows",
      platforms: ["windows"],
      sql: "SELECT c.* FROM certificates AS c WHERE c.store = 'Personal';",
    },
  ],
  read({ rows }) {
    const darwin = rows("certificates_darwin");
    const windows = rows("certificates_windows");
    return (darwin && hostCertificates(darwin, "darwin")) ?? (windows && hostCertificates(windows, "windows"));
  },
  details: (certificates) => ({ certificates }),
};
