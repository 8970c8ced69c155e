// What the commands for the organization's logo share.
import { Flags } from "@oclif/core";

export const logoFlags = {
  mode: Flags.option({ options: ["all", "light", "dark"] as const })({
    summary: "On which backgrounds it is shown.",
    default: "all",
  }),
};
