// Sample payloads for test deliveries of each event.
import type { webhookEvents } from "../../../api/automations/webhook-events.ts";
import { type Policy, policyFields } from "../../../api/checks/policies.ts";
import { fallbacksOf } from "../../../api/plain-fields.ts";

type Event = (typeof webhookEvents)[number];

export function samplePayload(event: Event, now: string, serverUrl: string): Record<string, unknown> {
  const host = { id: 1, hostname: "sample.example.com", display_name: "Sample host", url: `${serverUrl}/hosts/1` };
  switch (event) {
    case "activities":
      return {
        timestamp: now,
        actor_full_name: "Sample user",
        actor_id: 1,
        actor_email: "sample@example.com",
        type: "created_team",
        details: { team_id: 1, team_name: "Sample team" },
      };
    case "host_activities":
      return {
        timestamp: now,
        actor_full_name: "Sample user",
        actor_id: 1,
        actor_email: "sample@example.com",
        type: "locked_host",
        details: { host_id: 1, host_display_name: "Sample host", view_pin: false },
      };
    case "host_status":
      return {
        text: "This is a test: 1 of 10 hosts (10%) have not been seen for 3 days.",
        data: { unseen_hosts: 1, total_hosts: 10, days_unseen: 3, host_ids: [1] },
      };
    case "failing_policies":
      return { timestamp: now, policy: samplePolicy(now), hosts: [host] };
    case "vulnerabilities":
      return {
        timestamp: now,
        vulnerability: {
          cve: "CVE-2014-9999",
          details_link: "https://nvd.nist.gov/vuln/detail/CVE-2014-9999",
          epss_probability: null,
          cvss_score: null,
          cisa_known_exploit: null,
          cve_published: null,
          hosts_affected: [{ ...host, software_installed_paths: ["/usr/lib/sample"] }],
        },
      };
  }
}

const samplePolicy = (now: string): Policy => ({
  id: 1,
  name: "Sample policy",
  query: "SELECT 1;",
  ...fallbacksOf(policyFields),
  description: "This is a test.",
  author_id: 1,
  author_name: "Sample user",
  author_email: "sample@example.com",
  team_id: null,
  resolution: "Nothing to do.",
  platform: "",
  created_at: now,
  updated_at: now,
  passing_host_count: 9,
  failing_host_count: 1,
  unanswered_host_count: 0,
  error_host_count: 0,
  error_message: null,
  host_count_updated_at: now,
});
