import { msToIso, toCount, toNumber } from "../agent-protocol/numbers.ts";
import { has, type Row, text } from "../agent-protocol/rows.ts";
import { limit } from "../core/limits.ts";
import type { CertificateInventory, CertificateName } from "../hosts/details.ts";
import type { InventorySource } from "../hosts/inventory/source.ts";

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

function owner(row: Row, platform: "darwin" | "windows"): Pick<CertificateInventory, "scope" | "username"> {
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

export function hostCertificates(rows: readonly Row[], platform: "darwin" | "windows"): CertificateInventory[] | null {
  const found = new Map<string, CertificateInventory>();
  for (const row of rows.slice(0, certificatesLimit.max)) {
    const sha1 = text(row, "sha1").trim().toLowerCase();
    if (sha1 === "") continue;
    const { scope, username } = owner(row, platform);
    const key = JSON.stringify([sha1, scope, username]);
    if (found.has(key)) continue;
    const subject = certificateName(text(row, "subject", 4096));
    found.set(key, {
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
      issuer: certificateName(text(row, "issuer", 4096)),
    });
  }
  return found.size === 0 ? null : [...found.values()];
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
