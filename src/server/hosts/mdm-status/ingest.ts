// Stores the device management data that agents report: one row per host, written only if it differs from the
// previous one.

import { tableExists } from "../../platform/agent-protocol/detail-query.ts";
import { type AgentRow, text } from "../../platform/agent-protocol/rows.ts";
import { channels, hostsPayload } from "../../platform/core/channels.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { admitNames } from "../../platform/host-limits/shared-names.ts";
import type { InsertOf, RowOf } from "../../platform/store/table.ts";
import {
  type InventorySource,
  NOTHING_TO_WRITE,
  type ReportedValue,
  type SourceWriter,
} from "../hosts/inventory/source.ts";
import { assignedHostIds } from "./expected.ts";
import { darwinMdm, type MdmInventory, windowsMdm } from "./inventory.ts";
import { ownMdm } from "./own.ts";
import { type Solution, Solutions } from "./solutions.ts";
import type { hostMdm } from "./tables.ts";

/** The columns that agents report. */
const reportedMdmColumns = ["enrollment_status", "solution_id", "installed_from_dep", "is_server"] as const;
type HostMdmRow = Pick<InsertOf<typeof hostMdm>, "id" | (typeof reportedMdmColumns)[number]> & { id: number };

/** Without a product name and a server URL, an enrolled host has no solution. */
const solutionOf = ({ enrolled, name, server_url }: MdmInventory): Solution | null =>
  enrolled && (name !== "" || server_url !== "") ? { name, server_url } : null;

/** Milliseconds between a device's enrollment and the first report of its agent that includes it, at most. */
const JUST = minutes(5);

function rowOf(
  { hostId, value: mdm }: ReportedValue<MdmInventory>,
  solutionId: number | null,
  old: RowOf<typeof hostMdm> | undefined,
  isAssigned: boolean,
  now: number,
): HostMdmRow | null {
  // The agent has asked its host before that enrolled.
  const hasJustEnrolled = old?.connected_to_svc === true && now - Date.parse(old.enrolled_at ?? "") < JUST;
  if (hasJustEnrolled && !mdm.enrolled) return null;
  // The agent cannot distinguish a personal enrollment from another manual one.
  const staysPersonal = old?.enrollment_status === "On (personal)" && mdm.enrollment_status === "On (manual)";
  // The agent does not know what the business portal will do at the next setup.
  const staysPending = isAssigned && mdm.enrollment_status === "Off";
  return {
    id: hostId,
    enrollment_status: staysPersonal ? "On (personal)" : staysPending ? "Pending" : mdm.enrollment_status,
    solution_id: solutionId,
    installed_from_dep: staysPending || mdm.installed_from_dep,
    is_server: mdm.is_server ?? old?.is_server ?? false,
  };
}

function startMdm(services: Services): SourceWriter<MdmInventory> {
  const { store, clock } = services;
  const solutions = new Solutions(store);

  /** Without the reports of hosts that have added too many products. */
  async function admitted(
    answers: readonly ReportedValue<MdmInventory>[],
  ): Promise<readonly ReportedValue<MdmInventory>[]> {
    const isNew = ({ value }: ReportedValue<MdmInventory>) => {
      const solution = solutionOf(value);
      return solution !== null && !solutions.isCached(solution);
    };
    const roomOf = await admitNames(services, new Map(answers.filter(isNew).map(({ hostId }) => [hostId, 1])));
    return answers.filter((answer) => !isNew(answer) || roomOf(answer.hostId) > 0);
  }

  return {
    /** Stores new products, and plans the writes of the others. */
    async plan(reported) {
      const answers = await admitted(reported);
      const stored = new Map(
        (await store.hostMdm.getMany(answers.map(({ hostId }) => hostId))).map((row) => [row.id, row]),
      );
      const pending = answers.flatMap(({ hostId }) =>
        stored.get(hostId)?.enrollment_status === "Pending" ? [hostId] : [],
      );
      const assigned = await assignedHostIds(store, pending);
      const ids = await solutions.ids(answers.flatMap(({ value }) => solutionOf(value) ?? []));
      const rows = answers.flatMap((answer) => {
        const solution = solutionOf(answer.value);
        const old = stored.get(answer.hostId);
        const solutionId = solution === null ? null : ids.of(solution);
        const row = rowOf(answer, solutionId, old, assigned.has(answer.hostId), clock.now());
        if (row === null) return [];
        return old && reportedMdmColumns.every((column) => row[column] === old[column]) ? [] : [row];
      });
      return rows.length === 0 ? NOTHING_TO_WRITE : { write: (tx) => writeReportedMdm(tx, rows) };
    },
    forget: () => solutions.forget(),
  };
}

/** Writes the columns that agents report, and keeps the others. */
async function writeReportedMdm(tx: ServerTx, rows: readonly HostMdmRow[]): Promise<void> {
  await tx.hostMdm.upsert(rows, { on: ["id"], set: reportedMdmColumns, returning: [] });
  await tx.notify(channels.hosts, hostsPayload(rows.map(({ id }) => id)));
}

const installationType = (registry: readonly AgentRow[]): string =>
  registry.flatMap((row) => (text(row, "name") === "InstallationType" ? [text(row, "data").trim()] : [])).at(-1) ?? "";

/** On Windows, the registry values that are queried with the operating system distinguish servers from workstations. */
export const mdmInventory: InventorySource<MdmInventory> = {
  queries: [
    {
      name: "mdm_darwin",
      platforms: ["darwin"],
      critical: true,
      discovery: tableExists("mdm"),
      sql: "SELECT enrolled, installed_from_dep, server_url, payload_identifier FROM mdm;",
    },
    {
      name: "mdm_windows",
      platforms: ["windows"],
      critical: true,
      sql: "SELECT key, name, data FROM registry WHERE path LIKE 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Enrollments\\%%' AND name IN ('UPN', 'DiscoveryServiceFullURL', 'ProviderID', 'EnrollmentState', 'AADResourceID');",
    },
  ],
  read({ rows, warn }) {
    const darwin = rows("mdm_darwin");
    const mac = darwin && darwinMdm(darwin, ownMdm, warn);
    if (mac) return mac;
    const windows = rows("mdm_windows");
    if (windows === null) return null;
    const registry = rows("os_windows");
    return windowsMdm(windows, registry && installationType(registry), ownMdm);
  },
  start: startMdm,
};
