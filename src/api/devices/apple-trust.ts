// The push certificate, without which Apple devices cannot be managed.
import { z } from "zod";
import { multipart, optionalSmallFile, smallFile } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, QueryFlag, Timestamp } from "../fields.ts";

export const ApnsCertificate = z.object({
  common_name: z.string(),
  serial_number: z.string().meta({ description: "in decimal" }),
  issuer: z.string(),
  renew_date: Timestamp.meta({ description: "end of its validity" }),
});
export type ApnsCertificate = z.infer<typeof ApnsCertificate>;

export const UploadedCertificate = ApnsCertificate.extend({
  topic: z.string().meta({ description: "identifies this device management to devices and to the push service" }),
  devices_to_enroll_again: z
    .int()
    .meta({ description: "number of devices that are enrolled with another topic and cannot be reached any more" }),
});
export type UploadedCertificate = z.infer<typeof UploadedCertificate>;

const ExpiringCertificate = z.object({
  name: z.string(),
  not_valid_after: Timestamp,
  days_left: z.int().meta({ description: "negative after its end" }),
  soon: z.boolean().meta({ description: "whether it ends within 30 days" }),
});

export const AppleStatus = z.object({
  enabled: z.boolean().meta({ description: "whether Apple devices can be managed" }),
  push_certificate: ApnsCertificate.extend({ topic: z.string() }).nullable(),
  request_pending: z.boolean().meta({ description: "whether the newest request waits for its certificate" }),
  signs_requests: z.boolean().meta({ description: "whether requests are signed with a vendor's certificate" }),
  signs_profiles: z.boolean().meta({ description: "whether profiles are signed" }),
  server_url: z.string().meta({ description: "where devices connect to" }),
  devices_to_enroll_again: z.int().meta({
    description: "devices that were enrolled with another URL of this server, and therefore do not connect any more",
  }),
  expiring: z.array(ExpiringCertificate).meta({ description: "the ends of all certificates of device management" }),
});
export type AppleStatus = z.infer<typeof AppleStatus>;

/** Maximum size of a certificate or key file. */
const FILE_LIMIT = 256 * 1024;

const access = { action: "mdm:trust", scope: "global" } as const;
const Csr = z.object({
  csr: z.string().meta({
    description:
      "base64 of the request: a PEM file that a vendor signs, or, if the server has a vendor's certificate, the request for Apple's portal",
  }),
});

export const appleTrustApi = {
  get: endpoint({
    method: "GET",
    path: "/apns",
    aliases: ["/mdm/vendora"],
    summary: "Get the push certificate.",
    access,
    response: ApnsCertificate,
  }),
  status: endpoint({
    method: "GET",
    path: "/mdm/vendora/status",
    summary: "Show whether Apple devices can be managed, and when which certificate ends.",
    access,
    response: AppleStatus,
  }),
  request: endpoint({
    method: "GET",
    path: "/mdm/vendora/request_csr",
    summary: "Create a key and the request for a push certificate; an earlier request becomes void.",
    access,
    response: Csr,
  }),
  upload: endpoint({
    method: "POST",
    path: "/mdm/vendora/apns_certificate",
    summary: "Upload the push certificate, which turns device management of Apple devices on.",
    access,
    body: multipart(
      {
        force: QueryFlag.default(false).meta({ description: "accept a certificate with another topic" }),
      },
      { certificate: smallFile({ limit: FILE_LIMIT }), private_key: optionalSmallFile({ limit: FILE_LIMIT }) },
    ),
    response: UploadedCertificate,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/mdm/vendora/apns_certificate",
    summary: "Delete the push certificate, which turns device management of Apple devices off.",
    access,
    status: 204,
    response: Empty,
  }),
};
