// Deletes saved scripts that nothing uses.
import { conflict } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, oneOf } from "../../platform/store/query.ts";
import type { ScriptRow } from "./access.ts";

/** Deletes scripts in the caller's transaction. 409 if something uses one. */
export async function removeScripts(store: ServerTx, scripts: readonly Pick<ScriptRow, "id" | "name">[]) {
  if (scripts.length === 0) return;
  const names = new Map(scripts.map(({ id, name }) => [id, JSON.stringify(name)]));
  const ids = [...names.keys()];
  const policy = await store.policies.first({ where: oneOf("script_id", ids) });
  if (policy)
    throw conflict(
      `the policy ${JSON.stringify(policy.name)} runs the script ${names.get(policy.script_id!)}: change it first`,
    );
  const unfinished = and(oneOf("script_id", ids), oneOf("status", ["scheduled", "started"]));
  const batch = await store.scriptBatches.first({ where: unfinished });
  if (batch)
    throw conflict(
      `the batch run ${batch.uuid} of ${names.get(batch.script_id!)} has not ended: wait for it, or cancel it`,
    );
  await store.scripts.delete(oneOf("id", ids));
}
