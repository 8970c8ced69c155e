// Disk encryption of hosts: the settings of teams, and how far their hosts are.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, QueryTeam } from "../fields.ts";

const Counts = z.object({ macos: z.int(), windows: z.int(), linux: z.int() });
export const DiskEncryptionSummary = z.object({
  verified: Counts,
  verifying: Counts,
  action_required: Counts,
  enforcing: Counts,
  failed: Counts,
  removing_enforcement: Counts,
});
export type DiskEncryptionSummary = z.infer<typeof DiskEncryptionSummary>;

const body = z.object({
  team_id: z.int().min(0).nullish().meta({ description: "0, or absent: hosts without a team" }),
  enable_disk_encryption: z
    .boolean()
    .optional()
    .meta({ description: "on all platforms but those that the request sets on their own" }),
  windows_require_bitlocker_pin: z
    .boolean()
    .optional()
    .meta({ description: "only with encryption of Windows hosts; their users have to set a PIN" }),
  macos_settings: z
    .object({
      enable_disk_encryption: z.boolean().optional(),
      enable_escrow_disk_encryption_key: z
        .boolean()
        .optional()
        .meta({ description: "equals enable_disk_encryption: Macs are encrypted and send their key, or neither" }),
    })
    .optional(),
  windows_settings: z
    .object({ enable_disk_encryption: z.boolean().optional(), require_bitlocker_pin: z.boolean().optional() })
    .optional(),
  linux_settings: z.object({ enable_escrow_disk_encryption_key: z.boolean().optional() }).optional(),
});
export type DiskEncryptionSettings = z.output<typeof body>;

const change = {
  summary: "Turn disk encryption on or off for a team's hosts, or for hosts without a team.",
  tier: "premium",
  access: { action: "setup:write", scope: "team" },
  body,
  status: 204,
  response: Empty,
} as const;

export const diskEncryptionApi = {
  change: endpoint({ method: "POST", path: "/disk_encryption", ...change }),
  changeByPatch: endpoint({ method: "PATCH", path: "/mdm/vendora/settings", ...change }),
  summary: endpoint({
    method: "GET",
    path: "/mdm/disk_encryption/summary",
    aliases: ["/disk_encryption", "/mdm/vendora/filevault/summary"],
    summary: "Count hosts by the state of their disk encryption.",
    tier: "premium",
    access: { action: "mdm:read", scope: "team" },
    query: z.object({ team_id: QueryTeam.optional() }),
    response: DiskEncryptionSummary,
  }),
};
