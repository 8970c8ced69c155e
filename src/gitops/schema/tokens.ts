// The teams of the tokens of the business portal and of the license program, as they stand in org_settings.mdm.
import { z } from "zod";
import { name } from "./fields.ts";

const team = z
  .string()
  .max(255)
  .nullish()
  .transform((input) => (input ?? "").normalize("NFC").trim())
  .meta({ description: "name of a team; empty: none" });

const PortalToken = z.strictObject({
  organization_name: name,
  macos_team: team,
  ios_team: team,
  ipados_team: team,
  byod_team: team,
});
export type PortalToken = z.output<typeof PortalToken>;
export const PortalTokens = z.array(PortalToken).max(1_000).nullish();

const LicenseToken = z.strictObject({
  location: name,
  teams: z
    .array(name)
    .max(10_000)
    .nullish()
    .transform((input) => [...new Set(input ?? [])].sort())
    .meta({ description: "names of teams, No team, or only All teams" }),
});
export type LicenseToken = z.output<typeof LicenseToken>;
export const LicenseTokens = z.array(LicenseToken).max(1_000).nullish();
