import { z } from "zod";
import { type AnyEndpoint, endpoint, OF_AGENTS } from "../endpoint.ts";
import { Empty, Id, IdParam, isOneLine, Meta, NOT_ONE_LINE, paging, QueryId, QueryTeam, Timestamp } from "../fields.ts";
import { caTypes } from "./ca.ts";

/** State of a template's certificate on a host. */
const certificateStatuses = ["pending", "delivering", "delivered", "verified", "failed"] as const;

export const CertificateTemplate = z.object({
  id: Id,
  name: z.string(),
  certificate_authority_id: Id,
  certificate_authority_name: z.string(),
  subject_name: z.string(),
  subject_alternative_name: z.string().meta({ description: "empty: none" }),
  created_at: Timestamp,
});
export type CertificateTemplate = z.infer<typeof CertificateTemplate>;

export const WholeTemplate = CertificateTemplate.extend({
  certificate_authority_type: z.enum(caTypes),
  team_id: Id.nullable(),
  status: z
    .enum(certificateStatuses)
    .nullable()
    .meta({ description: "status on the host; null if no host was requested" }),
  scep_challenge: z.string().nullable().meta({ description: "masked, except for the host's own agent" }),
  svc_challenge: z
    .string()
    .nullable()
    .meta({ description: "one-time challenge for this server's SCEP proxy; only for the host's own agent" }),
});
export type WholeTemplate = z.infer<typeof WholeTemplate>;

export const TEMPLATE_NAME_MAX = 255;
export const SUBJECT_MAX = 1024;
/** In one request. */
export const TEMPLATES_MAX = 1_000;
const Name = z.string().min(1, "must not be empty").max(TEMPLATE_NAME_MAX).refine(isOneLine, { error: NOT_ONE_LINE });
const SubjectName = z
  .string()
  .min(1, "must not be empty")
  .max(SUBJECT_MAX)
  .meta({ description: "fields as /CN=value/O=value; may contain $SVC_VAR_ variables" });
const AlternativeName = z.string().max(SUBJECT_MAX).optional().meta({
  description: "pairs of DNS, EMAIL, UPN, IP and URI as DNS=value, EMAIL=value; may contain $SVC_VAR_ variables",
});
/** Accepts a number or its text. 0 means no team. */
const Team = z
  .union([
    z.int().min(0),
    z
      .string()
      .regex(/^\d{1,15}$/, "must be a team's id")
      .transform(Number),
  ])
  .nullish()
  .meta({ type: "integer", description: "premium; 0 or null: hosts without a team" });

export const CreateTemplate = z.object({
  name: Name,
  team_id: Team,
  certificate_authority_id: Id.meta({ description: "a custom_scep_proxy" }),
  subject_name: SubjectName,
  subject_alternative_name: AlternativeName,
});
export type CreateTemplate = z.output<typeof CreateTemplate>;

export const TemplateSpec = z.strictObject({
  name: Name,
  team: z.string().max(255).nullish().meta({ description: "name of the team; none: hosts without a team" }),
  certificate_authority_id: Id,
  subject_name: SubjectName,
  subject_alternative_name: AlternativeName,
});
export type TemplateSpec = z.output<typeof TemplateSpec>;

const params = z.object({ id: IdParam });
const read = { action: "certificates:read", scope: "team", nodeKey: true } as const;
const write = { action: "certificates:write", scope: "team" } as const;

export const certificatesApi = {
  create: endpoint({
    method: "POST",
    path: "/certificates",
    summary: "Create a certificate template, for the Android hosts of a team.",
    access: write,
    body: CreateTemplate,
    response: CertificateTemplate.pick({ id: true, name: true, certificate_authority_id: true, subject_name: true }),
  }),
  list: endpoint({
    method: "GET",
    path: "/certificates",
    summary: "List the certificate templates of a team, or those without one. With a host's node key: the host's own.",
    access: read,
    query: paging("id", "name", "created_at").extend({ team: QueryTeam.optional(), team_id: QueryTeam.optional() }),
    response: z.object({ certificates: z.array(CertificateTemplate), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/certificates/:id",
    summary: "Get a certificate template; for a host, with its values.",
    access: read,
    params,
    query: z.object({ host_id: QueryId.optional().meta({ description: "fill variables with this host's values" }) }),
    response: z.object({ certificate: WholeTemplate }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/certificates/:id",
    summary: "Delete a certificate template.",
    access: write,
    params,
    response: Empty,
  }),
  applySpecs: endpoint({
    method: "POST",
    path: "/spec/certificates",
    summary: "Create or change certificate templates by team and name in one transaction.",
    access: write,
    tier: "premium",
    body: z.object({ specs: z.array(TemplateSpec).max(TEMPLATES_MAX) }),
    response: Empty,
  }),
  deleteSpecs: endpoint({
    method: "DELETE",
    path: "/spec/certificates",
    summary: "Delete certificate templates of a team in one transaction.",
    access: write,
    tier: "premium",
    body: z.object({ ids: z.array(Id).max(TEMPLATES_MAX), team_id: Team }),
    response: Empty,
  }),
};

/**
 * Endpoints for the Android agent, which authenticates with its host's key. Like those of managed agents, they are
 * not in the table of endpoints.
 */
export const certificateAgentApi = {
  get: endpoint({
    method: "GET",
    path: "/svcd/certificates/:id",
    root: true,
    summary: "Get a certificate template with this host's values.",
    access: "none",
    params,
    response: z.object({ certificate: WholeTemplate }),
  }),
  status: endpoint({
    method: "PUT",
    path: "/svcd/certificates/:id/status",
    dryRun: OF_AGENTS,
    root: true,
    summary: "Report the result of a certificate installation.",
    access: "none",
    params,
    body: z.object({
      status: z.enum(["verified", "failed"], "must be verified or failed"),
      detail: z.string().max(10_000).nullish(),
      serial: z.string().max(128).nullish().meta({ description: "of the installed certificate" }),
      not_valid_before: z.iso.datetime({ offset: true }).max(64).nullish(),
      not_valid_after: z.iso
        .datetime({ offset: true })
        .max(64)
        .nullish()
        .meta({ description: "when the installed certificate ends: the server lets the agent replace it before" }),
    }),
    response: Empty,
  }),
} satisfies Record<string, AnyEndpoint>;
