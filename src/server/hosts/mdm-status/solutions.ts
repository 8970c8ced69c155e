// Device management products that hosts report. The ids of known products are cached.
import type { Services } from "../../platform/core/context.ts";
import type { ServerStore } from "../../platform/core/tables.ts";
import { removeUnused } from "../../platform/shared-rows/unused.ts";
import { and, exists, not, oneOf } from "../../platform/store/query.ts";
import { hostMdm } from "./tables.ts";

export interface Solution {
  readonly name: string;
  readonly server_url: string;
}

interface Solutions {
  /** The ids of these products. New products are inserted. */
  ids(solutions: readonly Solution[]): Promise<{ of(solution: Solution): number }>;
  /** Whether the product is certainly stored. */
  isCached(solution: Solution): boolean;
  forget(): void;
}

const CACHED_MAX = 10_000;

const keyOf = ({ name, server_url }: Solution): string => `${name}\0${server_url}`;

export function createSolutions(store: Pick<ServerStore, "mdmSolutions">): Solutions {
  const held = new Map<string, number>();
  return {
    async ids(solutions) {
      const missing = new Map<string, Solution>();
      const ids = new Map<string, number>();
      for (const solution of solutions) {
        const key = keyOf(solution);
        const id = held.get(key);
        if (id === undefined) missing.set(key, solution);
        else ids.set(key, id);
      }
      if (missing.size > 0) {
        const rows = await store.mdmSolutions.upsert(
          [...missing.values()].map(({ name, server_url }) => ({ name, server_url })),
          { on: ["name", "server_url"], set: [], returning: ["id"] },
        );
        if (held.size >= CACHED_MAX) held.clear();
        [...missing.keys()].forEach((key, i) => {
          held.set(key, rows[i]!.id);
          ids.set(key, rows[i]!.id);
        });
      }
      return { of: (solution) => ids.get(keyOf(solution))! };
    },
    isCached: (solution) => held.has(keyOf(solution)),
    forget: () => held.clear(),
  };
}

const unenrolled = not(exists(hostMdm, "solution_id"));

/** Deletes products that no host is enrolled in any more. */
export async function removeUnusedSolutions(services: Services): Promise<void> {
  const { store } = services;
  const solutions = await store.mdmSolutions.pick(["id"], { where: unenrolled });
  await removeUnused(
    services,
    "mdm_solutions",
    solutions.map(({ id }) => id),
    (ids) => store.mdmSolutions.delete(and(oneOf("id", ids), unenrolled)),
  );
}
