// Runs statements: each by itself on the pool, or all in one transaction. Collections do not know which.
import { createHash } from "node:crypto";
import type pg from "pg";
import { StoreUnavailable } from "../store.ts";
import { breaksConnection, isConflict, isStalePlan, translate } from "./errors.ts";
import type { Row } from "./layout.ts";
import { LOST_COMMIT, type StatementNames } from "./pool.ts";
import type { ConstraintInfo } from "./schema.ts";
import type { Statement } from "./sql.ts";

export interface Result {
  readonly rows: Row[];
  readonly count: number;
}

export interface Runner {
  read(statement: Statement): Promise<Result>;
  write(statement: Statement): Promise<Result>;
  /** Several statements that are kept together or not at all. */
  atomic<R>(work: (runner: Runner) => Promise<R>): Promise<R>;
}

export interface RunnerContext {
  readonly pool: pg.Pool;
  readonly names: StatementNames;
  readonly constraints: ReadonlyMap<string, ConstraintInfo>;
}

const TRIES = 6;
const A_DAY_MS = 86_400_000;
const pause = (tried: number) => new Promise((done) => setTimeout(done, Math.random() * 10 * 2 ** tried));

/** An error of the database or on the way there, not yet in the contract's words; never one of the caller's own. */
class DatabaseFailure extends Error {
  readonly error: unknown;
  /** The connection was lost before anything could have been kept: the same again does no harm. */
  harmless = false;

  constructor(error: unknown) {
    super(error instanceof Error ? error.message : String(error), { cause: error });
    this.error = error;
  }
}

const failed = (error: unknown): never => {
  throw new DatabaseFailure(error);
};

/** A client from the pool for as long as one piece of work lasts. */
class Lease {
  broken = false;
  /** For work that may take longer than any request would wait. */
  unhurried = false;
  private readonly context: RunnerContext;
  private readonly client: pg.PoolClient;

  constructor(context: RunnerContext, client: pg.PoolClient) {
    this.context = context;
    this.client = client;
  }

  async run({ text, values }: Statement): Promise<Result> {
    const name = this.context.names.of(text);
    const patience = this.unhurried ? { query_timeout: A_DAY_MS } : {};
    const { rows, rowCount } = await this.noting(
      this.client.query<Row>({ text, values: values as unknown[], ...(name ? { name } : {}), ...patience }),
    );
    return { rows, count: rowCount ?? 0 };
  }

  /** One or more statements without parameters; gives the last one's tag. */
  async command(text: string): Promise<string> {
    const results = await this.noting<pg.QueryResult | pg.QueryResult[]>(this.client.query(text));
    return (Array.isArray(results) ? results.at(-1) : results)?.command ?? "";
  }

  private async noting<R>(answer: Promise<R>): Promise<R> {
    try {
      return await answer;
    } catch (error) {
      if (breaksConnection(error) || isStalePlan(error)) this.broken = true;
      return failed(error);
    }
  }
}

/** A client in an unknown state does not go back to the pool. */
async function leased<R>(context: RunnerContext, work: (lease: Lease) => Promise<R>): Promise<R> {
  const client = await context.pool.connect().catch(failed);
  const lease = new Lease(context, client);
  try {
    return await work(lease);
  } finally {
    client.release(lease.broken);
  }
}

/** Marks failures of connections that were dead already when they came from the pool. */
async function harmlessly<R>(lease: Lease, work: Promise<R>): Promise<R> {
  try {
    return await work;
  } catch (error) {
    // What timed out once would keep the caller waiting again.
    if (error instanceof DatabaseFailure && lease.broken && !/timeout/i.test(error.message)) error.harmless = true;
    throw error;
  }
}

