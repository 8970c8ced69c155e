// What servers tell each other through the store, after the commit of what it tells of. Receivers drop what they cached.
export const channels = {
  /** A section of the configuration changed; payload: the section's name. */
  config: "svc_config",
  /** Teams changed (agent options, features) or went; payload: the team's id. */
  teams: "svc_teams",
  /** Enroll secrets changed; no payload. */
  enrollSecrets: "svc_enroll_secrets",
  /** Labels changed; no payload. */
  labels: "svc_labels",
  /** Hosts were deleted, moved or asked to refetch; payload: JSON array of ids, or `*` for more than fit. */
  hosts: "svc_hosts",
  /** Software or titles that no host has were removed, or fingerprints of inventories cleared; no payload. */
  software: "svc_software",
} as const;

/** The payload of `channels.hosts`: at most 7,000 bytes. */
export const hostsPayload = (ids: readonly number[]): string => {
  const text = JSON.stringify(ids);
  return text.length <= 7000 ? text : "*";
};
