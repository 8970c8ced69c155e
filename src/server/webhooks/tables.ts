import { id, table, text, time } from "../store/table.ts";

/** How a destination's requests are signed, and the headers of its own that they carry. */
export const webhookDestinations = table("webhook_destinations", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  url: text().unique(),
  /** `whsec_` and base64 (Standard Webhooks). */
  signing_secret: text().secret(),
  /** A JSON object of header names and values. */
  headers: text().secret().nullable(),
});

/** What was told last of something that would be told again and again, such as the status of a team's hosts. */
export const webhookMarks = table("webhook_marks", {
  id: id(),
  name: text().unique(),
  at: time(),
  /** Of what was told, and to whom. */
  digest: text(),
});

/** Vulnerabilities by when they were first found on software of hosts; told of once. */
export const seenCves = table("seen_cves", {
  id: id(),
  cve: text().unique(),
  first_seen_at: time().index(),
  told_at: time().nullable(),
});
