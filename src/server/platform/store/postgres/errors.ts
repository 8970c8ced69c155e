// Translates Postgres errors to the errors of the store contract.
import pg from "pg";
import { BadRow } from "../rows.ts";
import { ReferenceViolation, StoreUnavailable, UniqueViolation } from "../store.ts";
import type { ConstraintInfo } from "./schema.ts";

const NETWORK = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
]);
/** Messages of `pg` for lost connections and timeouts, which have no error code. */
const LOST =
  /^(connection terminated|timeout exceeded when trying to connect|timeout expired|query read timeout|client (was closed|has encountered))|not queryable|socket|cannot use a pool after/i;

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/**
 * Connection exceptions, insufficient resources, operator intervention, timeouts, locks not acquired in time, and
 * read-only standbys.
 */
const away = (code: string): boolean =>
  /^(08|53|57|58)/.test(code) || ["25006", "25P03", "25P04", "55P03"].includes(code);

/** The connection is lost or in an unknown state: it must not return to the pool. */
export const breaksConnection = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || /^(08|57P0|58|25P0[34])/.test(codeOf(error)) || error.severity === "FATAL";

/** Conflict with another transaction; retrying the same work may succeed immediately. */
export const isConflict = (error: unknown): boolean => ["40001", "40P01"].includes(codeOf(error));

/** A prepared plan no longer matches the tables, because a migration ran in the meantime. */
export const isStalePlan = (error: unknown): boolean =>
  codeOf(error) === "0A000" && error instanceof Error && /cached plan/.test(error.message);

export function translate(error: unknown, constraints: ReadonlyMap<string, ConstraintInfo>): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error;
  const code = codeOf(error);
  if (NETWORK.has(code) || away(code) || isConflict(error) || isStalePlan(error) || LOST.test(error.message))
    return new StoreUnavailable(`the database cannot serve this now: ${error.message}`, { cause: error });
  // Several addresses were tried and all of them failed (Node connects as in RFC 8305).
  if (error instanceof AggregateError && error.errors.some((each) => NETWORK.has(codeOf(each))))
    return new StoreUnavailable(`the database cannot be reached: ${codeOf(error) || "no address answers"}`, {
      cause: error,
    });
  if (!(error instanceof pg.DatabaseError)) return error;

  const broken = constraints.get(error.constraint ?? "");
  const at: ConstraintInfo = broken ?? { table: error.table ?? "?", columns: [error.constraint ?? "?"] };
  if (code === "23505") return withCause(new UniqueViolation(at.table, at.columns), error);
  if (code === "23503" || code === "23001")
    return withCause(new ReferenceViolation(at.table, at.columns[0] ?? "?"), error);
  // The text is longer than an index entry may be.
  if (code === "54000")
    return withCause(new BadRow(`${error.table ?? "a table"}: a value is too long for its index`), error);
  return error;
}

function withCause<E extends Error>(error: E, cause: unknown): E {
  error.cause = cause;
  return error;
}

export const isLockTimeout = (error: unknown): boolean => codeOf(error) === "55P03";
