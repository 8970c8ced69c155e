import { createHash } from "node:crypto";

/**
 * One step of the schema. A released migration must never change: the database stores its checksum.
 *
 * No migration may keep a lock on a big table for long. A transactional migration waits at most two seconds for each
 * lock (other statements queue behind the waiting one) and is then retried. It may only do work that is quick once it
 * has the lock: add a table, a column that is nullable or has a constant default, or a reference `NOT VALID`. Work
 * that takes long on a big table needs its own migration with `transactional: false`: its statements run one by one
 * outside of a transaction, so each must be safe to repeat after a failure (`CREATE INDEX CONCURRENTLY IF NOT
 * EXISTS`, `VALIDATE CONSTRAINT`, updates in slices).
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
