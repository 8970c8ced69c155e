import { id, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly applePushRequests: typeof applePushRequests;
    readonly applePushCertificates: typeof applePushCertificates;
  }
}

/** The newest request for a push certificate: one row, until its certificate is uploaded. */
export const applePushRequests = table("apple_push_requests", {
  id: id(),
  created_at: time(),
  /** PKCS #8, PEM. */
  key: text().secret(),
});

/** The push certificate: one row while device management of Apple devices is turned on. */
export const applePushCertificates = table("apple_push_certificates", {
  id: id(),
  created_at: time(),
  /** PEM, followed by its chain if that was uploaded. */
  certificate: text(),
  /** PKCS #8, PEM. */
  key: text().secret(),
  /** SHA-256 of the certificate in hex. */
  fingerprint: text(),
  topic: text(),
  common_name: text(),
  /** In decimal. */
  serial_number: text(),
  issuer: text(),
  not_valid_before: time(),
  not_valid_after: time(),
});
