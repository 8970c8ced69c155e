import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, QueryFlag } from "../fields.ts";

/** The name of each type is also the key of the object with its fields. */
export const caTypes = [
  "hosted_ca_a",
  "directory_scep_proxy",
  "custom_scep_proxy",
  "custom_est_proxy",
  "hosted_est_ca",
  "hosted_scep_ca",
] as const;
export type CaType = (typeof caTypes)[number];

/** Types of which there is at most one authority, whose name is the type. */
const singleCaTypes = ["directory_scep_proxy", "hosted_scep_ca"] as const satisfies readonly CaType[];
type SingleCaType = (typeof singleCaTypes)[number];
export const isSingle = (type: CaType): type is SingleCaType => (singleCaTypes as readonly CaType[]).includes(type);

const name = z
  .string()
  .min(1, "must not be empty")
  .max(255)
  .regex(/^[A-Za-z0-9_]+$/, "may contain only letters, numbers and underscores");
/** Rejects characters that have a special meaning for the store or a protocol. */
const plain = (most: number) =>
  z
    .string()
    .min(1, "must not be empty")
    .max(most)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, "must not contain control characters");
const text = plain(1024);
const url = plain(2048);
const secret = plain(4096);
/** For a secret that is sent in a header. */
const headerSecret = secret.regex(/^[\x21-\x7e]*$/, "must be printable ASCII without spaces");

const allowHostname = {
  allow_hostname: z.boolean().optional().meta({
    description: "hosts may request certificates for the hostname that they report, also as DNS name; default: false",
  }),
};

/** The fields of each type in requests. */
export const caFields = {
  hosted_ca_a: {
    name,
    url: url.meta({ description: "base URL of the hosted service" }),
    api_token: headerSecret,
    profile_id: text,
    certificate_common_name: text.meta({ description: "may contain $SVC_VAR_ variables" }),
    certificate_user_principal_names: z
      .array(text)
      .max(1, "at most one is possible")
      .optional()
      .meta({ description: "may contain $SVC_VAR_ variables" }),
    certificate_seat_id: text.meta({ description: "may contain $SVC_VAR_ variables" }),
  },
  directory_scep_proxy: { url, admin_url: url, username: text, password: secret },
  custom_scep_proxy: { name, url, challenge: secret },
  custom_est_proxy: { name, url, username: text, password: secret, ...allowHostname },
  hosted_est_ca: { name, url, client_id: text, client_secret: secret, ...allowHostname },
  hosted_scep_ca: { url, challenge_url: url, username: text, password: secret },
} as const satisfies Record<CaType, z.ZodRawShape>;

/** The secret field of each type. */
export const secretFields = {
  hosted_ca_a: "api_token",
  directory_scep_proxy: "password",
  custom_scep_proxy: "challenge",
  custom_est_proxy: "password",
  hosted_est_ca: "client_secret",
  hosted_scep_ca: "password",
} as const satisfies Record<CaType, string>;

/** The fields of each type that contain URLs to which the secret is sent. */
export const urlFields = {
  hosted_ca_a: ["url"],
  directory_scep_proxy: ["url", "admin_url"],
  custom_scep_proxy: ["url"],
  custom_est_proxy: ["url"],
  hosted_est_ca: ["url"],
  hosted_scep_ca: ["url", "challenge_url"],
} as const satisfies Record<CaType, readonly string[]>;

const whole = {
  hosted_ca_a: z.strictObject(caFields.hosted_ca_a),
  directory_scep_proxy: z.strictObject(caFields.directory_scep_proxy),
  custom_scep_proxy: z.strictObject(caFields.custom_scep_proxy),
  custom_est_proxy: z.strictObject(caFields.custom_est_proxy),
  hosted_est_ca: z.strictObject(caFields.hosted_est_ca),
  hosted_scep_ca: z.strictObject(caFields.hosted_scep_ca),
};

export const CreateCa = z
  .strictObject({
    hosted_ca_a: whole.hosted_ca_a.nullish(),
    directory_scep_proxy: whole.directory_scep_proxy.nullish(),
    custom_scep_proxy: whole.custom_scep_proxy.nullish(),
    custom_est_proxy: whole.custom_est_proxy.nullish(),
    hosted_est_ca: whole.hosted_est_ca.nullish(),
    hosted_scep_ca: whole.hosted_scep_ca.nullish(),
  })
  .meta({ description: "exactly one of the objects; null counts as absent" });
export type CreateCa = z.output<typeof CreateCa>;

export const ChangeCa = z
  .strictObject({
    hosted_ca_a: whole.hosted_ca_a.partial().nullish(),
    directory_scep_proxy: whole.directory_scep_proxy.partial().nullish(),
    custom_scep_proxy: whole.custom_scep_proxy.partial().nullish(),
    custom_est_proxy: whole.custom_est_proxy.partial().nullish(),
    hosted_est_ca: whole.hosted_est_ca.partial().nullish(),
    hosted_scep_ca: whole.hosted_scep_ca.partial().nullish(),
  })
  .meta({ description: "the object of the authority's type, with the fields to change" });
export type ChangeCa = z.output<typeof ChangeCa>;

export const CaItem = z.object({ id: Id, name: z.string(), type: z.enum(caTypes) });
export type CaItem = z.infer<typeof CaItem>;

