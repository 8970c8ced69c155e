// Runs statements, either each on its own on the pool, or all in one transaction. Collections do not see the
// difference.
import { createHash } from "node:crypto";
import { StoreUnavailable } from "../../store.ts";
import { isConflict, translate } from "../errors.ts";
import type { Statement } from "../sql.ts";
import {
  DatabaseFailure,
  harmlessly,
  type Lease,
  leased,
  persistently,
  type Result,
  type RunnerContext,
  TRIES,
} from "./lease.ts";
import { LOST_COMMIT } from "./pool.ts";

export interface Runner {
  read(statement: Statement): Promise<Result>;
  write(statement: Statement): Promise<Result>;
  /** Runs several statements in one transaction. */
  atomic<R>(work: (runner: Runner) => Promise<R>): Promise<R>;
}

export function poolRunner(context: RunnerContext): Runner {
  const run = <R>(work: (lease: Lease) => Promise<R>) => persistently(context, () => leased(context, work));
  return {
    read: (statement) => run((lease) => harmlessly(lease, lease.run(statement))),
    write: (statement) => run((lease) => lease.run(statement)),
    atomic: (work) => transaction(context, work),
  };
}

/** The 64-bit number for a key in Postgres's advisory locks. */
export const lockNumber = (key: string): string =>
  createHash("sha256").update(key).digest().readBigInt64BE(0).toString();

/** Few enough that no statement gets too long. */
const LOCKS_PER_STATEMENT = 500;

/** Statements that take the locks in their order: the columns of a row are computed one after the other. */
export function lockStatements(lock: string | readonly string[] | undefined): string[] {
  const keys = lock === undefined ? [] : typeof lock === "string" ? [lock] : lock;
  const statements: string[] = [];
  for (let at = 0; at < keys.length; at += LOCKS_PER_STATEMENT) {
    const calls = keys.slice(at, at + LOCKS_PER_STATEMENT).map((key) => `pg_advisory_xact_lock(${lockNumber(key)})`);
    statements.push(`SELECT ${calls.join(", ")}`);
  }
  return statements;
}

const SAVE = "SAVEPOINT svc";

const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

interface Waiting {
  readonly statement: Statement;
  done(result: Result): void;
  failed(error: unknown): void;
}

/**
 * The statements of one transaction. BEGIN is sent together with the first of them, and statements that the caller does
 * not await one by one are sent together. A failed write is rolled back by itself, as in the in-memory engine: the
 * caller may catch the error and continue. The savepoint for this is sent together with the write. With `failFast`
 * there are no savepoints.
 */
class TxRunner implements Runner {
  /** Why the transaction cannot continue, even if the caller catches the error. */
  failure: DatabaseFailure | null = null;
  #ended = false;
  #saved = true;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting: Waiting[] = [];
  #sent = 0;
  /** Statements that have yet to be sent before the next one. */
  #before: readonly string[];
  readonly #context: RunnerContext;
  readonly #lease: Lease;
  readonly #failFast: boolean;

  constructor(context: RunnerContext, lease: Lease, begin: readonly string[], failFast: boolean) {
    this.#context = context;
    this.#lease = lease;
    this.#before = failFast ? begin : [...begin, SAVE];
    this.#failFast = failFast;
  }

