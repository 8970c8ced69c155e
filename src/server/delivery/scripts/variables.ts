// Custom variables that saved scripts, and those that wait for a host, contain.
import { eq, exists, or } from "../../platform/store/query.ts";
import type { VariableUser } from "../../settings/variables/use.ts";
import { scriptExecutions, scripts } from "./tables.ts";

export const scriptsUseVariables: VariableUser = {
  async findUse(store, isUsedIn) {
    const where = or(exists(scripts, "text_id"), exists(scriptExecutions, "text_id", eq("state", "pending")));
    for await (const texts of store.scriptTexts.pages({ where }, 50))
      for (const { id, content } of texts) {
        if (!isUsedIn(content)) continue;
        const script = await store.scripts.first({ where: eq("text_id", id) });
        return script ? `the script ${JSON.stringify(script.name)}` : "a script that waits for a host";
      }
    return null;
  },
};
