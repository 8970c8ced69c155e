// Bootstrap packages: what Macs install first after they have enrolled automatically.
import { z } from "zod";
import { Download, file, MiB, multipart } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, QueryFlag, QueryTeam, Timestamp } from "../fields.ts";

/** Maximum size of a package. */
export const PACKAGE_MAX = 10 * 1024 * MiB;

export const BootstrapPackage = z.object({
  name: z.string(),
  team_id: z.int().min(0).meta({ description: "0 = no team" }),
  sha256: z.string(),
  token: z.string().meta({ description: "everybody who has it can download the package" }),
  created_at: Timestamp,
});
export type BootstrapPackage = z.infer<typeof BootstrapPackage>;

export const BootstrapSummary = z.object({ installed: z.int(), failed: z.int(), pending: z.int() });
export type BootstrapSummary = z.infer<typeof BootstrapSummary>;

const read = { action: "setup:read", scope: "team" } as const;
const write = { action: "setup:write", scope: "team" } as const;
const team_id = QueryTeam.optional().meta({ description: "0, or absent: hosts without a team" });
const params = z.object({ team_id: QueryTeam });
const atAll = (rest = "") => [`/mdm/vendora/bootstrap${rest}`, `/mdm/bootstrap${rest}`];

export const bootstrapApi = {
  upload: endpoint({
    method: "POST",
    path: "/bootstrap",
    aliases: atAll(),
    summary: "Upload the bootstrap package of a team, or of hosts without a team: a signed distribution package.",
    tier: "premium",
    access: write,
    body: multipart(
      { team_id, manual_agent_install: QueryFlag.optional().meta({ description: "the package installs the agent" }) },
      { package: file({ limit: PACKAGE_MAX }) },
    ),
    response: Empty,
  }),
  metadata: endpoint({
    method: "GET",
    path: "/bootstrap/:team_id/metadata",
    aliases: atAll("/:team_id/metadata"),
    summary: "Describe the bootstrap package of a team.",
    tier: "premium",
    access: read,
    params,
    query: z.object({
      for_update: QueryFlag.default(false).meta({ description: "only for callers who may change it" }),
    }),
    response: BootstrapPackage,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/bootstrap/:team_id",
    aliases: atAll("/:team_id"),
    summary: "Delete the bootstrap package of a team.",
    tier: "premium",
    access: write,
    params,
    response: Empty,
  }),
  download: endpoint({
    method: "GET",
    path: "/bootstrap",
    aliases: atAll(),
    summary: "Download a bootstrap package by its token.",
    tier: "premium",
    access: "none",
    query: z.object({ token: z.string().min(1).max(255) }),
    produces: "application/octet-stream",
    response: Download,
  }),
  summary: endpoint({
    method: "GET",
    path: "/bootstrap/summary",
    aliases: atAll("/summary"),
    summary: "Count the hosts of a team by the status of their bootstrap package.",
    tier: "premium",
    access: { action: "mdm:read", scope: "team" },
    query: z.object({ team_id }),
    response: BootstrapSummary,
  }),
};
