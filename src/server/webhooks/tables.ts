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
