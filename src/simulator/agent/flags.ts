type Flags = Readonly<Record<string, string>>;

const flagSets = new Map<string, Flags>();

/** Agents with equal flags share one object. */
export function sharedFlags(flags: Flags): Flags {
  const key = JSON.stringify(flags);
  const cached = flagSets.get(key);
  if (cached) return cached;
  if (flagSets.size >= 256) flagSets.clear();
  flagSets.set(key, flags);
  return flags;
}

/**
 * A slowed-down agent reports its real intervals. Otherwise the server would consider it offline between two polls.
 */
export function stretchedFlags(flags: Flags, scale: number): Flags {
  const slow = (name: string) => ({ [name]: String(Math.round(Number(flags[name]) * scale)) });
  return { ...flags, ...slow("distributed_interval"), ...slow("config_refresh"), ...slow("logger_tls_period") };
}
