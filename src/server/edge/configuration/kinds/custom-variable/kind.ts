import { may } from "../../../../platform/core/security/access.ts";
import { removeVariable, VARIABLE_LOCK_OPTIONS, type VariableRow } from "../../../../settings/variables/secrets.ts";
import { locating } from "../../changes.ts";
import type { Kind } from "../../kind.ts";
import { count } from "../../work.ts";
import { type DesiredVariable, KIND, readVariable, variableThings } from "./value.ts";
import { writeVariables } from "./write.ts";

export const customVariable: Kind<readonly VariableRow[], DesiredVariable> = {
  name: KIND,
  owners: ["global"],
  per: "many",
  lock: VARIABLE_LOCK_OPTIONS.lock,
  action: () => "variables:write",
  load: async (ctx) => (may(ctx.user, "variables:write", null) ? ctx.store.customVariables.list() : []),
  things: variableThings,
  read: readVariable,
  write: (work, { rows, steps }) => writeVariables(work, rows, steps),
  async remove(work, { rows, gone }) {
    for (const change of gone)
      await locating(change, () => removeVariable(work.ctx, rows.find(({ name }) => name === change.name)!));
    count(work, gone);
  },
};
