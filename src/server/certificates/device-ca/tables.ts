import { id, json, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly deviceCas: typeof deviceCas;
    readonly deviceIdentities: typeof deviceIdentities;
    readonly scepChallenges: typeof scepChallenges;
  }
}

/** What the feature that created a challenge wants to find with the identity later. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

/** The device CA: one row, created when it is first needed. */
export const deviceCas = table("device_cas", {
  id: id(),
  created_at: time(),
  /** DER in base64. */
  certificate: text(),
  /** PKCS #8, PEM. */
  key: text().secret(),
});

/** Certificates that the device CA has issued. */
export const deviceIdentities = table("device_identities", {
  id: id(),
  created_at: time(),
  /** Serial number of the certificate, in hex. */
  serial: text().unique(),
  /** SHA-256 of the certificate in hex. */
  fingerprint: text().unique(),
  /** DER in base64. */
  certificate: text(),
  subject: text(),
  not_valid_before: time(),
  not_valid_after: time().index(),
  /** From the challenge: see `scepChallenges`. */
  purpose: text(),
  platform: text().nullable(),
  team_id: ref("teams").nullable(),
  facts: json<Facts>(),
  /** Serial number of the device that uses the identity: no other can, even after its host was deleted. */
  hardware_serial: text().nullable(),
  hardware_uuid: text().nullable(),
  /** The host that uses it, as soon as one is known. */
  host_id: ref("hosts").nullable(),
  /** The serial number of the identity that this one renews. */
  renews: text().nullable(),
  revoked_at: time().nullable(),
  /** Key of the SCEP transaction that asked for it. A repeated request within a day gets the same certificate. */
  transaction_key: text().nullable().unique(),
});

/** Secrets for one SCEP enrollment each. */
export const scepChallenges = table("scep_challenges", {
  id: id(),
  created_at: time(),
  /** SHA-256 of the challenge in hex. */
  digest: text().unique(),
  /** The feature that created it. */
  purpose: text(),
  platform: text().nullable(),
  /** The team that the device joins; null: no team. */
  team_id: ref("teams").nullable().onDelete("cascade"),
  /** The host that it is for, if that is known. */
  host_id: ref("hosts").nullable().onDelete("cascade"),
  hardware_serial: text().nullable(),
  hardware_uuid: text().nullable(),
  facts: json<Facts>(),
  expires_at: time().index(),
  used_at: time().nullable(),
});
