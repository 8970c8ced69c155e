// What happens on a device before its user can use it: settings, software, and a script.
import { z } from "zod";
import { Content, multipart, smallFile } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, Meta, pagingAfter, QueryTeam, Timestamp } from "../fields.ts";
import { SetupSwitches } from "../settings/app-config.ts";
import { type SetupPlatform, setupPlatforms } from "../setup-platforms.ts";
import { ListedPackage } from "../software/packages.ts";
import { SoftwareTitle } from "../software/software.ts";
import { SCRIPT_MAX, Script } from "./scripts.ts";

/** How many titles hosts of a platform can install during their setup. */
const SETUP_TITLES_MAX = 500;

const named = ["macos", ...setupPlatforms] as const;
const stored = (name: (typeof named)[number]): SetupPlatform => (name === "macos" ? "darwin" : name);
const Platform = z.enum(named).transform(stored).meta({ type: "string", enum: named });
const Platforms = z
  .string()
  .max(255)
  .default("macos")
  .transform((text) => [...new Set(text.split(",").map((part) => part.trim()))])
  .pipe(z.array(z.enum(named).transform(stored)))
  .meta({ type: "string", description: `platforms, separated by commas: ${named.join(", ")}` });

const team_id = z.int().min(0).nullish().meta({ description: "0, or absent: hosts without a team" });
const QueriedTeam = QueryTeam.optional().meta({ description: "0, or absent: hosts without a team" });
const read = { action: "setup:read", scope: "team" } as const;
const write = { action: "setup:write", scope: "team" } as const;
const premium = { tier: "premium" } as const;

const SetupPackage = ListedPackage.extend({ install_during_setup: z.boolean() });
/** A title that hosts of the platforms can install during their setup. */
export const SetupTitle = SoftwareTitle.extend({
  software_package: SetupPackage.nullable(),
  packages: z.array(SetupPackage).nullable(),
});
export type SetupTitle = z.infer<typeof SetupTitle>;

export const SetupScript = Script.extend({
  created_at: Timestamp,
  team_id: z.int().min(0).meta({ description: "0 = no team" }),
});
export type SetupScript = z.infer<typeof SetupScript>;

const SCRIPT_PATH = "/setup_experience/script";
const ofTeam = z.object({ team_id: QueriedTeam });

export const setupExperienceApi = {
  change: endpoint({
    ...premium,
    method: "PATCH",
    path: "/setup_experience",
    aliases: ["/mdm/vendora/setup"],
    summary: "Change the settings of the setup of a team's hosts, or of hosts without a team.",
    access: write,
    body: SetupSwitches.partial().extend({ team_id }),
    status: 204,
    response: Empty,
  }),
  localAccount: endpoint({
    ...premium,
    method: "POST",
    path: "/managed_local_account",
    summary: "Set whether Macs get a managed local account, and what their users' own account may do.",
    access: write,
    body: SetupSwitches.pick({ enable_managed_local_account: true, end_user_local_account_type: true })
      .partial()
      .extend({ team_id }),
    status: 204,
    response: Empty,
  }),
  software: endpoint({
    ...premium,
    method: "GET",
    path: "/setup_experience/software",
    summary: "List the software that hosts can install during their setup: first what they do install, in this order.",
    access: read,
    query: pagingAfter("name", "hosts_count").extend({ platform: Platforms, team_id: QueriedTeam }),
    response: z.object({
      software_titles: z.array(SetupTitle),
      count: z.int(),
      counts_updated_at: Timestamp.nullable(),
      meta: Meta,
    }),
  }),
  setSoftware: endpoint({
    ...premium,
    method: "PUT",
    path: "/setup_experience/software",
    summary: "Set what hosts of a platform install during their setup, in this order. Titles left out are unset.",
    access: write,
    query: z.object({ platform: Platform.optional(), team_id: QueriedTeam }),
    body: z.object({
      platform: Platform.nullish().meta({ description: "default: macos" }),
      team_id,
      software_title_ids: z.array(Id).max(SETUP_TITLES_MAX),
    }),
    response: Empty,
  }),
  addScript: endpoint({
    ...premium,
    method: "POST",
    path: SCRIPT_PATH,
    summary: "Upload the script that hosts of a team run at the end of their setup.",
    access: write,
    body: multipart({ team_id: QueriedTeam }, { script: smallFile({ limit: SCRIPT_MAX }) }),
    response: Empty,
  }),
  script: endpoint({
    ...premium,
    method: "GET",
    path: SCRIPT_PATH,
    summary: "Show the script that hosts of a team run at the end of their setup, or download its file.",
    access: read,
    query: ofTeam.extend({ alt: z.enum(["media"]).optional().meta({ description: "media: the file" }) }),
    produces: "application/octet-stream",
    response: z.union([SetupScript, Content]),
  }),
  deleteScript: endpoint({
    ...premium,
    method: "DELETE",
    path: SCRIPT_PATH,
    summary: "Delete the script that hosts of a team run at the end of their setup.",
    access: write,
    query: ofTeam,
    response: Empty,
  }),
};
