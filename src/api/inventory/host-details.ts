// Details that only the view of one host requests, and the totals of device management and Munki.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Meta, paging, QueryTeam, Timestamp } from "../fields.ts";
import { DeviceMapping } from "../hosts/host.ts";
import { Enrollment } from "../hosts/host-mdm.ts";
import { importTime } from "../software/software.ts";

const params = z.object({ id: IdParam });

export const HostHealth = z.object({
  updated_at: Timestamp.meta({ description: "when this was computed; cached for one minute" }),
  os_version: z.string(),
  disk_encryption_enabled: z.boolean().nullable(),
  failing_policies_count: z.int(),
  failing_critical_policies_count: z.int().optional().meta({ description: "premium" }),
  failing_policies: z.array(
    z.object({
      id: Id,
      name: z.string(),
      critical: z.boolean().optional().meta({ description: "premium" }),
      resolution: z.string(),
      svc_maintained: z.boolean(),
    }),
  ),
  vulnerable_software: z.array(z.object({ id: Id, name: z.string(), version: z.string() })),
});
export type HostHealth = z.infer<typeof HostHealth>;

const Solution = z.object({ id: Id, name: z.string(), server_url: z.string(), hosts_count: z.int() });
export const MdmSummary = z.object({
  counts_updated_at: Timestamp,
  mobile_device_management_enrollment_status: z.object({
    enrolled_manual_hosts_count: z.int(),
    enrolled_automated_hosts_count: z.int(),
    enrolled_personal_hosts_count: z.int(),
    unenrolled_hosts_count: z.int(),
    hosts_count: z.int().meta({ description: "all hosts, including pending ones" }),
  }),
  mobile_device_management_solution: z.array(Solution),
});
export type MdmSummary = z.infer<typeof MdmSummary>;

const MunkiIssue = z.object({ id: Id, name: z.string(), type: z.enum(["error", "warning"]) });
export const HostDesktopAdmin = z.object({
  munki: z.object({ version: z.string() }).nullable(),
  munki_issues: z.array(MunkiIssue.extend({ created_at: Timestamp })).nullable(),
  mobile_device_management: Enrollment.nullable(),
});
export type HostDesktopAdmin = z.infer<typeof HostDesktopAdmin>;
export const DesktopAdmin = z.object({
  counts_updated_at: Timestamp,
  munki_versions: z.array(z.object({ version: z.string(), hosts_count: z.int() })),
  munki_issues: z.array(MunkiIssue.extend({ hosts_count: z.int() })),
  mobile_device_management_enrollment_status: z.object({
    enrolled_manual_hosts_count: z.int(),
    enrolled_automated_hosts_count: z.int(),
    unenrolled_hosts_count: z.int(),
  }),
  mobile_device_management_solution: z.array(Solution),
});
export type DesktopAdmin = z.infer<typeof DesktopAdmin>;

const HostMapping = z.object({ host_id: Id, device_mapping: z.array(DeviceMapping) });

const CertificateName = z.object({
  country: z.string(),
  organization: z.string(),
  organizational_unit: z.string(),
  common_name: z.string(),
});
export const HostCertificate = z.object({
  id: Id.meta({ description: "unique within this host, until its certificates change" }),
  not_valid_after: Timestamp.nullable(),
  not_valid_before: Timestamp.nullable(),
  certificate_authority: z.boolean(),
  common_name: z.string(),
  key_algorithm: z.string(),
  key_strength: z.int(),
  key_usage: z.string(),
  serial: z
    .union([z.int(), z.string()])
    .meta({ description: "an integer; hexadecimal text if it exceeds 2^53, as most do" }),
  signing_algorithm: z.string(),
  subject: CertificateName,
  issuer: CertificateName,
  source: z.enum(["system", "user"]),
  username: z.string(),
});
export type HostCertificate = z.infer<typeof HostCertificate>;

export const HostConfigurationProfile = z.object({
  profile_uuid: z.string(),
  team_id: z.int(),
  name: z.string(),
  identifier: z.string().optional(),
  created_at: Timestamp,
  updated_at: Timestamp,
  checksum: z.string(),
});

const read = { action: "hosts:read", scope: "team" } as const;
const readMdm = { action: "mdm:read", scope: "team" } as const;
const unenroll = { action: "mdm:unenroll", scope: "team" } as const;

export const diskKeySources = ["agent", "device_management", "unknown"] as const;
export type DiskKeySource = (typeof diskKeySources)[number];

export const EscrowedKey = z.object({
  key: z.string(),
  escrowed_at: Timestamp,
  source: z.enum(diskKeySources).meta({ description: "who has sent it; unknown: it is older than the history" }),
});
export type EscrowedKey = z.infer<typeof EscrowedKey>;

