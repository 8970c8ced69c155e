import type { Delivery } from "../../../../api/automations/webhooks.ts";

/** What deliveries are about. */
export const eventNames: Readonly<Record<Delivery["event"], string>> = {
  activities: "Activities",
  host_activities: "Activities of hosts",
  host_status: "Host status",
  failing_policies: "Failing policies",
  vulnerabilities: "Vulnerabilities",
  calendar_event: "Calendar event",
  mdm_migration: "Migration of a Mac",
  test: "Sample",
};

export const stateNames: Readonly<Record<Delivery["state"], string>> = {
  pending: "pending",
  delivered: "delivered",
  dead: "given up",
};

export const kindNames: Readonly<Record<Delivery["kind"], string>> = {
  webhook: "Webhook",
  ticket: "Ticket",
  mail: "Mail",
};

export const optionsOf = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));