/** Tries again what another transaction was in the way of, what a dead connection cut short, and once after a migration changed the tables under a prepared plan. */
async function persistently<R>(context: RunnerContext, work: () => Promise<R>, tries = TRIES): Promise<R> {
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

export function poolRunner(context: RunnerContext): Runner {
  const run = <R>(work: (lease: Lease) => Promise<R>) => persistently(context, () => leased(context, work));
  return {
    read: (statement) => run((lease) => harmlessly(lease, lease.run(statement))),
    write: (statement) => run((lease) => lease.run(statement)),
    atomic: (work) => transaction(context, work),
  };
}

/** The 64 bits that stand for a key in Postgres's advisory locks. */
export const lockNumber = (key: string): string =>
  createHash("sha256").update(key).digest().readBigInt64BE(0).toString();

const SAVE = "SAVEPOINT svc";

/**
 * The statements of one transaction. A failed write is undone by itself, as it is in memory: the caller may catch the error and go on. The
 * savepoint for that is set together with BEGIN, so that a transaction of one write needs no further round trip.
 */
class TxRunner implements Runner {
  /** Why the transaction cannot go on, whatever the caller makes of the error. */
  failure: DatabaseFailure | null = null;
  private ended = false;
  private saved = true;
  private turn: Promise<unknown> = Promise.resolve();
  private readonly context: RunnerContext;
  private readonly lease: Lease;

  constructor(context: RunnerContext, lease: Lease) {
    this.context = context;
    this.lease = lease;
  }

  read(statement: Statement): Promise<Result> {
    return this.inTurn(() => this.decisive(() => this.lease.run(statement)));
  }

  write(statement: Statement): Promise<Result> {
    return this.inTurn(() => this.undoable(() => this.lease.run(statement)));
  }

  atomic<R>(work: (runner: Runner) => Promise<R>): Promise<R> {
    const run = (statement: Statement) => this.lease.run(statement);
    const inner: Runner = { read: run, write: run, atomic: (more) => more(inner) };
    return this.inTurn(() => this.undoable(() => work(inner)));
  }

  async end(): Promise<void> {
    await this.turn;
    this.ended = true;
  }

  /** One after the other: a savepoint must not come between the statements of another write. */
  private inTurn<R>(work: () => Promise<R>): Promise<R> {
    const mine = this.turn.then(async () => {
      if (this.ended)
        throw new Error("the transaction has ended: use only the store that tx hands in, and wait for what it gives");
      try {
        if (this.failure) throw this.failure;
        return await work();
      } catch (error) {
        throw error instanceof DatabaseFailure ? translate(error.error, this.context.constraints) : error;
      }
    });
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  private async decisive<R>(work: () => Promise<R>): Promise<R> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DatabaseFailure) this.failure ??= error;
      throw error;
    }
  }

  private async undoable<R>(work: () => Promise<R>): Promise<R> {
    if (!this.saved) await this.decisive(() => this.lease.command(`RELEASE ${SAVE}; ${SAVE}`));
    this.saved = false;
    try {
      return await work();
    } catch (error) {
      if (error instanceof DatabaseFailure && (this.lease.broken || isConflict(error.error))) this.failure ??= error;
      else await this.decisive(() => this.lease.command(`ROLLBACK TO ${SAVE}`));
      this.saved = true;
      throw error;
    }
  }
}

export interface TransactionOptions {
  readonly lock?: string | undefined;
  /** Everything is seen as it is at one moment, and nothing written. */
  readonly snapshot?: boolean;
  /** No time-outs, and never run again: for moving whole stores. */
  readonly long?: boolean;
}

const UNLIMITED = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;";

/** `work` may run again after a conflict with another transaction. */
export function transaction<R>(
  context: RunnerContext,
  work: (runner: Runner) => Promise<R>,
  options: TransactionOptions = {},
): Promise<R> {
  return persistently(
    context,
    () => leased(context, (lease) => attempt(context, lease, work, options)),
    options.long ? 1 : TRIES,
  );
}

async function attempt<R>(
  context: RunnerContext,
  lease: Lease,
  work: (runner: Runner) => Promise<R>,
  { lock, snapshot, long }: TransactionOptions,
): Promise<R> {
  const begin = snapshot ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;" : "BEGIN;";
  const locked = lock === undefined ? "" : `SELECT pg_advisory_xact_lock(${lockNumber(lock)});`;
  lease.unhurried = long === true;
  const runner = new TxRunner(context, lease);
  let result: R;
  try {
    await harmlessly(lease, lease.command(`${begin} ${long ? UNLIMITED : ""} ${locked} ${SAVE}`));
    result = await work(runner);
    await runner.end();
    if (runner.failure) throw runner.failure;
  } catch (error) {
    await runner.end();
    // Where even this fails the connection is dropped, which undoes the transaction as well.
    if (!lease.broken) await lease.command("ROLLBACK").catch(() => undefined);
    throw runner.failure ?? error;
  }
  await commit(lease);
  return result;
}

async function commit(lease: Lease): Promise<void> {
  let tag: string;
  try {
    tag = await lease.command("COMMIT");
  } catch (error) {
    if (lease.broken) throw new StoreUnavailable(LOST_COMMIT, { cause: error });
    throw error;
  }
  if (tag !== "COMMIT") throw new Error(`the transaction was not kept: Postgres answered ${tag}`);
}
