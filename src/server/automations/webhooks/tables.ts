import { id, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly webhookDestinations: typeof webhookDestinations;
    readonly webhookMarks: typeof webhookMarks;
    readonly seenCves: typeof seenCves;
  }
}

/** The signing secret and custom headers of a webhook URL. */
export const webhookDestinations = table("webhook_destinations", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  url: text().unique(),
  /** `whsec_` followed by base64 (Standard Webhooks). */
  signing_secret: text().secret(),
  /** A JSON object of header names and values. */
  headers: text().secret().nullable(),
});

/** The last report of a kind that would otherwise be repeated, such as the host status of a team. */
export const webhookMarks = table("webhook_marks", {
  id: id(),
  name: text().unique(),
  at: time(),
  /** Hash of the report and its recipient. */
  digest: text(),
});

/** Vulnerabilities found on hosts' software, with the time of the first finding. Each is reported once. */
export const seenCves = table("seen_cves", {
  id: id(),
  cve: text().unique(),
  first_seen_at: time().index(),
  told_at: time().nullable(),
});
