import type { VariableUse } from "../../../../api/settings/variables.ts";

/** The kinds of texts in which a variable may be used, in words. */
export const usageNames: Readonly<Record<VariableUse, string>> = {
  scripts: "saved scripts",
  one_off_scripts: "scripts that are run without being saved",
  software: "scripts of software",
  profiles: "profiles",
  host_names: "names of hosts",
};
