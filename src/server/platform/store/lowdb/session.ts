// Coordinates access to memory: single operations and transactions.
import type { Low } from "lowdb";
import { StoreUnavailable } from "../store.ts";
import { Change } from "./change.ts";
import type { Gate } from "./gate.ts";
import type { Memory } from "./memory.ts";
import type { Messages } from "./messages.ts";
import type { Persistence } from "./persistence.ts";

/** How a collection accesses memory. */
export interface Session {
  read<R>(step: () => R): Promise<R>;
  write<R>(step: (change: Change) => R): Promise<R>;
}

/** One open transaction. */
export class Transaction implements Session {
  readonly change = new Change();
  readonly messages: (readonly [channel: string, payload: string])[] = [];
  /** Why the transaction cannot continue. */
  #ended: Error | null = null;
  readonly #assertWritable: () => void;
  readonly #failFast: boolean;

  constructor(assertWritable: () => void, failFast: boolean) {
    this.#assertWritable = assertWritable;
    this.#failFast = failFast;
  }

  check(): void {
    if (this.#ended) throw this.#ended;
  }

  end(reason: Error): void {
    this.#ended ??= reason;
  }

  async read<R>(step: () => R): Promise<R> {
    this.check();
    return step();
  }

  async write<R>(step: (change: Change) => R): Promise<R> {
    this.check();
    this.#assertWritable();
    try {
      return step(this.change);
    } catch (error) {
      if (this.#failFast) this.end(error as Error);
      throw error;
    }
  }
}

export class Sessions implements Session {
  readonly #gate: Gate;
  readonly #low: Low<Memory>;
  readonly #persistence: Persistence;
  readonly #messages: Messages;
  #open: Transaction | null = null;
  #closed = false;

  constructor(gate: Gate, low: Low<Memory>, persistence: Persistence, messages: Messages) {
    this.#gate = gate;
    this.#low = low;
    this.#persistence = persistence;
    this.#messages = messages;
  }

  assertOpen(): void {
    if (this.#closed) throw new StoreUnavailable("the store is closed");
  }

  async read<R>(step: () => R): Promise<R> {
    this.assertOpen();
    return this.#gate.step(step);
  }

  async write<R>(step: (change: Change) => R): Promise<R> {
    this.assertOpen();
    const result = await this.#gate.step(() => {
      this.#persistence.assertWritable();
      const change = new Change();
      const value = step(change);
      this.#keep(change);
      return value;
    });
    // Writes even when nothing changed: the data that the result is based on may not be durable yet.
    await this.#low.write();
    return result;
  }

  #keep(change: Change): void {
    if (change.isEmpty) return;
    try {
      const lines = change.lines();
      if (lines.length > 0) this.#persistence.stage({ lines, undo: () => change.undo() });
    } catch (error) {
      change.undo();
      throw error;
    }
  }

  async transact<R>(work: (transaction: Transaction) => Promise<R>, failFast = false): Promise<R> {
    this.assertOpen();
    const transaction = new Transaction(() => this.#persistence.assertWritable(), failFast);
    await this.#gate.enter(transaction);
    this.#open = transaction;
    let result: R;
    try {
      result = await this.#gate.within(transaction, () => work(transaction));
      transaction.check();
      this.#keep(transaction.change);
    } catch (error) {
      transaction.change.undo();
      throw error;
    } finally {
      transaction.end(new Error("the transaction has ended"));
      this.#open = null;
      this.#gate.release();
    }
    await this.#low.write();
    for (const [channel, payload] of transaction.messages) this.#messages.send(channel, payload);
    return result;
  }

  /**
   * Called when the journal fails during an open transaction: rolls the transaction back, because the data it read is
   * being rolled back.
   */
  failOpen(cause: Error): void {
    this.#open?.change.undo();
    this.#open?.end(new StoreUnavailable(`the journal cannot be written: ${cause.message}`, { cause }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#gate.whenIdle();
  }
}
