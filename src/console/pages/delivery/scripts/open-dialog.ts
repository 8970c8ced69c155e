import type { Script } from "../../../../api/delivery/scripts.ts";

/** The dialog of the list of scripts that is open. */
export type OpenScriptDialog =
  | { readonly name: "add" }
  | { readonly name: "edit" | "delete" | "run"; readonly script: Script };
