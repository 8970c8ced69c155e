// Connections: one pool for statements and transactions, and single clients for what needs a session of its own.
import { createHash } from "node:crypto";
import pg from "pg";
import { StoreUnavailable } from "../store.ts";
import { types } from "./types.ts";

export interface PoolLog {
  info?(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface ConnectOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly log: PoolLog | undefined;
  /** How long a statement waits for a connection. */
  readonly waitMs: number | undefined;
}

const CONNECT_LIMIT_MS = 10_000;
const STATEMENT_LIMIT_MS = 30_000;

/**
 * What every session is set to. `jit` costs more than it saves on short statements. A transaction that its server forgot must not hold
 * locks. Sessions are set up by statements, so poolers that keep one session a client (not one a transaction) work.
 */
const SESSION = `SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET extra_float_digits = 1; SET jit = off; SET client_min_messages = warning;
SET standard_conforming_strings = on; SET default_transaction_isolation = 'read committed'; SET statement_timeout = ${STATEMENT_LIMIT_MS}; SET lock_timeout = ${STATEMENT_LIMIT_MS / 2};
SET idle_in_transaction_session_timeout = 60000;
SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)`;

const config = (url: string): pg.ClientConfig => ({
  connectionString: url,
  application_name: "svc",
  connectionTimeoutMillis: CONNECT_LIMIT_MS,
  // For a server that has stopped answering: its own time-out cannot fire.
  query_timeout: STATEMENT_LIMIT_MS + 5_000,
  keepAlive: true,
  types,
});

export function createPool({ url, poolSize, log, waitMs = CONNECT_LIMIT_MS }: ConnectOptions): pg.Pool {
  const pool = new pg.Pool({
    ...config(url),
    max: poolSize,
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: 60_000,
    // Awaited before the client is handed out.
    onConnect: async (client: pg.ClientBase) => {
      await client.query(SESSION);
    },
  } as pg.PoolConfig);
  // A lost connection is told by the statement that ran on it; without listeners it would end the process.
  pool.on("error", (error) => log?.warn({ err: error }, "lost an idle database connection"));
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/** A client outside the pool, for LISTEN and session locks. */
export async function connectClient(url: string, { unhurried = false } = {}): Promise<pg.Client> {
  const client = new pg.Client({ ...config(url), ...(unhurried ? { query_timeout: 0 } : {}) });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(SESSION);
    return client;
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}

/** Ends the connection for good, even where the other side no longer answers. */
export function destroy(client: pg.Client): void {
  client.end().catch(() => undefined);
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/**
 * Names of prepared statements. A name costs memory in every connection on both sides, so only statements seen more than once get one, and
 * only so many.
 */
export class StatementNames {
  private readonly names = new Map<string, string>();
  private seen = new Set<string>();
  private readonly most: number;

  constructor(most = 400) {
    this.most = most;
  }

  of(text: string): string | undefined {
    const known = this.names.get(text);
    if (known) return known;
    // How many rows a pattern finds, Postgres can only guess with the pattern at hand; a plan kept for all of them is often the wrong one.
    if (this.names.size >= this.most || text.includes("LIKE $")) return undefined;
    if (!this.seen.has(text)) {
      if (this.seen.size >= 2000) this.seen = new Set();
      this.seen.add(text);
      return undefined;
    }
    this.seen.delete(text);
    const name = `s${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;
    this.names.set(text, name);
    return name;
  }

  get size(): number {
    return this.names.size;
  }
}

export const LOST_COMMIT = "the connection was lost during COMMIT: whether the transaction was kept is unknown";

export const closed = (): StoreUnavailable => new StoreUnavailable("the store is closed");
