// What agents tell of their hosts' device management: one row a host, written only when it differs from the one before.
import type { MdmInventory } from "../agent/inventory/mdm.ts";
import type { InsertOf, RowOf } from "../store/table.ts";
import type { ServerStore } from "../tables.ts";
import { createSolutions, type Solution } from "./solutions.ts";
import type { hostMdm } from "./tables.ts";

export interface MdmAnswer {
  readonly hostId: number;
  readonly mdm: MdmInventory;
}

/** The columns that agents tell of. */
export const mdmTold = ["enrollment_status", "solution_id", "installed_from_dep", "is_server"] as const;
export type HostMdmRow = Pick<InsertOf<typeof hostMdm>, "id" | (typeof mdmTold)[number]> & { id: number };

export interface MdmIngest {
  /** Makes the products known, and gives the rows to upsert. At most one answer a host. */
  plan(answers: readonly MdmAnswer[]): Promise<HostMdmRow[]>;
  forget(): void;
}

/** An enrolled host whose agent names neither product nor address is enrolled in nothing that can be named. */
const solutionOf = ({ enrolled, name, server_url }: MdmInventory): Solution | null =>
  enrolled && (name !== "" || server_url !== "") ? { name, server_url } : null;

function rowOf(
  { hostId, mdm }: MdmAnswer,
  solutionId: number | null,
  old: RowOf<typeof hostMdm> | undefined,
): HostMdmRow {
  // The agent cannot tell a personal enrollment from another one made by hand.
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
        return old && mdmTold.every((column) => row[column] === old[column]) ? [] : [row];
      });
    },
    forget: () => solutions.forget(),
  };
}
