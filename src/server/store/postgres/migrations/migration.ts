import { createHash } from "node:crypto";

/**
 * One step of the schema. Once released it is frozen: the database keeps its checksum.
 *
 * No step may hold a lock on a big table for long. A transactional step waits at most two seconds for each lock (others queue behind
 * the one who waits) and is tried again; it must only do what is quick once it has the lock: add a table, a column that is nullable or has a constant default,
 * a reference `NOT VALID`. What takes long on a big table goes into a step of its own with `transactional: false`: its statements run one by
 * one outside a transaction, so each must be safe to run again after a failure (`CREATE INDEX CONCURRENTLY IF NOT EXISTS`, `VALIDATE
 * CONSTRAINT`, updates in slices).
 */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly transactional: boolean;
  readonly statements: readonly string[];
}

export const checksumOf = ({ number, name, statements }: Migration): string =>
  createHash("sha256")
    .update(JSON.stringify([number, name, statements]))
    .digest("hex");

export const titleOf = ({ number, name }: Migration): string => `${String(number).padStart(4, "0")}-${name}`;
