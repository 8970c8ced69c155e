// Messages between servers. One session listens for all channels of this process. A process delivers its own messages
// to itself right after the commit, without waiting for Postgres, so that a client that is notified of a change finds
// it here.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { name, textOf } from "../sql.ts";
import { connectClient, destroy, type PoolLog } from "./pool.ts";
import type { Watchdog } from "./watchdog.ts";

interface Listener {
  readonly channel: string;
  readonly onMessage: (payload: string) => void;
  readonly onReset: (() => void) | undefined;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** Interval of the queries that detect a session that died silently (a cut cable, a stopped server). */
const ASK_EVERY_MS = 15_000;

/** Message format: the sender, its message number and the payload. */
const ENVELOPE = /^([0-9a-f]{12}) (\d+) /;

export class Listening {
  readonly #url: string;
  readonly #log: PoolLog | undefined;
  readonly #watchdog: Watchdog;
  readonly #listeners = new Set<Listener>();
  #client: pg.Client | null = null;
  #connecting: Promise<void> | null = null;
  #asking: NodeJS.Timeout | undefined;
  #stopped = false;
  readonly #self = randomBytes(6).toString("hex");
  #sent = 0;
  /** Numbers of own messages that already arrived by one of the two ways, so that the second copy is ignored. */
  readonly #heard = new Set<number>();

  constructor(url: string, log: PoolLog | undefined, watchdog: Watchdog) {
    this.#url = url;
    this.#log = log;
    this.#watchdog = watchdog;
  }

  async listen(
    channel: string,
    onMessage: (payload: string) => void,
    onReset?: () => void,
  ): Promise<() => Promise<void>> {
    const listener: Listener = { channel, onMessage, onReset };
    const isNew = ![...this.#listeners].some((each) => each.channel === channel);
    this.#listeners.add(listener);
    try {
      if (!this.#client) await this.#connect();
      else if (isNew) await this.#client.query(`LISTEN ${quote(channel)}`);
    } catch (error) {
      this.#listeners.delete(listener);
      throw error;
    }
    return async () => {
      this.#listeners.delete(listener);
      if ([...this.#listeners].some((each) => each.channel === channel)) return;
      await this.#client?.query(`UNLISTEN ${quote(channel)}`).catch(() => undefined);
    };
  }

  /** Wraps the payload in its envelope, to be sent in the same transaction as the change. */
  seal(payload: string): string {
    this.#sent++;
    return `${this.#self} ${this.#sent} ${payload}`;
  }

  /** Delivers a wrapped message to the listeners of this process, once. */
  deliver(channel: string, sealed: string): void {
    const listeners = [...this.#listeners].filter((each) => each.channel === channel);
    if (listeners.length === 0) return;
    const [envelope = "", sender, number] = ENVELOPE.exec(sealed) ?? [];
    if (sender === this.#self) {
      if (this.#heard.delete(Number(number))) return;
      this.#heard.add(Number(number));
    }
    for (const { onMessage } of listeners) this.#guarded(() => onMessage(sealed.slice(envelope.length)));
  }

  close(): void {
    this.#stopped = true;
    this.#listeners.clear();
    clearInterval(this.#asking);
    if (this.#client) destroy(this.#client);
    this.#client = null;
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #open(): Promise<void> {
    const client = await connectClient(this.#url, { watchdog: this.#watchdog });
    const lost = () => {
      if (this.#client !== client) return;
      this.#client = null;
      clearInterval(this.#asking);
      if (!this.#stopped) void this.#reconnect();
    };
    client.on("notification", ({ channel, payload }) => this.deliver(channel, payload ?? ""));
    client.on("end", lost);
    client.on("error", lost);
    try {
      // Set before LISTEN: a channel that is added meanwhile is either in the set or uses the new client.
      this.#client = client;
      const channels = new Set([...this.#listeners].map((each) => each.channel));
      for (const channel of channels) await client.query(`LISTEN ${quote(channel)}`);
      if (this.#stopped) throw new Error("the store is closed");
    } catch (error) {
      this.#client = null;
      destroy(client);
      throw error;
    }
    this.#asking = setInterval(() => void this.#ask(client), ASK_EVERY_MS);
    this.#asking.unref();
  }

  async #ask(client: pg.Client): Promise<void> {
    const answered = client.query("SELECT 1").then(
      () => true,
      () => false,
    );
    const late = new Promise<boolean>((done) => setTimeout(() => done(false), ASK_EVERY_MS - 1000).unref());
    if (!(await Promise.race([answered, late]))) destroy(client);
  }

  async #reconnect(): Promise<void> {
    this.#log?.warn({}, "lost the database session that listens for messages; connecting again");
    for (
      let pause = FIRST_PAUSE_MS;
      !this.#stopped && this.#listeners.size > 0;
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    ) {
      await new Promise((done) => setTimeout(done, pause * (0.5 + Math.random() / 2)).unref());
      try {
        if (!this.#stopped && !this.#client) await this.#connect();
        break;
      } catch {
        // Retried after a longer pause.
      }
    }
    if (this.#stopped) return;
    this.#heard.clear();
    for (const { onReset } of this.#listeners) this.#guarded(() => onReset?.());
  }

  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#log?.warn({ err: error }, "a listener failed");
    }
  }
}

const quote = (channel: string): string => textOf(name(channel));
