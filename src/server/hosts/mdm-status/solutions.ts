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

const CACHED_MAX = 10_000;

const keyOf = ({ name, server_url }: Solution): string => `${name}\0${server_url}`;

export class Solutions {
  readonly #store: Pick<ServerStore, "mdmSolutions">;
  /** The ids of products by `keyOf`. */
  readonly #cachedIds = new Map<string, number>();

  constructor(store: Pick<ServerStore, "mdmSolutions">) {
    this.#store = store;
  }

  /** The ids of these products. New products are inserted. */
  async ids(solutions: readonly Solution[]): Promise<{ of(solution: Solution): number }> {
    const cached = this.#cachedIds;
    const missing = new Map<string, Solution>();
    const ids = new Map<string, number>();
    for (const solution of solutions) {
      const key = keyOf(solution);
      const id = cached.get(key);
      if (id === undefined) missing.set(key, solution);
      else ids.set(key, id);
    }
    if (missing.size > 0) {
      const rows = await this.#store.mdmSolutions.upsert(
        [...missing.values()].map(({ name, server_url }) => ({ name, server_url })),
        { on: ["name", "server_url"], set: [], returning: ["id"] },
      );
      if (cached.size >= CACHED_MAX) cached.clear();
      [...missing.keys()].forEach((key, i) => {
        cached.set(key, rows[i]!.id);
        ids.set(key, rows[i]!.id);
      });
    }
    return { of: (solution) => ids.get(keyOf(solution))! };
  }

  /** Whether the product is certainly stored. */
  isCached(solution: Solution): boolean {
    return this.#cachedIds.has(keyOf(solution));
  }

  forget(): void {
    this.#cachedIds.clear();
  }
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
