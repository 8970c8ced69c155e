// Gives the server a key of this machine's disk when it asks for one.
import type { Log } from "../options.ts";
import { askPerson, type Question } from "./ask.ts";
import { addServerKey, type LuksKey, NoKey, systemDisk } from "./luks.ts";

export interface KeyServer {
  deliverLuks(data: LuksKey | { readonly client_error: string }): Promise<void>;
}

interface Parts {
  readonly server: KeyServer;
  readonly log: Log;
  /** Ends a question that nobody has answered. */
  readonly signal: AbortSignal;
  /** Null: nobody has answered. */
  readonly ask?: (question: Question) => Promise<string | null>;
  /** Null: the system's disk is not encrypted. */
  readonly disk?: () => Promise<string | null>;
}

export class DiskKeyEscrow {
  readonly #parts: Required<Parts>;
  #running: Promise<void> | null = null;

  constructor(parts: Parts) {
    const ask = (question: Question) => askPerson(question, parts.signal);
    this.#parts = { ask, disk: systemDisk, ...parts };
  }

  /** Begins, unless it runs: the server asks until it has a key or a reason. Scripts do not wait for the person. */
  start(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    const { server, log, ask, disk } = this.#parts;
    try {
      const device = await disk();
      if (device === null) throw new NoKey("the disk of the system is not encrypted with LUKS");
      const { key, remove } = await addServerKey(device, ask);
      await server.deliverLuks(key).catch(async (error: Error) => {
        // A key that nobody has must not stay.
        await remove();
        throw error;
      });
      log("info", `disk encryption: the server has a key for ${device}, in slot ${key.key_slot}`);
    } catch (error) {
      const { message } = error as Error;
      log("warn", `disk encryption: ${message}`);
      if (error instanceof NoKey) await server.deliverLuks({ client_error: message }).catch(() => {});
    }
  }
}