export const hostDetailsApi = {
  health: endpoint({
    method: "GET",
    path: "/hosts/:id/health",
    summary: "Show the health of a host: failing policies and vulnerable software.",
    access: read,
    params,
    response: z.object({ host_id: Id, health: HostHealth, ...importTime }),
  }),
  mdm: endpoint({
    method: "GET",
    path: "/hosts/:id/mdm",
    summary: "Show the device-management enrollment of a host; null if it is not enrolled.",
    access: readMdm,
    params,
    response: Enrollment.nullable(),
  }),
  mdmSummary: endpoint({
    method: "GET",
    path: "/hosts/summary/mdm",
    summary: "Count hosts by their enrollment in device management, without Windows servers.",
    access: readMdm,
    query: z.object({ team_id: QueryTeam.optional(), platform: z.enum(["windows", "darwin"]).optional() }),
    response: MdmSummary,
  }),
  unenroll: endpoint({
    method: "DELETE",
    path: "/hosts/:id/mdm",
    summary: "Turn off device management for a host.",
    access: unenroll,
    params,
    status: 204,
    response: Empty,
  }),
  unenrollByPatch: endpoint({
    method: "PATCH",
    path: "/mdm/hosts/:id/unenroll",
    aliases: ["/hosts/:id/unenroll"],
    summary: "Turn off device management for a host.",
    access: unenroll,
    params,
    response: Empty,
  }),
  desktopAdmin: endpoint({
    method: "GET",
    path: "/hosts/:id/desktopadmin",
    summary: "Show the Munki and device management data of a Mac; null for other hosts.",
    access: readMdm,
    params,
    response: z.object({ desktopadmin: HostDesktopAdmin.nullable() }),
  }),
  desktopAdminSummary: endpoint({
    method: "GET",
    path: "/desktopadmin",
    summary: "Count Macs by Munki version, Munki issue and device management.",
    access: readMdm,
    query: z.object({ team_id: QueryTeam.optional() }),
    response: z.object({ desktopadmin: DesktopAdmin }),
  }),
  deviceMapping: endpoint({
    method: "GET",
    path: "/hosts/:id/device_mapping",
    summary: "List the email addresses of a host's users.",
    stability: "deprecated",
    access: read,
    params,
    response: HostMapping,
  }),
  setDeviceMapping: endpoint({
    method: "PUT",
    path: "/hosts/:id/device_mapping",
    summary: "Set the custom email address of a host's user, or its account at the identity provider.",
    access: { action: "hosts:device_mapping", scope: "team" },
    params,
    body: z.object({
      email: z.string().max(1024),
      source: z.enum(["custom", "idp"]).default("custom").meta({
        description: "idp: the user name at the identity provider (premium, global roles)",
      }),
    }),
    response: HostMapping,
  }),
  deleteIdpMapping: endpoint({
    method: "DELETE",
    path: "/hosts/:id/device_mapping/idp",
    summary: "Remove the account at the identity provider from a host.",
    tier: "premium",
    access: { action: "hosts:idp_user", scope: "global" },
    params,
    status: 204,
    response: Empty,
  }),
  deviceUrl: endpoint({
    method: "GET",
    path: "/hosts/:id/device_url",
    reveals: true,
    summary: "Get a link to the page that a host's user sees, valid for an hour; each access is recorded.",
    // On the page one can do what the host's user may do.
    access: { action: "hosts:lock", scope: "team" },
    params,
    response: z.object({ host_id: Id, device_url: z.string() }),
  }),
  certificates: endpoint({
    method: "GET",
    path: "/hosts/:id/certificates",
    summary: "List the certificates on a host.",
    access: read,
    params,
    query: paging("common_name", "not_valid_after"),
    response: z.object({ certificates: z.array(HostCertificate), meta: Meta }),
  }),
  profiles: endpoint({
    method: "GET",
    path: "/hosts/:id/configuration_profiles",
    aliases: ["/mdm/hosts/:id/profiles"],
    summary: "List the configuration profiles of a host.",
    access: { action: "profiles:read", scope: "team" },
    params,
    response: z.object({ host_id: Id, profiles: z.array(HostConfigurationProfile) }),
  }),
  encryptionKey: endpoint({
    method: "GET",
    path: "/hosts/:id/encryption_key",
    reveals: true,
    aliases: ["/mdm/hosts/:id/encryption_key"],
    summary: "Read the disk encryption key of a host; each access is recorded.",
    access: { action: "hosts:read_disk_key", scope: "team" },
    params,
    response: z.object({ host_id: Id, encryption_key: z.object({ key: z.string(), updated_at: Timestamp }) }),
  }),
  encryptionKeys: endpoint({
    method: "GET",
    path: "/hosts/:id/encryption_keys",
    reveals: true,
    summary: "Read the last disk encryption keys that a host has escrowed, newest first; each access is recorded.",
    access: { action: "hosts:read_passwords", scope: "team" },
    params,
    response: z.object({ host_id: Id, encryption_keys: z.array(EscrowedKey) }),
  }),
};