  read(statement: Statement): Promise<Result> {
    if (this.#failFast) return this.#together(statement);
    return this.#inTurn(() => this.#decisive(() => this.#send(statement)));
  }

  write(statement: Statement): Promise<Result> {
    if (this.#failFast) return this.#together(statement);
    return this.#inTurn(() => this.#undoable(() => this.#send(statement)));
  }

  atomic<R>(work: (runner: Runner) => Promise<R>): Promise<R> {
    if (this.#failFast) return work(this);
    const run = (statement: Statement) => this.#send(statement);
    const inner: Runner = { read: run, write: run, atomic: (more) => more(inner) };
    return this.#inTurn(() => this.#undoable(() => work(inner)));
  }

  /** Returns whether anything was sent. */
  async end(): Promise<boolean> {
    await this.#turn;
    this.#ended = true;
    return this.#sent > 0;
  }

  async #send(statement: Statement): Promise<Result> {
    return (await this.#sendAll([statement]))[0]!;
  }

  #sendAll(statements: readonly Statement[]): Promise<Result[]> {
    const before = this.#before;
    const lease = this.#lease;
    this.#before = [];
    const results = lease.runAll(statements, before);
    // Whatever was sent together with BEGIN was not stored if the connection was dead.
    return this.#sent++ === 0 ? harmlessly(lease, results) : results;
  }

  /**
   * Sends what is requested while other statements run, or at the same time, together. What the results of the last ones
   * lead to is requested before the next tick, however many promises are on the way.
   */
  #together(statement: Statement): Promise<Result> {
    return new Promise((done, failed) => {
      this.#waiting.push({ statement, done, failed });
      if (this.#waiting.length === 1) this.#turn = this.#turn.then(nextTick).then(() => this.#flush());
    });
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      this.#checkOpen();
      const results = await this.#decisive(() => this.#sendAll(waiting.map(({ statement }) => statement)));
      waiting.forEach(({ done }, i) => {
        done(results[i]!);
      });
    } catch (error) {
      for (const { failed } of waiting) failed(this.#translated(error));
    }
  }

  #checkOpen(): void {
    if (this.#ended)
      throw new Error("the transaction has ended: use only the store that tx passes in, and await its results");
    if (this.failure) throw this.failure;
  }

  readonly #translated = (error: unknown): unknown =>
    error instanceof DatabaseFailure ? translate(error.error, this.#context.constraints) : error;

  /** Runs writes one after the other, so that no savepoint falls between the statements of another write. */
  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    const mine = this.#turn.then(async () => {
      try {
        this.#checkOpen();
        return await work();
      } catch (error) {
        throw this.#translated(error);
      }
    });
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #decisive<R>(work: () => Promise<R>): Promise<R> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DatabaseFailure) this.failure ??= error;
      throw error;
    }
  }

  async #undoable<R>(work: () => Promise<R>): Promise<R> {
    // What has yet to be sent ends with a savepoint.
    if (!this.#saved && this.#before.length === 0) this.#before = [`RELEASE ${SAVE}`, SAVE];
    this.#saved = false;
    const sent = this.#sent;
    try {
      return await work();
    } catch (error) {
      if (error instanceof DatabaseFailure && (this.#lease.broken || isConflict(error.error))) this.failure ??= error;
      // Without a statement, not even the savepoint was set.
      else if (this.#sent > sent) await this.#undo(error);
      this.#saved = true;
      throw error;
    }
  }

  /** If BEGIN or its lock has failed, there is no savepoint, and that error is the one to report. */
  async #undo(error: unknown): Promise<void> {
    try {
      await this.#lease.command(`ROLLBACK TO ${SAVE}`);
    } catch (failure) {
      this.failure ??= (error instanceof DatabaseFailure ? error : failure) as DatabaseFailure;
    }
  }
}

interface TransactionOptions {
  readonly lock?: string | readonly string[] | undefined;
  /** All reads see the same snapshot, and nothing may be written. */
  readonly snapshot?: boolean;
  /** Without savepoints: a failed write ends the transaction. */
  readonly failFast?: boolean | undefined;
  /** No timeouts and no retries: for copying whole stores. */
  readonly long?: boolean;
}

const UNLIMITED = ["SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0"];

/** `beforeCommit` takes a statement without parameters that is sent together with the COMMIT. */
type Work<R> = (runner: Runner, beforeCommit: (statement: string) => void) => Promise<R>;

/** `work` may run again after a conflict with another transaction. */
export function transaction<R>(context: RunnerContext, work: Work<R>, options: TransactionOptions = {}): Promise<R> {
  return persistently(
    context,
    () => leased(context, (lease) => attempt(context, lease, work, options)),
    options.long ? 1 : TRIES,
  );
}

async function attempt<R>(
  context: RunnerContext,
  lease: Lease,
  work: Work<R>,
  { lock, snapshot, long, failFast = false }: TransactionOptions,
): Promise<R> {
  const begin = [
    snapshot ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN",
    ...(long ? UNLIMITED : []),
    ...lockStatements(lock),
  ];
  if (long) lease.takeTime();
  const runner = new TxRunner(context, lease, begin, failFast);
  let result: R;
  let last: readonly string[] = [];
  let hasBegun = false;
  try {
    result = await work(runner, (statement) => {
      last = [statement];
    });
    hasBegun = await runner.end();
    if (runner.failure) throw runner.failure;
  } catch (error) {
    hasBegun = await runner.end();
    // If even this fails, the connection is dropped, which rolls the transaction back as well.
    if (hasBegun && !lease.broken) await lease.command("ROLLBACK").catch(() => undefined);
    throw runner.failure ?? error;
  }
  // Without a statement there is nothing to commit, but others may be waited for, or messages sent.
  if (hasBegun) await commit(lease, [...last, "COMMIT"]);
  else if (lock !== undefined || last.length > 0) await commit(lease, [...begin, ...last, "COMMIT"]);
  return result;
}

async function commit(lease: Lease, statements: readonly string[]): Promise<void> {
  let tag: string;
  try {
    tag = await lease.command(statements.join("; "));
  } catch (error) {
    if (lease.broken) throw new StoreUnavailable(LOST_COMMIT, { cause: error });
    // The last statement may have failed, and the transaction would still be open.
    await lease.command("ROLLBACK").catch(() => undefined);
    throw error;
  }
  if (tag !== "COMMIT") throw new Error(`the transaction was not committed: Postgres returned ${tag}`);
}

const onlyReads = (): Promise<never> => Promise.reject(new Error("this is for reading only"));

/** Reads without a transaction: those that `work` requests at the same time are one message. */
export const readTogether = <R>(context: RunnerContext, work: (runner: Runner) => Promise<R>): Promise<R> =>
  persistently(context, () =>
    leased(context, async (lease) => {
      const together = new TxRunner(context, lease, [], true);
      try {
        return await work({ read: (statement) => together.read(statement), write: onlyReads, atomic: onlyReads });
      } catch (error) {
        throw together.failure ?? error;
      } finally {
        await together.end();
      }
    }),
  );
