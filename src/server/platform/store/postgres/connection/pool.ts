// Connections: a pool for statements and transactions, and single clients for work that needs its own session.
import { createHash } from "node:crypto";
import pg from "pg";
import { types } from "../types.ts";
import type { Watchdog } from "./watchdog.ts";

export interface PoolLog {
  info?(details: object, message: string): void;
  warn(details: object, message: string): void;
}

interface ConnectOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly log: PoolLog | undefined;
  /** How long a statement waits for a connection. */
  readonly waitMs: number | undefined;
  readonly watchdog: Watchdog;
}

const CONNECT_LIMIT_MS = 10_000;
const STATEMENT_LIMIT_MS = 30_000;

/**
 * Settings of every session. `jit` costs more than it saves on short statements. An abandoned transaction must not
 * keep its locks. The settings are made by statements, so connection poolers in session mode work, but not in
 * transaction mode.
 */
const SESSION = `SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET extra_float_digits = 1; SET jit = off; SET client_min_messages = warning;
SET standard_conforming_strings = on; SET default_transaction_isolation = 'read committed'; SET statement_timeout = ${STATEMENT_LIMIT_MS}; SET lock_timeout = ${STATEMENT_LIMIT_MS / 2};
SET idle_in_transaction_session_timeout = 60000;
SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)`;

const config = (url: string): pg.ClientConfig => ({
  connectionString: url,
  application_name: "svc",
  connectionTimeoutMillis: CONNECT_LIMIT_MS,
  // For a session that has stopped responding, whose own timeout cannot fire. See watchdog.ts for the whole database.
  query_timeout: STATEMENT_LIMIT_MS + 5_000,
  keepAlive: true,
  types,
});

/** For the watchdog's own connection: one short statement at a time. */
export const probeConfig = (url: string): pg.ClientConfig => ({ ...config(url), query_timeout: CONNECT_LIMIT_MS });

export function createPool({ url, poolSize, log, waitMs = CONNECT_LIMIT_MS, watchdog }: ConnectOptions): pg.Pool {
  class Watched extends pg.Client {
    constructor(settings?: pg.ClientConfig) {
      super(settings);
      watchdog.watch(this);
    }
  }
  const pool = new pg.Pool({
    ...config(url),
    max: poolSize,
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: 60_000,
    Client: Watched,
    // The pool waits for this before it hands out the client.
    onConnect: async (client: pg.ClientBase) => {
      await client.query(SESSION);
    },
  } as pg.PoolConfig);
  // The statement that ran on a lost connection reports the error; without these listeners it would end the process.
  pool.on("error", (error) => log?.warn({ err: error }, "lost an idle database connection"));
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/** Creates a client outside the pool, for LISTEN and session locks. */
export async function connectClient(
  url: string,
  { unhurried = false, watchdog }: { unhurried?: boolean; watchdog?: Watchdog } = {},
): Promise<pg.Client> {
  const client = new pg.Client({ ...config(url), ...(unhurried ? { query_timeout: 0 } : {}) });
  client.on("error", () => undefined);
  watchdog?.watch(client);
  try {
    await client.connect();
    await client.query(SESSION);
    return client;
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}

/** Closes the connection even if the other side no longer responds. */
export function destroy(client: pg.Client): void {
  client.end().catch(() => undefined);
  cut(client);
}

/** Breaks the connection as a network failure would: statements fail, and the owner gets an `error` or `end` event. */
export function cut(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/**
 * Names of prepared statements. Each name uses memory in every connection, on both sides. So only statements that are
 * used more than once get a name, up to a limit.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  #seen = new Set<string>();
  readonly #most: number;

  constructor(most = 400) {
    this.#most = most;
  }

  of(text: string): string | undefined {
    const cached = this.#names.get(text);
    if (cached) return cached;
    // How many rows match a pattern, or have a member, can only be estimated from the value itself; a plan shared by all
    // values is often wrong.
    if (this.#names.size >= this.#most || /LIKE \$|&& \$/.test(text)) return undefined;
    if (!this.#seen.has(text)) {
      if (this.#seen.size >= 2000) this.#seen = new Set();
      this.#seen.add(text);
      return undefined;
    }
    this.#seen.delete(text);
    const name = `s${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;
    this.#names.set(text, name);
    return name;
  }

  get size(): number {
    return this.#names.size;
  }
}

export const LOST_COMMIT = "the connection was lost during COMMIT: whether the transaction was kept is unknown";
