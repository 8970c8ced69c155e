// A pool client for the duration of one task, and when the task may run again.
import pg from "pg";
import { messageOf } from "../../../../../text/error-message.ts";
import { breaksConnection, isConflict, isStalePlan, translate } from "../errors.ts";
import type { PostgresRow } from "../layout.ts";
import type { ConstraintInfo } from "../schema.ts";
import type { Statement } from "../sql.ts";
import { runJoined } from "./joined.ts";
import type { StatementNames } from "./pool.ts";
import type { Watchdog } from "./watchdog.ts";

export interface Result {
  readonly rows: PostgresRow[];
  readonly count: number;
}

export interface RunnerContext {
  readonly pool: pg.Pool;
  readonly watchdog: Watchdog;
  readonly names: StatementNames;
  readonly constraints: ReadonlyMap<string, ConstraintInfo>;
}

export const TRIES = 6;
const A_DAY_MS = 86_400_000;
const pause = (tried: number) => new Promise((done) => setTimeout(done, Math.random() * 10 * 2 ** tried));

/**
 * An error of the database or the connection, before it is translated to the contract's errors. Never an error of the
 * caller.
 */
export class DatabaseFailure extends Error {
  readonly error: unknown;
  /** The connection was lost before anything could have been stored, so retrying is safe. */
  harmless = false;

  constructor(error: unknown) {
    super(messageOf(error), { cause: error });
    this.error = error;
  }
}

const failed = (error: unknown): never => {
  throw new DatabaseFailure(error);
};

/** A pool client for the duration of one task. */
export class Lease {
  broken = false;
  #unhurried = false;
  readonly #context: RunnerContext;
  readonly #client: pg.PoolClient;

  constructor(context: RunnerContext, client: pg.PoolClient) {
    this.#context = context;
    this.#client = client;
  }

  /** For tasks that may take longer than any request would wait: they also survive a freeze of the database. */
  takeTime(): void {
    this.#unhurried = true;
    this.#context.watchdog.spare(this.#client);
  }

  end(): void {
    this.#context.watchdog.unspare(this.#client);
    this.#client.release(this.broken);
  }

  async run({ text, values }: Statement): Promise<Result> {
    const name = this.#context.names.of(text);
    const patience = this.#unhurried ? { query_timeout: A_DAY_MS } : {};
    const { rows, rowCount } = await this.#noting(
      this.#client.query<PostgresRow>({ text, values: values as unknown[], ...(name ? { name } : {}), ...patience }),
    );
    return { rows, count: rowCount ?? 0 };
  }

  /**
   * Sends the statements together, after others without parameters whose results are not needed. Each runs only if all
   * before it have succeeded.
   */
  async runAll(statements: readonly Statement[], before: readonly string[]): Promise<Result[]> {
    if (before.length === 0 && statements.length === 1) return [await this.run(statements[0]!)];
    const joined = [
      ...before.map((text) => ({ text, values: [], name: undefined })),
      ...statements.map(({ text, values }) => ({ text, values, name: this.#context.names.of(text) })),
    ];
    const results = await this.#noting(runJoined(this.#client, joined, this.#unhurried ? A_DAY_MS : undefined));
    return results.slice(before.length).map(({ rows, rowCount }) => ({ rows, count: rowCount ?? 0 }));
  }

  /** Runs one or more statements without parameters and returns the command tag of the last one. */
  async command(text: string): Promise<string> {
    const results = await this.#noting<pg.QueryResult | pg.QueryResult[]>(this.#client.query(text));
    return (Array.isArray(results) ? results.at(-1) : results)?.command ?? "";
  }

  async #noting<R>(answer: Promise<R>): Promise<R> {
    try {
      const answered = await answer;
      this.#context.watchdog.heard();
      return answered;
    } catch (error) {
      if (error instanceof pg.DatabaseError) this.#context.watchdog.heard();
      if (breaksConnection(error) || isStalePlan(error)) this.broken = true;
      return failed(error);
    }
  }
}

/** Returns the client to the pool afterwards, unless its state is unknown. */
export async function leased<R>(context: RunnerContext, work: (lease: Lease) => Promise<R>): Promise<R> {
  const client = await context.watchdog.connect(context.pool).catch(failed);
  const lease = new Lease(context, client);
  try {
    return await work(lease);
  } finally {
    lease.end();
  }
}

/** Marks failures of connections that were already dead when they came from the pool. */
export async function harmlessly<R>(lease: Lease, work: Promise<R>): Promise<R> {
  try {
    return await work;
  } catch (error) {
    // Not after a timeout: a retry would keep the caller waiting for as long again.
    if (error instanceof DatabaseFailure && lease.broken && !/timeout/i.test(error.message)) error.harmless = true;
    throw error;
  }
}

/**
 * Retries after conflicts with other transactions, after a dead connection, and once after a migration invalidated a
 * prepared plan.
 */
export async function persistently<R>(context: RunnerContext, work: () => Promise<R>, tries = TRIES): Promise<R> {
  for (let tried = 0; ; tried++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) throw error;
      const again =
        tried + 1 < tries &&
        (isConflict(error.error) || (tried === 0 && isStalePlan(error.error)) || (tried < 3 && error.harmless));
      if (!again) throw translate(error.error, context.constraints);
      await pause(tried);
    }
  }
}
