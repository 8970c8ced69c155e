// What can be asked of a device to find out whether it has a profile.
import { isDone, statuses, statusReason } from "../../../../syncml/codes.ts";
import { everyCommand, type SyncCommand, syncCommand } from "../../../../syncml/value.ts";
import { xmlAttribute } from "../../../../xml/write.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
import { contentsOf } from "../../profiles/contents.ts";
import { fillLate } from "../../profiles/late.ts";
import type { HostProfileRow } from "../../profiles/platform.ts";
import { fillVariables, hasVariables, valuesOfHosts } from "../../profiles/variables.ts";
import { isSameValue } from "./compare.ts";
import { installing } from "./file.ts";

interface Check {
  /** Id of the command that asks. Agents accept 32 bits. */
  readonly cmdId: string;
  readonly node: string;
  readonly format: string;
  /** Null: the node has no value of its own. */
  readonly desired: string | null;
}

export interface Reply {
  readonly status: string | null;
  readonly data: string | null;
}

/** By the id of the command that asked. */
export type Replies = ReadonlyMap<string, Reply>;

/** Agents do not see what belongs to a user, and a certificate request leaves nothing that could be read. */
const UNSEEN = [/^\.\/user\//i, /\/clientcertificateinstall\/scep\//i];
/** What ADMX files declare may not be readable although it is there. */
const MAY_BE_HIDDEN = [/\/admxinstall(\/|$)/i, /~/];

/** FNV-1a of 32 bits. */
function idOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return String(hash >>> 0 || 1);
}

/** `key`: of this content on a host, so that an answer to a question about an earlier one is not taken for it. */
function checksOf(install: SyncCommand, key: string): Check[] {
  const checks = new Map<string, Check>();
  for (const command of everyCommand([install])) {
    if (command.verb === "Exec") continue;
    for (const { target, data, format } of command.items) {
      if (!target || UNSEEN.some((pattern) => pattern.test(target)) || hasVariables(data ?? "")) continue;
      const type = format ?? command.format ?? "";
      const desired = type.toLowerCase() === "node" ? null : data;
      checks.set(target, { cmdId: idOf(`${key} ${target}`), node: target, format: type, desired });
    }
  }
  return [...checks.values()];
}

export const getOf = ({ cmdId, node }: Check): SyncCommand => syncCommand("Get", cmdId, { items: [{ target: node }] });

/** Null: the device has the value. Otherwise how it differs; `unknown` if the device was not asked. */
export function differenceOf({ cmdId, node, format, desired }: Check, replies: Replies): string | null | "unknown" {
  const reply = replies.get(cmdId);
  if (!reply || reply.status === null) return "unknown";
  const { status, data } = reply;
  if (status === statuses.notFound && MAY_BE_HIDDEN.some((pattern) => pattern.test(node))) return null;
  if (!isDone(status)) return `${node}: status ${status}${statusReason(status) && ` (${statusReason(status)})`}`;
  return desired === null || isSameValue(format, desired, data ?? "") ? null : `${node}: it has another value`;
}

/** By the id of the host's row. Rows whose profile has another content by now are not among them. */
export async function checksOfRows(
  store: ServerTx,
  rows: readonly HostProfileRow[],
): Promise<ReadonlyMap<number, readonly Check[]>> {
  const uuids = [...new Set(rows.map(({ profile_uuid }) => profile_uuid))];
  const profiles = await store.configurationProfiles.list({ where: oneOf("uuid", uuids) });
  const profilesByUuid = new Map(profiles.map((profile) => [profile.uuid, profile]));
  const contents = await contentsOf(
    store,
    profiles.map(({ id }) => id),
  );
  const varied = profiles.filter(({ has_variables }) => has_variables);
  const values =
    varied.length === 0
      ? null
      : await valuesOfHosts(
          store,
          [...new Set(rows.map(({ host_id }) => host_id))],
          varied.map(({ id }) => contents.get(id)?.toString() ?? ""),
        );
  const checksByRow = new Map<number, readonly Check[]>();
  for (const row of rows) {
    const profile = profilesByUuid.get(row.profile_uuid);
    let text = profile && contents.get(profile.id)?.toString();
    if (!profile || text === undefined || profile.checksum !== row.checksum) continue;
    const hostValues = profile.has_variables ? values?.get(row.host_id) : undefined;
    if (hostValues !== undefined) {
      const filled = fillVariables(text, profile.uuid, hostValues, xmlAttribute);
      if (filled.missing.length > 0 || filled.digest !== row.variables) continue;
      text = await fillLate(store, { host_id: row.host_id, uuid: row.command_uuid ?? "" }, filled.text, xmlAttribute);
    }
    const install = installIn(text);
    if (install) checksByRow.set(row.id, checksOf(install, `${row.profile_uuid} ${row.checksum} ${row.variables}`));
  }
  return checksByRow;
}

function installIn(text: string): SyncCommand | null {
  try {
    return installing(Buffer.from(text));
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}
