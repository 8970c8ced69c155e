// Self-service on a host's own page: its user installs and uninstalls what the host's team offers.
import { z } from "zod";
import { ScriptResult } from "../delivery/scripts.ts";
import { InstallResult } from "../delivery/software-installs.ts";
import { commandsApi } from "../devices/commands.ts";
import { PROVES } from "../dry-run.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, IdParam, QueryId, QueryText } from "../fields.ts";

const token = z.string().min(1);
const uuid = z.string().min(1).max(255);
const ask = { method: "POST", access: "none", dryRun: PROVES, status: 202, response: Empty } as const;
const read = { method: "GET", access: "none" } as const;
const ofTitle = { params: z.object({ token, software_title_id: IdParam }) };
const path = "/device/:token/software";

export const deviceInstallsApi = {
  install: endpoint({
    ...ask,
    ...ofTitle,
    path: `${path}/install/:software_title_id`,
    summary: "Install a title with self-service on a host, from its own page.",
  }),
  installAll: endpoint({
    ...ask,
    path: `${path}/install_all`,
    summary: "Install all titles with self-service that a host does not have, from its own page.",
    params: z.object({ token }),
    query: z.object({
      category_id: QueryId.optional().meta({ description: "only titles in this category" }),
      query: QueryText.optional().meta({ description: "only titles whose name contains this" }),
    }),
  }),
  uninstall: endpoint({
    ...ask,
    ...ofTitle,
    path: `${path}/uninstall/:software_title_id`,
    summary: "Uninstall a title with self-service from a host, from its own page.",
  }),
  installResult: endpoint({
    ...read,
    path: `${path}/install/:install_uuid/results`,
    summary: "Show the result of an installation of a package on a host's own page.",
    tier: "premium",
    params: z.object({ token, install_uuid: uuid }),
    response: InstallResult,
  }),
  uninstallResult: endpoint({
    ...read,
    path: `${path}/uninstall/:execution_id/results`,
    summary: "Show the result of an uninstallation on a host's own page.",
    params: z.object({ token, execution_id: uuid }),
    response: ScriptResult,
  }),
  commandResult: endpoint({
    ...read,
    path: `${path}/commands/:command_uuid/results`,
    summary: "Show the result of an installation of a store app on a host's own page.",
    params: z.object({ token, command_uuid: uuid }),
    response: commandsApi.results.response,
  }),
};
