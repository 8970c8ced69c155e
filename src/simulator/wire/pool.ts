import { Timer, type Wheel } from "../wheel.ts";
import {
  Connection,
  type ConnectionEvents,
  type Exchange,
  type FailureReason,
  type Origin,
  type TlsSettings,
  type WireRequest,
} from "./connection.ts";

/** Stock agents reopen a connection when it reaches this age (`tls_session_timeout`). */
const MAX_AGE_MS = 3_600_000;

/**
 * A server's queue for new connections is short (often 511). A connection that does not fit waits a second until its
 * SYN is repeated.
 */
const MAX_CONCURRENT_CONNECTS = 64;

class Job {
  readonly request: WireRequest;
  readonly done: (exchange: Exchange) => void;
  readonly timer: Timer;
  connection: Connection | null = null;
  retried = false;
  over = false;

  constructor(request: WireRequest, done: (exchange: Exchange) => void, expire: (job: Job) => void) {
    this.request = request;
    this.done = done;
    this.timer = new Timer(() => expire(this));
  }
}

/**
 * At most `limit` connections to one origin. With a limit of one it is the private connection of one agent thread.
 */
export class Pool {
  readonly #origin: Origin;
  readonly #tls: TlsSettings;
  readonly #wheel: Wheel;
  readonly #limit: number;
  readonly #idle: Connection[] = [];
  readonly #all = new Set<Connection>();
  #waiting: Job[] = [];
  #waitingAt = 0;
  #connecting = 0;
  readonly #events: ConnectionEvents;

  constructor(origin: Origin, tls: TlsSettings, wheel: Wheel, limit: number) {
    this.#origin = origin;
    this.#tls = tls;
    this.#wheel = wheel;
    this.#limit = limit;
    this.#events = { connected: () => this.#grown(), gone: (connection) => this.#forget(connection) };
  }

  get size(): number {
    return this.#all.size;
  }

  /** One timer covers waiting, connecting, TLS, sending and receiving, as in the agent. */
  exchange(request: WireRequest, timeoutMs: number): Promise<Exchange> {
    return new Promise((resolve) => {
      const job = new Job(request, resolve, this.#expire);
      this.#wheel.arm(job.timer, timeoutMs);
      this.#place(job);
    });
  }

  /**
   * Closes connections as a restarting server would. Requests in flight are repeated once by the agent's own rule.
   */
  reset(): void {
    for (const connection of [...this.#all]) connection.destroy();
  }

  /** Closes all connections. Requests that are in flight or waiting fail. */
  close(): void {
    const waiting = this.#waiting.slice(this.#waitingAt);
    this.#waiting = [];
    this.#waitingAt = 0;
    for (const job of waiting) this.#finish(job, failed("stopped"));
    for (const connection of [...this.#all]) connection.destroy("stopped");
  }

  #place(job: Job): void {
    let connection = this.#idle.pop();
    while (connection && (!connection.open || this.#wheel.now() - connection.openedAt > MAX_AGE_MS)) {
      connection.destroy();
      connection = this.#idle.pop();
    }
    if (connection) this.#run(job, connection);
    else if (this.#mayConnect()) this.#run(job, this.#connect());
    else this.#waiting.push(job);
  }

  #connect(): Connection {
    const connection = new Connection(this.#origin, this.#tls, this.#wheel.now(), this.#events);
    this.#all.add(connection);
    this.#connecting++;
    return connection;
  }

  #run(job: Job, connection: Connection): void {
    job.connection = connection;
    connection.send(job.request, (exchange) => this.#settled(job, connection, exchange));
  }

  #settled(job: Job, connection: Connection, exchange: Exchange): void {
    if (job.over) return;
    if (!exchange.ok && exchange.reason === "closed" && connection.served > 0 && !job.retried) {
      job.retried = true;
      this.#all.delete(connection);
      this.#run(job, this.#connect());
      return;
    }
    if (connection.open) this.#release(connection);
    this.#finish(job, exchange);
  }

  #finish(job: Job, exchange: Exchange): void {
    job.over = true;
    this.#wheel.disarm(job.timer);
    job.done(job.retried ? { ...exchange, sends: 2 } : exchange);
  }

  #release(connection: Connection): void {
    const job = this.#nextWaiting();
    if (job) this.#run(job, connection);
    else this.#idle.push(connection);
  }

  #nextWaiting(): Job | undefined {
    while (this.#waitingAt < this.#waiting.length) {
      const job = this.#waiting[this.#waitingAt++] as Job;
      if (!job.over) return job;
    }
    this.#waiting = [];
    this.#waitingAt = 0;
    return undefined;
  }

  readonly #expire = (job: Job): void => {
    job.over = true;
    job.connection?.destroy("timeout");
    job.done(failed("timeout"));
  };

  #mayConnect(): boolean {
    return this.#all.size < this.#limit && this.#connecting < MAX_CONCURRENT_CONNECTS;
  }

  #grown(): void {
    this.#connecting--;
    this.#serveWaiting();
  }

  #forget(connection: Connection): void {
    if (!connection.connected) this.#connecting--;
    this.#all.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#serveWaiting();
  }

  #serveWaiting(): void {
    while (this.#mayConnect()) {
      const job = this.#nextWaiting();
      if (!job) return;
      this.#run(job, this.#connect());
    }
  }
}

function failed(reason: FailureReason): Exchange {
  return { ok: false, reason, detail: reason };
}
