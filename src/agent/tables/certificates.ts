// Certificates of keychains (macOS) and of certificate stores (Windows).
import { createHash, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { rowsOfHomes } from "./homes.ts";
import { jsonFromPowerShell } from "./powershell.ts";
import { outputOf } from "./read.ts";
import { bigint, integer, type Table, type TableRow, text } from "./table.ts";

const seconds = (date: string): number => Math.floor(Date.parse(date) / 1000);

/** Lines such as `CN=host`, as `/CN=host`. */
const nameOf = (lines: string | undefined): string =>
  (lines ?? "")
    .split("\n")
    .map((line) => `/${line}`)
    .join("");
const valueIn = (lines: string | undefined, key: string): string =>
  (lines ?? "")
    .split("\n")
    .find((line) => line.startsWith(`${key}=`))
    ?.slice(key.length + 1) ?? "";

/** Null: it cannot be read. */
export function certificateRow(encoded: Buffer | string): TableRow | null {
  try {
    const certificate = new X509Certificate(encoded);
    const { asymmetricKeyType, asymmetricKeyDetails: details } = certificate.publicKey;
    return {
      common_name: valueIn(certificate.subject, "CN"),
      subject: nameOf(certificate.subject),
      issuer: nameOf(certificate.issuer),
      ca: Number(certificate.ca),
      self_signed: Number(certificate.subject === certificate.issuer && certificate.verify(certificate.publicKey)),
      not_valid_before: seconds(certificate.validFrom),
      not_valid_after: seconds(certificate.validTo),
      key_algorithm: asymmetricKeyType ?? "",
      key_strength: String(details?.modulusLength ?? details?.namedCurve ?? ""),
      sha1: createHash("sha1").update(certificate.raw).digest("hex"),
      serial: certificate.serialNumber.toLowerCase(),
    };
  } catch {
    return null;
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

async function rowsOfKeychain(
  path: string,
  account: { readonly uid?: number; readonly gid?: number },
): Promise<TableRow[]> {
  const output = await outputOf("/usr/bin/security", ["find-certificate", "-a", "-p", path], account);
  return (output.match(PEM) ?? []).map(certificateRow).flatMap((row) => (row === null ? [] : [{ ...row, path }]));
}

/** Each account reads its own keychain: only root can change to another account. */
async function ofKeychains(): Promise<TableRow[]> {
  const isRoot = process.getuid?.() === 0;
  const homeRows = await rowsOfHomes(({ path, account: { uid, gid } }) =>
    rowsOfKeychain(join(path, "Library/Keychains/login.keychain-db"), isRoot ? { uid, gid } : {}),
  );
  return [...(await rowsOfKeychain("/Library/Keychains/System.keychain", {})), ...homeRows];
}

/** The stores of the machine, and of the account that runs the agent. */
const STORES = `Get-ChildItem Cert:\\ -Recurse | Where-Object { $_.RawData } | ForEach-Object {
  $parts = $_.PSParentPath -replace '.*::', '' -split '\\\\'
  [pscustomobject]@{ Location = $parts[0]; Store = $parts[1]; Raw = [Convert]::ToBase64String($_.RawData) }
}`;
const STORE_NAMES: Readonly<Record<string, string>> = {
  My: "Personal",
  Root: "Trusted Root Certification Authorities",
  CA: "Intermediate Certification Authorities",
};

export const storeRows = (certificates: readonly Readonly<Record<string, string>>[]): TableRow[] =>
  certificates.flatMap(({ Location = "", Store = "", Raw = "" }) => {
    const row = certificateRow(Buffer.from(Raw, "base64"));
    const store = STORE_NAMES[Store] ?? Store;
    return row === null ? [] : [{ ...row, store_location: Location, store, path: `${Location}\\${store}`, sid: "" }];
  });

export const certificateTables: readonly Table[] = [
  {
    name: "certificates",
    platforms: ["darwin", "win32"],
    columns: {
      ...text("common_name subject issuer"),
      ...integer("ca self_signed"),
      ...bigint("not_valid_before not_valid_after"),
      ...text(
        "signing_algorithm key_algorithm key_strength key_usage subject_key_id authority_key_id sha1 path serial",
      ),
      ...text("sid store_location store username store_id"),
    },
    rows: async () =>
      process.platform === "win32" ? storeRows(await jsonFromPowerShell(STORES)) : await ofKeychains(),
  },
];
