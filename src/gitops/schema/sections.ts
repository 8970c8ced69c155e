// The sections of main files, and their schemas in each kind of file.
import type { z } from "zod";
import {
  AgentOptionsFile,
  GlobalControls,
  NoTeamSettings,
  OrgSettings,
  TeamControls,
  TeamSettings,
} from "./settings.ts";

/** A main file is that of the organization, of a team, or of the hosts without a team. */
export type ScopeKind = "global" | "team" | "no_team";

const schemas = {
  org_settings: { global: OrgSettings },
  team_settings: { team: TeamSettings, no_team: NoTeamSettings },
  agent_options: { global: AgentOptionsFile, team: AgentOptionsFile },
  controls: { global: GlobalControls, team: TeamControls, no_team: GlobalControls },
} as const satisfies Record<string, { readonly [kind in ScopeKind]?: z.ZodType }>;

export type SectionName = keyof typeof schemas;
export const sectionNames = Object.keys(schemas) as SectionName[];

/** Undefined if such a file does not have the section. */
export const schemaOf = (name: SectionName, file: ScopeKind): z.ZodType | undefined =>
  (schemas[name] as { readonly [kind in ScopeKind]?: z.ZodType })[file];

/** The section with the settings themselves. */
export const settingsOf = (file: ScopeKind) => (file === "global" ? "org_settings" : "team_settings");
