import type { ScriptResult } from "./tables.ts";

/** Maximum stored output of a script (characters). The end is kept, since it usually contains the error. */
const OUTPUT_MAX = 10_000;

export const shortened = (result: ScriptResult): ScriptResult => ({
  ...result,
  output: result.output.slice(-OUTPUT_MAX),
});
