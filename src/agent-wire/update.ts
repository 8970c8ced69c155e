// What a server signs when it offers a newer agent, and which agent is newer.

/** An agent that the server offers. */
export interface AgentUpdate {
  readonly version: string;
  /** SHA-256 of the agent as one file, hexadecimal. */
  readonly sha256: string;
  readonly size: number;
  /** Ed25519, of the statement below, in base64. */
  readonly signature: string;
}

/** The version is signed together with the file: a signature of an old agent cannot be used for a new version. */
export const updateStatement = ({ version, sha256, size }: Omit<AgentUpdate, "signature">): Buffer =>
  Buffer.from(`svc agent update\n${version}\n${sha256}\n${size}\n`);

const VERSION = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[\w.]{1,50})?$/;

/** Whether `version` is a later version than `other`. False if one of them cannot be read. */
export function isNewer(version: string, other: string): boolean {
  const [a, b] = [VERSION.exec(version), VERSION.exec(other)];
  if (a === null || b === null) return false;
  for (const i of [1, 2, 3]) {
    const difference = Number(a[i]) - Number(b[i]);
    if (difference !== 0) return difference > 0;
  }
  // A version is newer than its previews; of two previews, none is newer.
  return a[4] === undefined && b[4] !== undefined;
}

/** The version in the first lines of the agent's file; null: none. */
export const versionInFile = (start: string): string | null => /^\/\/ svc-agent (\S{1,80})$/m.exec(start)?.[1] ?? null;
