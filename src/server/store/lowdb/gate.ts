import { AsyncLocalStorage } from "node:async_hooks";

interface Waiting {
  /** Runs what waited. True when it holds the gate from now on. */
  run(): boolean;
}

/**
 * Lets one transaction at a time have memory to itself. Everything else is a synchronous step that runs at once while
 * no transaction is open, and otherwise waits in line, so that nobody sees rows that may yet be rolled back.
 */
export class Gate {
  private holder: object | null = null;
  private readonly line: Waiting[] = [];
  private readonly inside = new AsyncLocalStorage<object>();
  private idle: (() => void)[] = [];

  private refuseDeadlock(): void {
    if (this.holder !== null && this.inside.getStore() === this.holder)
      throw new Error("inside a transaction use only the store that it hands you: the outer one would wait for ever");
  }

  /** Runs the step when no transaction is open. */
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
      if (this.holder === null) {
        run();
        return;
      }
      this.refuseDeadlock();
      this.line.push({ run });
    });
  }

  /** Holds the gate until `release`. */
  async enter(holder: object): Promise<void> {
    if (this.holder === null) {
      this.holder = holder;
      return;
    }
    this.refuseDeadlock();
    await new Promise<void>((resolve) => {
      this.line.push({
        run: () => {
          this.holder = holder;
          resolve();
          return true;
        },
      });
    });
  }

  /** Runs the work so that a use of the outer store is recognised. */
  within<R>(holder: object, work: () => Promise<R>): Promise<R> {
    return this.inside.run(holder, work);
  }

  release(): void {
    this.holder = null;
    while (this.line.length > 0) if (this.line.shift()!.run()) return;
    const waiting = this.idle;
    this.idle = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when no transaction is open and none waits. */
  async whenIdle(): Promise<void> {
    if (this.holder === null) return;
    await new Promise<void>((resolve) => this.idle.push(resolve));
  }
}
