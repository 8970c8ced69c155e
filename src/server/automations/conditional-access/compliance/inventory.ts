// The devices that hosts are in the directory: what the directory's own registration leaves on them. The name of the
// certificate that it issues is the device's id.

import { type InventorySource, NOTHING_TO_WRITE, type ReportedValue } from "../../../hosts/hosts/inventory/source.ts";
import { tableExists } from "../../../platform/agent-protocol/detail-query.ts";
import { text } from "../../../platform/agent-protocol/rows.ts";
import { channels } from "../../../platform/core/channels.ts";
import { isoAt } from "../../../platform/core/clock.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";

interface DirectoryDevice {
  readonly device_id: string;
  readonly tenant_id: string;
  readonly user_principal_name: string;
}

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ISSUER = "%MS-Organization-Access%";
const JOINED = "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\CloudDomainJoin\\JoinInfo\\";

/** In lower case; empty if it is none. */
function guid(input: string): string {
  const id = input.trim().toLowerCase();
  return GUID.test(id) ? id : "";
}

export const directoryDeviceInventory: InventorySource<DirectoryDevice> = {
  queries: [
    {
      // A table of some managed agents: the device of the single sign-on extension, whose key is in the Secure Enclave.
      name: "directory_device_sso",
      platforms: ["darwin"],
      discovery: tableExists("app_sso_platform"),
      sql: "SELECT device_id, '' AS tenant_id, user_principal_name FROM app_sso_platform WHERE extension_identifier = 'com.microsoft.CompanyPortalMac.ssoextension' AND realm = 'KERBEROS.MICROSOFTONLINE.COM';",
    },
    {
      name: "directory_device_macos",
      platforms: ["darwin"],
      discovery: tableExists("keychain_items"),
      sql: `SELECT common_name AS device_id, '' AS tenant_id, (SELECT label FROM keychain_items WHERE account = 'com.microsoft.workplacejoin.registeredUserPrincipalName' LIMIT 1) AS user_principal_name FROM certificates WHERE issuer LIKE '${ISSUER}' ORDER BY CAST(not_valid_before AS INTEGER) DESC LIMIT 1;`,
    },
    {
      name: "directory_device_windows",
      platforms: ["windows"],
      discovery: tableExists("certificates"),
      // The key of a join is named after the certificate's SHA-1.
      sql: `SELECT c.common_name AS device_id, t.data AS tenant_id, (SELECT u.data FROM registry u WHERE u.key = t.key AND u.name = 'UserEmail' LIMIT 1) AS user_principal_name FROM registry t JOIN certificates c ON upper(c.sha1) = upper(replace(t.key, '${JOINED}', '')) WHERE t.key LIKE '${JOINED}%' AND t.name = 'TenantId' AND c.issuer LIKE '${ISSUER}' ORDER BY CAST(c.not_valid_before AS INTEGER) DESC LIMIT 1;`,
    },
  ],
  // Without a row, what is stored stays: keychains are not always readable.
  read({ rows, warn }) {
    const names = ["directory_device_sso", "directory_device_macos", "directory_device_windows"];
    const row = names
      .map((name) => rows(name)?.[0])
      .find((first) => first !== undefined && text(first, "device_id") !== "");
    if (!row) return null;
    const device_id = guid(text(row, "device_id"));
    if (device_id === "") {
      warn("directory_device", "the id of the device is not a GUID");
      return null;
    }
    return {
      device_id,
      tenant_id: guid(text(row, "tenant_id")),
      user_principal_name: text(row, "user_principal_name").trim(),
    };
  },
  start: ({ store }) => ({
    async plan(reported, now) {
      const changed = await changesOf(store, reported);
      if (changed.length === 0) return NOTHING_TO_WRITE;
      return { write: (tx) => writeDevices(tx, changed, isoAt(now)) };
    },
  }),
};

const hostIdsOf = (reported: readonly ReportedValue<DirectoryDevice>[]): number[] =>
  reported.map(({ hostId }) => hostId);

async function changesOf(
  store: Pick<ServerTx, "directoryDevices">,
  reported: readonly ReportedValue<DirectoryDevice>[],
): Promise<ReportedValue<DirectoryDevice>[]> {
  const rows = await store.directoryDevices.list({ where: oneOf("host_id", hostIdsOf(reported)) });
  const stored = new Map(rows.map((row) => [row.host_id, row]));
  return reported.filter(({ hostId, value }) => {
    const row = stored.get(hostId);
    return (
      row?.device_id !== value.device_id ||
      row.tenant_id !== value.tenant_id ||
      accountOf(value, row) !== row.user_principal_name
    );
  });
}

/** The account of the same device stays known while its keychain cannot be read. */
const accountOf = (value: DirectoryDevice, before: DirectoryDevice | undefined): string =>
  value.user_principal_name || (before?.device_id === value.device_id ? before.user_principal_name : "");

async function writeDevices(
  tx: ServerTx,
  changed: readonly ReportedValue<DirectoryDevice>[],
  now: string,
): Promise<void> {
  const before = await tx.directoryDevices.list({ where: oneOf("host_id", hostIdsOf(changed)) });
  const reportedDevices = new Map(changed.map(({ hostId, value }) => [hostId, value]));
  const rowOf = new Map(before.map((row) => [row.host_id, row]));
  const left = before.filter(({ host_id, device_id }) => reportedDevices.get(host_id!)!.device_id !== device_id);
  const idsOf = (rows: typeof before): number[] => rows.map(({ id }) => id);
  const isKnown = ({ reported, runner }: (typeof before)[number]): boolean => reported !== "" || runner !== "";
  // The directory must not trust the former device because of this host; of others it knows nothing.
  const knownIds = idsOf(left.filter(isKnown));
  const unknown = idsOf(left.filter((row) => !isKnown(row)));
  if (knownIds.length > 0)
    await tx.directoryDevices.update({ where: oneOf("id", knownIds), set: { host_id: null, due_at: now } });
  if (unknown.length > 0) await tx.directoryDevices.delete(oneOf("id", unknown));
  await tx.directoryDevices.upsert(
    changed.map(({ hostId, value }) => ({
      host_id: hostId,
      ...value,
      user_principal_name: accountOf(value, rowOf.get(hostId)),
      updated_at: now,
      due_at: now,
    })),
    {
      on: ["host_id"],
      set: ["device_id", "tenant_id", "user_principal_name", "updated_at", "due_at"],
      returning: [],
    },
  );
  await tx.notify(channels.directoryDevices, "");
}

/** Has the hosts' devices compared with their policies soon. Call this in the transaction that changes the results. */
export async function compareDevices(tx: ServerTx, hostIds: readonly number[], now: string): Promise<void> {
  const count = await tx.directoryDevices.update({ where: oneOf("host_id", hostIds), set: { due_at: now } });
  if (count > 0) await tx.notify(channels.directoryDevices, "");
}
