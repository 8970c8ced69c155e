/** The events that webhooks report, of which samples can be sent. No zod: the console imports it. */
export const webhookEvents = [
  "activities",
  "host_activities",
  "host_status",
  "failing_policies",
  "vulnerabilities",
] as const;
