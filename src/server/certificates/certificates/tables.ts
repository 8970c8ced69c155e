import { id, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly certificateTemplates: typeof certificateTemplates;
    readonly hostCertificates: typeof hostCertificates;
  }
}

export const certificateTemplates = table(
  "certificate_templates",
  {
    id: id(),
    created_at: time(),
    updated_at: time(),
    name: text(),
    /** Null: hosts without a team. */
    team_id: ref("teams").nullable().onDelete("cascade"),
    certificate_authority_id: ref("certificate_authorities").onDelete("restrict"),
    subject_name: text(),
    /** DNS=name, EMAIL=address; empty: none. */
    subject_alternative_name: text().default(""),
  },
  { unique: [["team_id", "name"]] },
);

/** The status of a template on a host. */
export const hostCertificates = table(
  "host_certificates",
  {
    id: id(),
    host_id: ref("hosts"),
    template_id: ref("certificate_templates"),
    status: text<"pending" | "delivering" | "delivered" | "verified" | "failed">(),
    detail: text().nullable(),
    /** SHA-256 (hex) of the challenge that this server's SCEP proxy accepts once, and its expiry time. */
    challenge_hash: text().nullable(),
    challenge_until: time().nullable(),
    /** Serial number of the installed certificate, as its agent has reported it. */
    serial: text().nullable(),
    not_valid_after: time().nullable(),
    /** When the agent has to replace it; null: not known, or it is being replaced. */
    renew_at: time().nullable().index(),
    /** When the agent was last asked to replace it. */
    renewal_at: time().nullable(),
    updated_at: time(),
  },
  { unique: [["host_id", "template_id"]] },
);
