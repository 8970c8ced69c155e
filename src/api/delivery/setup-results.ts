// How far the setup of a host is: for its agent, its own page, and users.
import { z } from "zod";
import { PROVES } from "../dry-run.ts";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam, Timestamp } from "../fields.ts";

const setupItemStates = ["pending", "running", "success", "failure"] as const;

export const SetupItem = z.object({
  name: z.string(),
  display_name: z.string(),
  status: z.enum(setupItemStates),
  software_title_id: Id.nullish().meta({ description: "of software; null if the title was deleted" }),
  execution_id: z.string().nullish().meta({ description: "of the script; null before it was started" }),
  icon_url: z.string().nullable(),
  error: z.string().nullable().meta({ description: "why it has failed" }),
});
export type SetupItem = z.infer<typeof SetupItem>;

/** The results that agents get. What comes before the software is that of device management. */
export const SetupResults = z.object({
  script: SetupItem.optional(),
  software: z.array(SetupItem),
  bootstrap_package: z.object({ name: z.string(), status: z.enum(setupItemStates) }).optional(),
  configuration_profiles: z.array(
    z.object({
      profile_uuid: z.string(),
      name: z.string(),
      status: z.enum(["pending", "verifying", "verified", "failed"]),
    }),
  ),
  account_configuration: z.object({ command_uuid: z.string(), status: z.enum(setupItemStates) }).optional(),
  org_logo_url: z.string(),
});

export const HostSetup = z.object({
  status: z
    .enum(["none", ...setupItemStates])
    .meta({ description: "none: the host has no setup; failure: something of it has failed" }),
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
  software: z.array(SetupItem).meta({ description: "in the order of installation" }),
  script: SetupItem.nullable(),
});
export type HostSetup = z.infer<typeof HostSetup>;

export const setupResultsApi = {
  ofHost: endpoint({
    method: "GET",
    path: "/hosts/:id/setup_experience",
    summary: "Show how far the setup of a host is: its software, and its script.",
    tier: "premium",
    access: { action: "hosts:read", scope: "team" },
    params: z.object({ id: IdParam }),
    response: z.object({ host_id: Id, setup_experience: HostSetup }),
  }),
  ofDevice: endpoint({
    method: "POST",
    path: "/device/:token/setup_experience/status",
    dryRun: PROVES,
    summary: "Show how far the setup of a host is, on its own page, and begin what comes next.",
    tier: "premium",
    access: "none",
    params: z.object({ token: z.string().min(1) }),
    response: z.object({ setup_experience_results: SetupResults.pick({ software: true, script: true }) }),
  }),
};