/** A stored authority; secrets are masked. */
export const Ca = CaItem.extend({
  url: z.string(),
  api_token: z.string().optional(),
  profile_id: z.string().optional(),
  certificate_common_name: z.string().optional(),
  certificate_user_principal_names: z.array(z.string()).optional(),
  certificate_seat_id: z.string().optional(),
  admin_url: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  challenge: z.string().optional(),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  challenge_url: z.string().optional(),
  allow_hostname: z.boolean().optional(),
});
export type Ca = z.infer<typeof Ca>;

const SPECS_MAX = 1_000;
/** A name may be given, as in exported files, but it must equal the type. */
const single = <T extends z.ZodRawShape>(fields: T, type: SingleCaType) =>
  z.strictObject({ ...fields, name: z.literal(type, `the name must be ${type}`).optional() });
const specList = <T extends z.ZodType>(schema: T) => z.array(schema).max(SPECS_MAX).nullish();

/** Authorities grouped by type. */
export const CaSpecs = z.strictObject({
  hosted_ca_a: specList(whole.hosted_ca_a),
  directory_scep_proxy: single(caFields.directory_scep_proxy, "directory_scep_proxy").nullish(),
  custom_scep_proxy: specList(whole.custom_scep_proxy),
  custom_est_proxy: specList(whole.custom_est_proxy),
  hosted_est_ca: specList(whole.hosted_est_ca),
  hosted_scep_ca: z.array(single(caFields.hosted_scep_ca, "hosted_scep_ca")).max(1, "at most one is allowed").nullish(),
});
export type CaSpecs = z.output<typeof CaSpecs>;

const group = z.array(Ca.omit({ id: true, type: true }));
export const CaGroups = z.object({
  hosted_ca_a: group,
  directory_scep_proxy: Ca.omit({ id: true, type: true }).nullable(),
  custom_scep_proxy: group,
  custom_est_proxy: group,
  hosted_est_ca: group,
  hosted_scep_ca: group,
});
export type CaGroups = z.infer<typeof CaGroups>;

export const CertificateRequest = z.object({
  csr: z.string().min(1, "must not be empty").max(65_536).meta({ description: "signed request, PEM" }),
  idp_oauth_url: z.string().max(2048).optional().meta({ description: "token introspection (RFC 7662)" }),
  idp_token: z.string().max(16_384).optional().meta({ description: "token of the end user; needs idp_oauth_url" }),
  idp_client_id: z.string().max(1024).optional().meta({ description: "needs idp_oauth_url" }),
  return_pem_certificate: z
    .boolean()
    .optional()
    .meta({ description: "return only the certificate, not the PKCS #7 message of the authority" }),
});
export type CertificateRequest = z.output<typeof CertificateRequest>;

const params = z.object({ id: IdParam });
const read = { action: "ca:read", scope: "global" } as const;
const write = { action: "ca:write", scope: "global" } as const;
const skip = {
  skip_check: QueryFlag.default(false).meta({ description: "do not test the settings with the authority" }),
};

export const caApi = {
  create: endpoint({
    method: "POST",
    path: "/certificate_authorities",
    summary: "Add a certificate authority, after testing the settings with it.",
    access: write,
    query: z.object(skip),
    body: CreateCa,
    response: CaItem,
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/certificate_authorities/:id",
    summary: "Change a certificate authority. A new URL requires the secret again.",
    stability: "experimental",
    access: write,
    params,
    query: z.object(skip),
    body: ChangeCa,
    response: Empty,
  }),
  list: endpoint({
    method: "GET",
    path: "/certificate_authorities",
    summary: "List certificate authorities, by name.",
    stability: "experimental",
    access: read,
    response: z.object({ certificate_authorities: z.array(CaItem) }),
  }),
  get: endpoint({
    method: "GET",
    path: "/certificate_authorities/:id",
    summary: "Get a certificate authority; its secret is masked.",
    stability: "experimental",
    access: read,
    params,
    response: Ca,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/certificate_authorities/:id",
    summary: "Delete a certificate authority. Certificates that it issued stay on hosts.",
    access: write,
    params,
    status: 204,
    response: Empty,
  }),
  requestCertificate: endpoint({
    method: "POST",
    path: "/certificate_authorities/:id/request_certificate",
    dryRun: "the certificate authority would issue a certificate",
    summary:
      "Request a certificate from a hosted_est_ca or custom_est_proxy authority. A host may sign the request instead of sending a token; it gets certificates only for itself and its users.",
    access: { action: "ca:request_certificate", scope: "global", hostSignature: true },
    params,
    body: CertificateRequest,
    response: z.object({ certificate: z.string() }),
  }),
  specs: endpoint({
    method: "GET",
    path: "/spec/certificate_authorities",
    summary: "Get certificate authorities in the format of POST /spec/certificate_authorities; secrets are masked.",
    access: read,
    response: z.object({ certificate_authorities: CaGroups }),
  }),
  applySpecs: endpoint({
    method: "POST",
    path: "/spec/certificate_authorities",
    summary: "Create or change certificate authorities by name in one transaction.",
    access: write,
    query: z.object({ ...skip, dry_run: QueryFlag.default(false) }),
    body: z.object({ certificate_authorities: CaSpecs, dry_run: z.boolean().optional() }),
    response: Empty,
  }),
};
