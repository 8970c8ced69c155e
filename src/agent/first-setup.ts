// The setup of a new machine. The server keeps how far it is, and asks until it has ended, so a restart continues it.
import type { Log } from "./options.ts";

export interface SetupItem {
  readonly name: string;
  readonly status: string;
  readonly error: string | null;
}

export interface SetupServer {
  /** Begins the setup, unless it has begun. */
  startSetup(): Promise<void>;
  /** How far the setup is; begins the next item when the one before has ended. */
  setupItems(): Promise<readonly SetupItem[]>;
}

export class FirstSetup {
  readonly #server: SetupServer;
  readonly #log: Log;
  readonly #shown = new Map<string, string>();
  #isRunning = false;

  constructor(server: SetupServer, log: Log) {
    this.#server = server;
    this.#log = log;
  }

  /** `isWanted`: the server still asks for it. Failures are logged: scripts and installs do not wait for it. */
  async turn(isWanted: boolean): Promise<void> {
    if (!isWanted) {
      if (this.#isRunning) this.#log("info", "setup: has ended");
      this.#isRunning = false;
      return;
    }
    try {
      if (!this.#isRunning) {
        await this.#server.startSetup();
        this.#log("info", "setup: is running");
        this.#isRunning = true;
      }
      for (const [i, item] of (await this.#server.setupItems()).entries()) this.#show(`${i} ${item.name}`, item);
    } catch (error) {
      this.#log("warn", `setup: ${(error as Error).message}; trying again`);
    }
  }

  #show(key: string, { name, status, error }: SetupItem): void {
    const state = error === null ? status : `${status}: ${error}`;
    if (this.#shown.get(key) === state) return;
    this.#shown.set(key, state);
    if (status !== "pending") this.#log(status === "failure" ? "warn" : "info", `setup: ${name}: ${state}`);
  }
}
