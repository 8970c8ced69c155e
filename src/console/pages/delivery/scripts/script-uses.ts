// What would miss a saved script: policies that run it, and batches that have not ended.
import { type Policy, policiesApi } from "../../../../api/checks/policies.ts";
import { type ScriptBatch, scriptBatchesApi } from "../../../../api/delivery/script-batches.ts";
import type { Script } from "../../../../api/delivery/scripts.ts";
import { useRead } from "../../../api.ts";
import { ofTeam } from "../../../parts/one-team.tsx";

export interface ScriptUses {
  readonly policies: readonly Policy[];
  readonly batches: readonly ScriptBatch[];
}

/** Undefined while it is read, and if the user may not see it. Read anew each time, because people decide by it. */
export function useScriptUses({ id, team_id }: Pick<Script, "id" | "team_id">): ScriptUses | undefined {
  const teamId = team_id ?? 0;
  const policies = useRead(policiesApi.listTeam, { params: { id: teamId } }, { staleTime: 0 });
  const batches = useRead(scriptBatchesApi.list, { query: ofTeam(teamId) }, { staleTime: 0 });
  if (policies.data === undefined || batches.data === undefined) return undefined;
  return {
    policies: policies.data.policies.filter(({ run_script }) => run_script?.id === id),
    batches: batches.data.batch_executions.filter(({ script_id, status }) => script_id === id && status !== "finished"),
  };
}
