// Turns the scripts that earlier versions of the server have queued into operations, once.
import type { Services } from "../../platform/core/context.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { adoptOperations } from "../operations/adopt.ts";
import type { Operation } from "../operations/kind.ts";
import { hostActionKinds, scriptKind } from "./kinds.ts";
import type { scriptRuns } from "./tables.ts";

type ScriptRun = RowOf<typeof scriptRuns>;

const BATCH_SIZE = 200;

export async function adoptScriptRuns({ store, clock }: Pick<Services, "store" | "clock">): Promise<number> {
  let adopted = 0;
  for (;;) {
    const count = await store.tx(
      async (tx) => {
        const runs = await tx.scriptRuns.list({ order: [{ column: "id", direction: "asc" }], limit: BATCH_SIZE });
        if (runs.length === 0) return 0;
        await adoptOperations(
          { store: tx, clock },
          runs.map((run) => ({ operation: asOperation(run), content: run.contents })),
        );
        await tx.scriptRuns.delete(
          oneOf(
            "id",
            runs.map(({ id }) => id),
          ),
        );
        return runs.length;
      },
      { lock: "script-runs" },
    );
    adopted += count;
    if (count < BATCH_SIZE) return adopted;
  }
}

function asOperation(run: ScriptRun) {
  const kind = run.kind === "script" ? scriptKind : hostActionKinds[run.kind];
  const result =
    run.exit_code === null ? null : { exit_code: run.exit_code, output: run.output ?? "", runtime: run.runtime ?? 0 };
  return {
    created_at: run.created_at,
    uuid: run.execution_id,
    host_id: run.host_id,
    kind: kind.name,
    priority: kind.priority,
    user_id: run.user_id,
    timeout: run.timeout,
    state: stateOf(run, result !== null && kind.isDone(result)),
    attempts: run.started_at === null ? 0 : 1,
    sent_at: run.started_at,
    due_at: null,
    ended_at: run.ended_at,
    result,
  };
}

/** One that was fetched and not answered is offered again. */
function stateOf({ state }: ScriptRun, isDone: boolean): Operation["state"] {
  if (state === "pending") return "queued";
  return state === "cancelled" ? "cancelled" : isDone ? "answered" : "failed";
}
