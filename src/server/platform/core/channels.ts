// Channels on which servers notify each other after a commit. Receivers drop what they have cached.
export const channels = {
  /** A section of the configuration changed; payload: the section's name. */
  config: "svc_config",
  /** Teams were changed (agent options, features) or deleted; payload: the team's id, or `*` for several. */
  teams: "svc_teams",
  /** Enroll secrets changed; no payload. */
  enrollSecrets: "svc_enroll_secrets",
  /** Labels changed; no payload. */
  labels: "svc_labels",
  /**
   * Hosts joined or left labels, see labels/counts.ts; payload: JSON array of label ids, `*` for any, or `moved` if
   * hosts changed teams.
   */
  labelMembers: "svc_label_members",
  /** Hosts were deleted, moved or asked to refetch; payload: JSON array of ids, or `*` if they do not fit. */
  hosts: "svc_hosts",
  /** The people who use hosts, or what is known of them, changed; payload: as of `hosts`. */
  endUsers: "svc_end_users",
  /** Software or titles that are on no host were removed, or inventory fingerprints were cleared; no payload. */
  software: "svc_software",
  /** Changes of software counts are waiting to be added up; no payload. */
  softwareCounts: "svc_software_counts",
  /** Changes of counts of vulnerabilities are waiting to be added up, or all hosts are to be counted; no payload. */
  vulnerabilityCounts: "svc_vulnerability_counts",
  /** Munki issues that are on no host were removed; no payload. */
  munki: "svc_munki",
  /** Live queries started or ended, or hosts sent results; payload: JSON, see live-queries/messages.ts. */
  live: "svc_live",
  /** Queries, packs or their schedules were changed or deleted; no payload. */
  queries: "svc_queries",
  /** Batch runs of scripts were started, or hosts have answered; no payload. */
  scriptBatches: "svc_script_batches",
  /** Policies were changed or deleted; no payload. */
  policies: "svc_policies",
  /**
   * Sessions, roles or users changed, so the streams of these users may have to end; payload: JSON array of ids, or
   * `*`.
   */
  sessions: "svc_sessions",
  /** The outbox has new rows to send; no payload. */
  outbox: "svc_outbox",
  /** A run of a job was requested; no payload. */
  jobs: "svc_jobs",
  /** A task was created that no server runs yet; no payload. */
  tasks: "svc_tasks",
  /** Steps of installations of store apps are due; no payload. */
  storeApps: "svc_store_apps",
  /** Activities were recorded and must be added to the hash chain; no payload. */
  activities: "svc_activities",
  /** Activities were added to the hash chain; payload: the chain's newest position. */
  activityChain: "svc_activity_chain",
  /** Profiles of hosts must be compared; payload: JSON, see devices/profiles/reconcile.ts. */
  profiles: "svc_profiles",
  /** Policies of Android devices are to be sent; no payload. */
  androidPolicies: "svc_android_policies",
  /** Certificate templates were changed or deleted; no payload. */
  certificateTemplates: "svc_certificate_templates",
  /** Commands of Android devices are to be sent; no payload. */
  androidCommands: "svc_android_commands",
  /** The states of hosts' disks are to be compared: Macs may have to be asked for their keys; no payload. */
  diskKeys: "svc_disk_keys",
  /** Pushes to Apple devices were requested; no payload. */
  applePushes: "svc_apple_pushes",
  /** Macs have enrolled, which may need a recovery lock; no payload. */
  recoveryLocks: "svc_recovery_locks",
  /** Hosts may need other names than they have; no payload. */
  hostNames: "svc_host_names",
  /** Identities of devices were bound or revoked; payload: the fingerprint of one, or `*`. */
  deviceIdentities: "svc_device_identities",
  /** Hosts have newly failed policies that install software or run scripts; no payload. */
  policyInstalls: "svc_policy_installs",
  /** Hosts have changed results of policies that conditional access is turned on for, or their device; no payload. */
  directoryDevices: "svc_directory_devices",
  /** An agent of a Windows host has enrolled for the first time; no payload. */
  windowsHosts: "svc_windows_hosts",
  /** Changes of policy counts are waiting to be added up; no payload. */
  policyCounts: "svc_policy_counts",
} as const;

/** Payloads for `channels.labelMembers`. */
export const ALL_MEMBERS = "*";
export const HOSTS_MOVED = "moved";

/** The payload for `channels.hosts`: at most 7,000 bytes. */
export const hostsPayload = (ids: readonly number[]): string => {
  const text = JSON.stringify(ids);
  return text.length <= 7000 ? text : "*";
};
