import type { ConfigurationProfile } from "../../../../api/devices/profiles.ts";

/** The dialog of profiles that is open. */
export type OpenProfileDialog =
  | { readonly name: "add"; readonly teamId: number }
  | { readonly name: "replace" | "labels" | "delete" | "resend"; readonly profile: ConfigurationProfile };
