// A policy whose labels have changed keeps no results of hosts to which it no longer applies.
import { scopePredicate } from "../../hosts/labels/scope.ts";
import { not } from "../../platform/store/query.ts";
import type { TaskKind } from "../../platform/tasks/task.ts";
import { labelScopes } from "./applies.ts";
import { removeResults } from "./results.ts";

export const scopeTrim: TaskKind<{ readonly policy_ids: readonly number[] }> = {
  name: "trim_policy_results",
  async run({ store }, { payload, progress, signal, step }) {
    for (const [at, id] of payload.policy_ids.entries()) {
      if (at < progress) continue;
      const policy = await store.policies.get(id);
      const scope = (await labelScopes(store, [id])).get(id);
      if (policy && scope) await removeResults(store, [policy.result_id], signal, not(scopePredicate(scope)));
      await step(at + 1, async () => {});
    }
  },
};
