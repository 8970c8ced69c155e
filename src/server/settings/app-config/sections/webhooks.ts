import { isEmail, NOT_AN_EMAIL } from "../../../../api/fields.ts";
import {
  type FailingPoliciesMail,
  type HostActivitiesWebhook,
  type SmtpSettings,
  type WebhookSettings,
  WebhookSettings as WebhookSettingsSchema,
} from "../../../../api/settings/app-config.ts";
import { isHttpUrl } from "../../../../text/urls.ts";
import { days, seconds } from "../../../platform/core/clock.ts";
import { readDuration } from "../../../platform/core/duration.ts";
import type { FieldError } from "../../../platform/core/errors.ts";
import { checkDestination, hasCredentials } from "../../../platform/core/outbound/fetch.ts";
import { isUsable } from "../../../platform/mail/mail.ts";
import { section } from "../section.ts";
import { under } from "./rules.ts";

export const noFailingPoliciesWebhook = {
  enable_failing_policies_webhook: false,
  destination_url: "",
  policy_ids: [],
  host_batch_size: 0,
};
export const noFailingPoliciesMail: FailingPoliciesMail = {
  enable_failing_policies_mail: false,
  recipients: [],
  digest: "daily",
};
export const noHostStatusWebhook = {
  enable_host_status_webhook: false,
  destination_url: "",
  host_percentage: 0,
  days_count: 0,
};
export const noHostActivitiesWebhook: HostActivitiesWebhook = {
  enable_host_activities_webhook: false,
  destination_url: "",
};

/** A webhook that is enabled needs a destination. */
function destinationProblem(url: string, on: boolean): FieldError[] {
  const name = "destination_url";
  if (url === "") return on ? [{ name, reason: "is required to enable the webhook" }] : [];
  const reason = isHttpUrl(url) ? checkDestination(url) : "must be an http or https URL";
  if (reason !== null) return [{ name, reason }];
  const open =
    "must not contain a user name or password, which everyone who can read the settings would see: use a header instead";
  return hasCredentials(url) ? [{ name, reason: open }] : [];
}

export const failingPoliciesProblems = (hook: WebhookSettings["failing_policies_webhook"]): FieldError[] =>
  destinationProblem(hook.destination_url, hook.enable_failing_policies_webhook);

const ENABLES_MAIL = "enable_failing_policies_mail";

export function failingPoliciesMailProblems({ recipients, ...mail }: FailingPoliciesMail): FieldError[] {
  const addresses = new Set<string>();
  const errors = recipients.flatMap((address, i): FieldError[] => {
    const name = `recipients.${i}`;
    if (!isEmail(address)) return [{ name, reason: NOT_AN_EMAIL }];
    if (addresses.has(address.toLowerCase())) return [{ name, reason: "is listed twice" }];
    addresses.add(address.toLowerCase());
    return [];
  });
  return mail.enable_failing_policies_mail && recipients.length === 0
    ? [...errors, { name: "recipients", reason: "needs at least one address to enable the mail" }]
    : errors;
}

/** Mails need a mail server, which only the organization's settings have. */
export const mailServerProblems = (mail: FailingPoliciesMail, smtp: SmtpSettings): FieldError[] =>
  mail.enable_failing_policies_mail && !(smtp.enable_smtp && isUsable(smtp))
    ? [{ name: ENABLES_MAIL, reason: "needs a mail server: set smtp_settings of the global configuration first" }]
    : [];

export function hostStatusProblems(hook: WebhookSettings["host_status_webhook"]): FieldError[] {
  const errors = destinationProblem(hook.destination_url, hook.enable_host_status_webhook);
  if (hook.enable_host_status_webhook)
    for (const name of ["host_percentage", "days_count"] as const)
      if (hook[name] === 0) errors.push({ name, reason: "must be greater than 0 to enable the webhook" });
  return errors;
}

export const hostActivitiesProblems = (hook: HostActivitiesWebhook): FieldError[] =>
  destinationProblem(hook.destination_url, hook.enable_host_activities_webhook);

export const webhookSettings = section({
  name: "webhook_settings",
  schema: WebhookSettingsSchema,
  defaults: {
    interval: "24h",
    host_status_webhook: noHostStatusWebhook,
    failing_policies_webhook: noFailingPoliciesWebhook,
    failing_policies_mail: noFailingPoliciesMail,
    vulnerabilities_webhook: { enable_vulnerabilities_webhook: false, destination_url: "", host_batch_size: 0 },
    activities_webhook: { enable_activities_webhook: false, destination_url: "" },
    host_activities_webhook: noHostActivitiesWebhook,
  },
  outbound: ["*.destination_url"],
  check({ interval, host_status_webhook, failing_policies_webhook, failing_policies_mail, ...others }) {
    const { vulnerabilities_webhook, activities_webhook, host_activities_webhook } = others;
    const vulnerabilities = vulnerabilities_webhook.enable_vulnerabilities_webhook;
    const activities = activities_webhook.enable_activities_webhook;
    return [
      ...intervalProblem(interval),
      ...under("host_status_webhook", hostStatusProblems(host_status_webhook)),
      ...under("failing_policies_webhook", failingPoliciesProblems(failing_policies_webhook)),
      ...under("failing_policies_mail", failingPoliciesMailProblems(failing_policies_mail)),
      ...under("vulnerabilities_webhook", destinationProblem(vulnerabilities_webhook.destination_url, vulnerabilities)),
      ...under("activities_webhook", destinationProblem(activities_webhook.destination_url, activities)),
      ...under("host_activities_webhook", hostActivitiesProblems(host_activities_webhook)),
    ];
  },
});

function intervalProblem(interval: string): FieldError[] {
  const milliseconds = readDuration(interval);
  if (milliseconds === null) return [{ name: "interval", reason: "must be a duration such as 30m or 24h" }];
  if (milliseconds >= seconds(1) && milliseconds <= days(366)) return [];
  return [{ name: "interval", reason: "must be from one second to one year" }];
}
