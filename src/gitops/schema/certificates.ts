// Certificate templates as they stand in controls.
import { z } from "zod";
import { SUBJECT_MAX, TEMPLATES_MAX } from "../../api/certificates/certificates.ts";
import { name } from "./fields.ts";

const CertificateFile = z.strictObject({
  name,
  certificate_authority_name: name.meta({ description: "of a custom_scep_proxy" }),
  subject_name: z.string().trim().min(1, { error: "must not be empty" }).max(SUBJECT_MAX),
  subject_alternative_name: z
    .string()
    .trim()
    .max(SUBJECT_MAX)
    .nullish()
    .meta({ description: "pairs of DNS, EMAIL, UPN, IP and URI as DNS=value, EMAIL=value" }),
});
export type CertificateFile = z.output<typeof CertificateFile>;

export const CertificateFiles = z.array(CertificateFile).max(TEMPLATES_MAX).nullish();
