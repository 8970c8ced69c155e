// Why operations cannot be cancelled.
import type { Context } from "../../platform/core/context.ts";
import { groupBy } from "../../platform/core/maps.ts";
import { type CancelCandidate, type OperationKind, operationKind } from "./kind.ts";

/** Why each of the operations cannot be cancelled; null: it can. */
export async function refusalsOf(
  inside: Pick<Context, "store" | "extensions">,
  operations: readonly CancelCandidate[],
): Promise<ReadonlyMap<number, string | null>> {
  const refusals = new Map<number, string | null>();
  for (const [kindName, ofKind] of groupBy(operations, ({ kind }) => kind)) {
    const kind = operationKind(inside, kindName);
    const open = ofKind.filter(({ state }) => state === "queued" || state === "sent");
    for (const { id, state } of ofKind) refusals.set(id, `it has ended already: it is ${state}`);
    const reasons = await refusalsOfKind(inside, kind, open);
    open.forEach(({ id }, i) => void refusals.set(id, reasons[i]!));
  }
  return refusals;
}

async function refusalsOfKind(
  inside: Pick<Context, "store" | "extensions">,
  kind: OperationKind,
  open: readonly CancelCandidate[],
): Promise<readonly (string | null)[]> {
  if (kind.isHidden) return open.map(() => "the server sends it by itself: it cannot be cancelled");
  if (open.length > 0 && kind.view?.refusals) return kind.view.refusals(inside, open);
  return open.map(({ attempts }) =>
    attempts > 0 && !kind.isCancellableOnceSent
      ? `the ${kind.title} has started on the host and cannot be cancelled`
      : null,
  );
}
