/** The stored values from which a host's status is computed. Times as ISO text. */
export interface Presence {
  readonly seen_time: string | null;
  readonly created_at: string;
  readonly distributed_interval: number;
  readonly config_tls_refresh: number;
}

export interface HostStatus {
  readonly online: boolean;
  /** Offline for 30 days; the API also calls this `mia`. */
  readonly missing: boolean;
  /** Enrolled within the last 24 hours; independent of the other states. */
  readonly new: boolean;
}

/** Values of the status filter. The `status` of a host object is only `online` or `offline`. */
export type StatusWord = "new" | "online" | "offline" | "mia" | "missing";

const GRACE_MS = 60_000;
const DAY_MS = 86_400_000;
const MISSING_MS = 30 * DAY_MS;
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

const iso = (ms: number): string => new Date(Math.min(ms, LAST_MS)).toISOString();

const windowMs = (distributedInterval: number, configTlsRefresh: number): number =>
  Math.max(0, Math.min(distributedInterval, configTlsRefresh)) * 1000 + GRACE_MS;

/** A host seen at `seen` is online until this instant (ISO text). */
export const onlineUntil = (seen: string, distributedInterval: number, configTlsRefresh: number): string =>
  iso(Date.parse(seen) + windowMs(distributedInterval, configTlsRefresh));

export function hostStatus(host: Presence, now: number): HostStatus {
  const seen = Date.parse(host.seen_time ?? host.created_at);
  return {
    online: seen + windowMs(host.distributed_interval, host.config_tls_refresh) > now,
    missing: seen + MISSING_MS <= now,
    new: Date.parse(host.created_at) + DAY_MS >= now,
  };
}

export const statusOf = (host: Presence, now: number): "online" | "offline" =>
  hostStatus(host, now).online ? "online" : "offline";

export function hasStatus(host: Presence, word: StatusWord, now: number): boolean {
  const status = hostStatus(host, now);
  switch (word) {
    case "online":
      return status.online;
    case "offline":
      return !status.online;
    case "new":
      return status.new;
    case "mia":
    case "missing":
      return status.missing;
  }
}
