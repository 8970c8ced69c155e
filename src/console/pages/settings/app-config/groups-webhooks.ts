import type { ConfigGroup } from "./setting-types.ts";

const digests = [
  { value: "immediately", label: "at once" },
  { value: "hourly", label: "once an hour" },
  { value: "daily", label: "once a day" },
];

export const webhooks: readonly ConfigGroup[] = [
  {
    title: "Activities",
    fields: [
      {
        path: "webhook_settings.activities_webhook.enable_activities_webhook",
        label: "Send activities",
        kind: "check",
      },
      { path: "webhook_settings.activities_webhook.destination_url", label: "URL for activities", kind: "url" },
    ],
  },
  {
    title: "Activities of hosts",
    fields: [
      {
        path: "webhook_settings.host_activities_webhook.enable_host_activities_webhook",
        label: "Send activities of all hosts",
        kind: "check",
        hint: "teams can have webhooks of their own: svc teams update TEAM --host-activities-webhook URL",
      },
      {
        path: "webhook_settings.host_activities_webhook.destination_url",
        label: "URL for activities of hosts",
        kind: "url",
      },
    ],
  },
  {
    title: "Host status",
    fields: [
      {
        path: "webhook_settings.host_status_webhook.enable_host_status_webhook",
        label: "Send when hosts are no longer seen",
        kind: "check",
      },
      { path: "webhook_settings.host_status_webhook.destination_url", label: "URL for host status", kind: "url" },
      { path: "webhook_settings.host_status_webhook.host_percentage", label: "From percent of hosts", kind: "number" },
      { path: "webhook_settings.host_status_webhook.days_count", label: "Not seen for days", kind: "number" },
    ],
  },
  {
    title: "Failing policies",
    fields: [
      {
        path: "webhook_settings.failing_policies_webhook.enable_failing_policies_webhook",
        label: "Send when hosts fail policies",
        kind: "check",
        hint: "for the policies whose automation is turned on",
      },
      {
        path: "webhook_settings.failing_policies_webhook.destination_url",
        label: "URL for failing policies",
        kind: "url",
      },
      {
        path: "webhook_settings.failing_policies_webhook.host_batch_size",
        label: "Hosts in a request about policies",
        kind: "number",
        hint: "0: all",
      },
      {
        path: "webhook_settings.failing_policies_mail.enable_failing_policies_mail",
        label: "Mail when hosts fail policies",
        kind: "check",
      },
      {
        path: "webhook_settings.failing_policies_mail.recipients",
        label: "Recipients",
        kind: "lines",
        hint: "one address on each line",
      },
      {
        path: "webhook_settings.failing_policies_mail.digest",
        label: "A recipient gets mail",
        kind: "select",
        options: digests,
      },
    ],
  },
  {
    title: "Vulnerabilities",
    fields: [
      {
        path: "webhook_settings.vulnerabilities_webhook.enable_vulnerabilities_webhook",
        label: "Send when vulnerabilities are found",
        kind: "check",
      },
      {
        path: "webhook_settings.vulnerabilities_webhook.destination_url",
        label: "URL for vulnerabilities",
        kind: "url",
      },
      {
        path: "webhook_settings.vulnerabilities_webhook.host_batch_size",
        label: "Hosts in a request about vulnerabilities",
        kind: "number",
        hint: "0: all",
      },
    ],
  },
  {
    title: "All",
    fields: [
      {
        path: "webhook_settings.interval",
        label: "How often they are sent",
        kind: "text",
        hint: "such as 24h; activities are sent at once",
      },
    ],
  },
];
