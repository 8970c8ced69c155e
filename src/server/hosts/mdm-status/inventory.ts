import { type AgentRow, text, type Warn } from "../../platform/agent-protocol/rows.ts";

/** The host's MDM state as reported by the agent. Stored as the host detail `mdm`. */
export interface MdmInventory {
  readonly enrolled: boolean;
  readonly installed_from_dep: boolean;
  readonly enrollment_status: "On (automatic)" | "On (manual)" | "Pending" | "Off";
  readonly server_url: string;
  readonly name: string;
  /** Windows Server, whose MDM state is shown as null. Null: not reported, keep the stored value. */
  readonly is_server: boolean | null;
}

/** Identifies enrollments in this server's own MDM. */
export interface ServerMdm {
  readonly name: string;
  /** Payload identifier of the macOS enrollment profile. */
  readonly payloadIdentifier?: string;
  /** Provider id of the Windows enrollment. */
  readonly providerId?: string;
}

const productsByUrl = [
  ["kandji", "Kandji"],
  ["jamf", "Jamf"],
  ["jumpcloud", "JumpCloud"],
  ["simplemdm", "SimpleMDM"],
  ["airwatch", "VMware Workspace ONE"],
  ["awmdm", "VMware Workspace ONE"],
  ["microsoft", "Intune"],
] as const;

function mdmNameOfUrl(serverUrl: string): string {
  const url = serverUrl.toLowerCase();
  return productsByUrl.find(([part]) => url.includes(part))?.[1] ?? "";
}

const withoutQuery = (url: string): string => url.trim().split(/[?#]/, 1)[0] ?? "";
const isTrue = (value: string): boolean => /^(?:1|t|true)$/i.test(value.trim());

function enrollmentStatus(enrolled: boolean, automatic: boolean): MdmInventory["enrollment_status"] {
  if (enrolled) return automatic ? "On (automatic)" : "On (manual)";
  return automatic ? "Pending" : "Off";
}

/** Null: keep the stored value. */
export function darwinMdm(rows: readonly AgentRow[], ownMdm: ServerMdm | undefined, warn: Warn): MdmInventory | null {
  const row = rows[0];
  if (row === undefined || rows.length > 1) warn("mdm_darwin", `expected one row, got ${rows.length}`);
  if (row === undefined) return null;
  if (text(row, "enrolled").trim() === "") {
    warn("mdm_darwin", "enrolled is empty");
    return null;
  }
  const enrolled = isTrue(text(row, "enrolled"));
  const automatic = isTrue(text(row, "installed_from_dep"));
  const url = withoutQuery(text(row, "server_url", 2048));
  const identifier = text(row, "payload_identifier");
  const isOwn = ownMdm?.payloadIdentifier !== undefined && identifier === ownMdm.payloadIdentifier;
  return {
    enrolled,
    installed_from_dep: automatic,
    enrollment_status: enrollmentStatus(enrolled, automatic),
    server_url: url,
    name: isOwn ? ownMdm.name : mdmNameOfUrl(url),
    is_server: null,
  };
}

/** The account of a user enrolls with this service to protect data in apps: nobody manages the computer by that. */
const isForApps = (url: string): boolean =>
  URL.canParse(url) && /^(?:.+\.)?mam\.manage\.microsoft\.(?:com|us)$/.test(new URL(url).hostname);

/** `installationType` is null if the registry query was not reported. */
export function windowsMdm(
  rows: readonly AgentRow[],
  installationType: string | null,
  ownMdm: ServerMdm | undefined,
): MdmInventory {
  const keys = new Map<string, Map<string, string>>();
  for (const row of rows) {
    const key = text(row, "key", 1024);
    const values = keys.get(key) ?? new Map<string, string>();
    keys.set(key, values.set(text(row, "name"), text(row, "data", 2048).trim()));
  }
  // The other keys are templates, or failed and removed enrollments.
  const live = [...keys.values()].filter(
    (values) =>
      values.has("UPN") &&
      ["0", "1", "2", "3"].includes(values.get("EnrollmentState") || "0") &&
      !isForApps(values.get("DiscoveryServiceFullURL") ?? ""),
  );
  const chosen = live.find((values) => values.get("DiscoveryServiceFullURL")) ?? live[0];
  const url = withoutQuery(chosen?.get("DiscoveryServiceFullURL") ?? "");
  const enrolled = url !== "";
  const automatic = enrolled && Boolean(chosen?.get("AADResourceID"));
  const isOwn = enrolled && ownMdm?.providerId !== undefined && chosen?.get("ProviderID") === ownMdm.providerId;
  return {
    enrolled,
    installed_from_dep: automatic,
    enrollment_status: enrollmentStatus(enrolled, automatic),
    server_url: url,
    name: isOwn ? ownMdm.name : mdmNameOfUrl(url),
    is_server: installationType === null ? null : installationType.toLowerCase().includes("server"),
  };
}
