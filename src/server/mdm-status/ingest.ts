// Stores the device management data that agents report: one row per host, written only if it differs from the
// previous one.

import type { ServerStore, ServerTx } from "../core/tables.ts";
import type { InsertOf, RowOf } from "../store/table.ts";
import type { MdmInventory } from "./inventory.ts";
import { createSolutions, type Solution } from "./solutions.ts";
import type { hostMdm } from "./tables.ts";

export interface MdmAnswer {
  readonly hostId: number;
  readonly mdm: MdmInventory;
}

/** The columns that agents report. */
const reportedMdmColumns = ["enrollment_status", "solution_id", "installed_from_dep", "is_server"] as const;
export type HostMdmRow = Pick<InsertOf<typeof hostMdm>, "id" | (typeof reportedMdmColumns)[number]> & { id: number };

export interface MdmIngest {
  /** Stores new products and returns the rows to upsert. Pass at most one result per host. */
  plan(answers: readonly MdmAnswer[]): Promise<HostMdmRow[]>;
  forget(): void;
}

/** Without a product name and a server URL, an enrolled host has no solution. */
const solutionOf = ({ enrolled, name, server_url }: MdmInventory): Solution | null =>
  enrolled && (name !== "" || server_url !== "") ? { name, server_url } : null;

function rowOf(
  { hostId, mdm }: MdmAnswer,
  solutionId: number | null,
  old: RowOf<typeof hostMdm> | undefined,
): HostMdmRow {
  // The agent cannot distinguish a personal enrollment from another manual one.
  const staysPersonal = old?.enrollment_status === "On (personal)" && mdm.enrollment_status === "On (manual)";
  return {
    id: hostId,
    enrollment_status: staysPersonal ? "On (personal)" : mdm.enrollment_status,
    solution_id: solutionId,
    installed_from_dep: mdm.installed_from_dep,
    is_server: mdm.is_server ?? old?.is_server ?? false,
  };
}

export function createMdmIngest(store: ServerStore): MdmIngest {
  const solutions = createSolutions(store);
  return {
    async plan(answers) {
      if (answers.length === 0) return [];
      const known = new Map(
        (await store.hostMdm.getMany(answers.map(({ hostId }) => hostId))).map((row) => [row.id, row]),
      );
      const ids = await solutions.ids(answers.flatMap(({ mdm }) => solutionOf(mdm) ?? []));
      return answers.flatMap((answer) => {
        const solution = solutionOf(answer.mdm);
        const old = known.get(answer.hostId);
        const row = rowOf(answer, solution === null ? null : ids.of(solution), old);
        return old && reportedMdmColumns.every((column) => row[column] === old[column]) ? [] : [row];
      });
    },
    forget: () => solutions.forget(),
  };
}

/** Writes the columns that agents report, and keeps the others. */
export async function writeReportedMdm(tx: ServerTx, rows: readonly HostMdmRow[]): Promise<void> {
  if (rows.length > 0) await tx.hostMdm.upsert(rows, { on: ["id"], set: reportedMdmColumns, returning: [] });
}
