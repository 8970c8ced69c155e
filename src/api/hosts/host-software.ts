import { z } from "zod";
import { Id, Timestamp } from "../fields.ts";

/** Details of a vulnerability beyond its id are premium, and null if no source provides them. */
export const Vulnerability = z.object({
  cve: z.string(),
  details_link: z.string(),
  cvss_score: z.number().nullable().optional(),
  epss_probability: z.number().nullable().optional(),
  cisa_known_exploit: z.boolean().nullable().optional(),
  cve_published: Timestamp.nullable().optional(),
  cve_description: z.string().nullable().optional(),
  resolved_in_version: z.string().nullable().optional(),
  created_at: Timestamp.optional().meta({ description: "when it was first found; only with a single version" }),
});
export type Vulnerability = z.infer<typeof Vulnerability>;
export const Signature = z.object({
  installed_path: z.string(),
  team_identifier: z.string(),
  hash_sha256: z.string().nullable(),
});

/** One software version as listed in a host. */
export const HostSoftwareEntry = z.object({
  id: Id,
  name: z.string(),
  version: z.string(),
  source: z.string(),
  browser: z.string().meta({ deprecated: true }),
  extension_for: z.string(),
  bundle_identifier: z.string().optional(),
  upgrade_code: z.string().optional(),
  last_opened_at: Timestamp.nullable().optional(),
  generated_cpe: z.string(),
  vulnerabilities: z.array(z.union([Vulnerability, z.string()])).nullable(),
  installed_paths: z.array(z.string()),
  signature_information: z.array(Signature).optional(),
});
export type HostSoftwareEntry = z.infer<typeof HostSoftwareEntry>;
