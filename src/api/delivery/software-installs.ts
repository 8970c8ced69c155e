// Installing and uninstalling what teams offer.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Timestamp } from "../fields.ts";
import { hostChoice, onHosts } from "../inventory/bulk-actions.ts";

const onHost = {
  method: "POST",
  tier: "premium",
  access: { action: "software:install", scope: "team" },
  params: z.object({ id: IdParam, software_title_id: IdParam }),
  status: 202,
  response: Empty,
} as const;

export const InstallResult = z.object({
  install_uuid: z.string(),
  software_title: z.string(),
  software_title_id: Id,
  software_package: z.string().meta({ description: "name of the file" }),
  host_id: Id,
  host_display_name: z.string(),
  status: z.enum(["pending_install", "installed", "failed_install", "canceled"]),
  message: z.string().meta({ description: "what has happened, in words; empty after a success" }),
  output: z.string().nullable().meta({ description: "of the installation script; null: it has not run" }),
  install_script_exit_code: z.int().nullable(),
  pre_install_query_output: z.string().nullable().meta({ description: "empty: the query returned no row" }),
  post_install_script_output: z.string().nullable(),
  post_install_script_exit_code: z.int().nullable(),
  self_service: z.boolean(),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
export type InstallResult = z.infer<typeof InstallResult>;

export const softwareInstallsApi = {
  install: endpoint({
    ...onHost,
    path: "/hosts/:id/software/:software_title_id/install",
    summary: "Install the package or store app of a title that the host's team offers.",
  }),
  uninstall: endpoint({
    ...onHost,
    path: "/hosts/:id/software/:software_title_id/uninstall",
    summary: "Uninstall the package of a title that the host's team offers.",
  }),
  installOnHosts: endpoint({
    ...onHosts,
    path: "/software/titles/:id/install",
    summary: "Install the package or store app of a title on many hosts; empty filters match all hosts.",
    tier: "premium",
    access: { action: "software:install", scope: "team" },
    params: z.object({ id: IdParam }),
    body: z.object(hostChoice),
  }),
  uninstallFromHosts: endpoint({
    ...onHosts,
    path: "/software/titles/:id/uninstall",
    summary: "Uninstall the package of a title from many hosts; empty filters match all hosts.",
    tier: "premium",
    access: { action: "software:install", scope: "team" },
    params: z.object({ id: IdParam }),
    body: z.object(hostChoice),
  }),
  result: endpoint({
    method: "GET",
    path: "/software/install/:install_uuid/results",
    summary: "Show the result of the installation of a package on a host.",
    tier: "premium",
    access: { action: "software:list", scope: "team" },
    params: z.object({ install_uuid: z.string().min(1).max(255) }),
    response: InstallResult,
  }),
};
