export type Level = "info" | "warn" | "error";
export type Log = (level: Level, message: string) => void;

/** The kinds of keys that a host identity may have. */
export const identityKeys = ["rsa", "p256", "p384"] as const;
export type IdentityKey = (typeof identityKeys)[number];

export interface AgentOptions {
  readonly serverUrl: string;
  readonly enrollSecret: string;
  /** Folder for keys and for the journal of scripts. Only its owner can read it. */
  readonly stateDir: string;
  readonly version: string;
  /** PEM certificates of the authorities to trust instead of the system's. */
  readonly ca?: string;
  /** SHA-256 fingerprints; one of the certificates that the server presents must have one of them. */
  readonly pins: readonly string[];
  /** False: every script is answered with exit code -2. */
  readonly runsScripts: boolean;
  /** Requests are signed with a host identity, which the agent gets first. */
  readonly signsRequests?: boolean;
  /** The kind of key of a new host identity; default: RSA. */
  readonly identityKey?: IdentityKey;
  /** Starts the agent's second process, which answers queries: see `SecondProcess`. */
  readonly secondProgram: readonly [string, ...string[]];
  /** The program to run for queries; null: the agent answers them itself. */
  readonly osqueryd: string | null;
  /** Values instead of the machine's own. */
  readonly hardware: { readonly uuid?: string; readonly serial?: string };
  /** A factor for all waits; below 1 in tests. */
  readonly scale: number;
  /** The agent replaces itself by newer versions of the server. `started`: see `startedVersion`. Absent: it does not. */
  readonly updates?: { readonly started: string | null };
  readonly log: Log;
}
