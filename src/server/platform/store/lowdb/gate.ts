import { AsyncLocalStorage } from "node:async_hooks";

interface Waiting {
  /** Runs the waiting task. Returns true if the task holds the gate afterwards. */
  run(): boolean;
}

/**
 * Gives one transaction at a time exclusive access to memory. All other work is done in synchronous steps, which run
 * immediately while no transaction is open and otherwise wait in a queue, so that no one sees rows that may still be
 * rolled back.
 */
export class Gate {
  #holder: object | null = null;
  readonly #line: Waiting[] = [];
  readonly #inside = new AsyncLocalStorage<object>();
  #idle: (() => void)[] = [];

  #refuseDeadlock(): void {
    if (this.#holder !== null && this.#inside.getStore() === this.#holder)
      throw new Error("inside a transaction, use only the store that is passed in: the outer store would deadlock");
  }

  /** Runs the step as soon as no transaction is open. */
  step<R>(step: () => R): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      const run = (): boolean => {
        try {
          resolve(step());
        } catch (error) {
          reject(error);
        }
        return false;
      };
      if (this.#holder === null) {
        run();
        return;
      }
      this.#refuseDeadlock();
      this.#line.push({ run });
    });
  }

  /** Acquires the gate; it stays locked until `release`. */
  async enter(holder: object): Promise<void> {
    if (this.#holder === null) {
      this.#holder = holder;
      return;
    }
    this.#refuseDeadlock();
    await new Promise<void>((resolve) => {
      this.#line.push({
        run: () => {
          this.#holder = holder;
          resolve();
          return true;
        },
      });
    });
  }

  /** Runs `work` in a context in which a call to the outer store can be detected. */
  within<R>(holder: object, work: () => Promise<R>): Promise<R> {
    return this.#inside.run(holder, work);
  }

  release(): void {
    this.#holder = null;
    while (this.#line.length > 0) if (this.#line.shift()!.run()) return;
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }

  /** Node passes the context of every gate that was used on to each promise, until it is disabled. */
  close(): void {
    this.#inside.disable();
  }

  /** Resolves when no transaction is open or waiting. */
  async whenIdle(): Promise<void> {
    if (this.#holder === null) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
