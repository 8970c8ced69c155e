// Deletes operations that ended long ago, with the rows of their features.

import { setImmediate } from "node:timers/promises";
import { isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { and, eq, lt, oneOf } from "../../platform/store/query.ts";
import { operationKinds } from "./kind.ts";

/** Operations per transaction, few enough not to block other writers. */
const BATCH_SIZE = 1_000;

/** Returns how many operations were deleted. */
export async function forgetOperations(services: Services, signal?: AbortSignal): Promise<number> {
  const { store, clock, extensions } = services;
  let gone = 0;
  for (const { name, keptFor } of extensions.of(operationKinds)) {
    if (keptFor === undefined) continue;
    const where = and(eq("kind", name), lt("ended_at", isoAt(clock.now() - keptFor)));
    for (let count = BATCH_SIZE; count === BATCH_SIZE && signal?.aborted !== true; await setImmediate()) {
      const ids = (await store.operations.pick(["id"], { where, limit: BATCH_SIZE })).map(({ id }) => id);
      count = ids.length;
      if (count > 0) gone += await store.operations.delete(oneOf("id", ids));
    }
  }
  return gone;
}
