// The locks of transactions. Transactions with the same lock run one after the other, on all servers.

/**
 * Locks in the order in which a transaction takes several of them, so that no two transactions wait for each other:
 * what many features share, then each feature's own. The first setup holds "users" and takes "config", a change of
 * integrations holds "config" and takes "enroll_secrets", an apply takes all. What has no place here (`otherLocks`) is
 * held alone, or together with locks of one thing, which come after it.
 */
export const lockOrder = [
  "users",
  "config",
  "enroll_secrets",
  "teams",
  "certificate authorities",
  "directory-credentials",
  "custom-host-vitals",
  "labels",
  "custom-variables",
  "vpp-token-teams",
  "configuration-profiles",
  "certificate templates",
  "scripts",
  "policies",
  "queries",
] as const;

const otherLocks = [
  "activity_chain",
  "agent-signing-key",
  "apple-pushes",
  "apple-updates",
  "apple-versions",
  "builtin-labels",
  "device-ca",
  "directory-devices",
  "disk-encryption",
  "disk-keys",
  "enroll",
  "history",
  "host-names",
  "jobs",
  "policy_mails",
  "profile-deliveries",
  "recovery-locks",
  "scim",
  "software_counts",
  "uploads",
  "views",
  "vulnerabilities reported",
  "vulnerability_counts",
  "vulnerability_matching",
  "webhook destinations",
  "windows-joins",
  "windows_startup_pins",
  "windows_updates",
] as const;

/** Locks of one thing each. Those of operations come last, for several hosts in the order of their ids. */
type LockOfThing =
  | `approval-${number}`
  | `approvals-${number}`
  | `campaign ${number}`
  | `carves of ${number}`
  | `certificates of host ${number}`
  | `conditional access certificate ${string}`
  | `danger-${number}`
  | `device mapping ${number}`
  | `disk-key ${number}`
  | `host identity ${string}`
  | `host limit ${string}`
  | `host_status:${number}`
  | `machine of ${number}`
  | `mdm-command-${string}`
  | `migration of host ${number}`
  | `rate limit ${string}`
  | `refused enrollment of ${number}`
  | `script-batch-${string}`
  | `plans of ${number}`
  | `operations-${number}`;

export type OrderedLock = (typeof lockOrder)[number];
export type LockName = OrderedLock | (typeof otherLocks)[number] | LockOfThing;

/** The locks in their order, each once. */
export const inLockOrder = (names: readonly OrderedLock[]): OrderedLock[] =>
  lockOrder.filter((name) => names.includes(name));
