import { limit } from "../../platform/core/limits.ts";
import type { ScriptResult } from "./tables.ts";

/** Maximum stored output of a script (characters). The end is kept, since it usually contains the error. */
export const storedScriptOutput = limit({
  what: "output of a script that is stored",
  max: 10_000,
  unit: "characters",
  beyond: "The end is kept.",
});

export const shortened = (result: ScriptResult): ScriptResult => ({
  ...result,
  output: result.output.slice(-storedScriptOutput.max),
});
