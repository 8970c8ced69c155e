// What servers tell each other through the store, after the commit of what it tells of. Receivers drop what they cached.
export const channels = {
  /** A section of the configuration changed; payload: the section's name. */
  config: "svc_config",
  /** Teams changed (agent options, features) or went; payload: the team's id, or `*` for several. */
  teams: "svc_teams",
  /** Enroll secrets changed; no payload. */
  enrollSecrets: "svc_enroll_secrets",
  /** Labels changed; no payload. */
  labels: "svc_labels",
  /** Hosts joined or left labels, see labels/counts.ts; payload: JSON array of label ids, `*` for any, `moved` where hosts changed team. */
  labelMembers: "svc_label_members",
  /** Hosts were deleted, moved or asked to refetch; payload: JSON array of ids, or `*` for more than fit. */
  hosts: "svc_hosts",
  /** Software or titles that no host has were removed, or fingerprints of inventories cleared; no payload. */
  software: "svc_software",
  /** Munki issues that no host has were removed; no payload. */
  munki: "svc_munki",
  /** Live queries began or ended, or targets of them answered; payload: JSON, see live-queries/messages.ts. */
  live: "svc_live",
  /** Queries, packs or what they schedule changed or went; no payload. */
  queries: "svc_queries",
  /** Policies changed or went; no payload. */
  policies: "svc_policies",
  /** Rows of the outbox wait to be sent; no payload. */
  outbox: "svc_outbox",
  /** Somebody asked for a run of a job; no payload. */
  jobs: "svc_jobs",
  /** Activities were recorded, and wait to be sealed; no payload. */
  activities: "svc_activities",
  /** Activities were sealed; payload: the chain's newest position. */
  activityChain: "svc_activity_chain",
  /** Changes of policies' counts wait to be added up; no payload. */
  policyCounts: "svc_policy_counts",
} as const;

/** The payload of `channels.hosts`: at most 7,000 bytes. */
export const hostsPayload = (ids: readonly number[]): string => {
  const text = JSON.stringify(ids);
  return text.length <= 7000 ? text : "*";
};
