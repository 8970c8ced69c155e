import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";
import { type Answer, ResponseParser } from "./parser.ts";

export type FailureReason = "connect" | "timeout" | "closed" | "bad answer" | "redirect" | "stopped";
/** `sends` is 2 if the request was repeated after a broken connection: the server may have processed both. */
export type Exchange = { sends?: number } & (
  | { ok: true; answer: Answer }
  | { ok: false; reason: FailureReason; detail: string }
);

export type Origin = { tls: boolean; host: string; port: number };
export type TlsSettings = { context?: SecureContext; insecure?: boolean };
export type WireRequest = { head: string; body: string | Buffer };

export type ConnectionEvents = { connected(): void; gone(connection: Connection): void };

/** A keep-alive connection with at most one request in flight, like that of each thread of a stock agent. */
export class Connection {
  readonly openedAt: number;
  readonly #socket: Socket;
  readonly #parser = new ResponseParser();
  #done: ((exchange: Exchange) => void) | null = null;
  connected = false;
  #failure = "connection closed";
  #on: ConnectionEvents | null;
  /** The number of finished exchanges. A request is repeated only if its connection has served another one before. */
  served = 0;
  open = true;

  constructor(origin: Origin, tls: TlsSettings, now: number, on: ConnectionEvents) {
    this.openedAt = now;
    this.#on = on;
    this.#socket = origin.tls ? this.#openTls(origin, tls) : this.#openTcp(origin);
    this.#socket.setNoDelay(true);
    this.#socket.on("error", (error) => {
      this.#failure = error.message || String((error as NodeJS.ErrnoException).code);
    });
    this.#socket.on("end", () => this.#ended());
    this.#socket.on("close", () => this.#gone());
  }

  send(request: WireRequest, done: (exchange: Exchange) => void): void {
    this.#done = done;
    if (typeof request.body === "string") this.#socket.write(request.head + request.body, "utf8");
    else {
      this.#socket.cork();
      this.#socket.write(request.head, "latin1");
      this.#socket.write(request.body);
      this.#socket.uncork();
    }
  }

  /** Closes the connection and fails the exchange on it. */
  destroy(reason: FailureReason = "closed"): void {
    if (!this.open) return;
    this.open = false;
    this.#socket.destroy();
    this.#finish({ ok: false, reason, detail: reason });
    this.#leave();
  }

  #openTcp(origin: Origin): Socket {
    // All plain connections share one read buffer: the parser copies what it must keep before the next read.
    const onread = {
      buffer: READ_BUFFER,
      callback: (length: number, buffer: Uint8Array) => {
        this.#received((buffer as Buffer).subarray(0, length));
        return true;
      },
    };
    const socket = connectTcp({ host: origin.host, port: origin.port, onread });
    socket.once("connect", () => this.#established());
    return socket;
  }

  #openTls(origin: Origin, tls: TlsSettings): Socket {
    const socket = connectTls({
      host: origin.host,
      port: origin.port,
      secureContext: tls.context,
      rejectUnauthorized: !tls.insecure,
      servername: /^[\d.]+$|:/.test(origin.host) ? "" : origin.host,
      minVersion: "TLSv1.2",
    });
    socket.once("secureConnect", () => this.#established());
    socket.on("data", (chunk: Buffer) => this.#received(chunk));
    return socket;
  }

  #established(): void {
    this.connected = true;
    this.#on?.connected();
  }

  #received(chunk: Buffer): void {
    if (!this.#done) {
      this.destroy();
      return;
    }
    try {
      const answer = this.#parser.push(chunk);
      if (answer) this.#answered(answer);
    } catch (error) {
      this.open = false;
      this.#socket.destroy();
      this.#leave();
      this.#finish({ ok: false, reason: "bad answer", detail: (error as Error).message });
    }
  }

  #answered(answer: Answer): void {
    this.served++;
    if (!answer.keepAlive) {
      this.open = false;
      this.#socket.destroy();
      this.#leave();
    }
    this.#finish({ ok: true, answer });
  }

  #ended(): void {
    const answer = this.#done ? this.#parser.close() : null;
    if (answer) this.#answered(answer);
    else this.destroy();
  }

  #gone(): void {
    this.open = false;
    this.#finish({ ok: false, reason: this.connected ? "closed" : "connect", detail: this.#failure });
    this.#leave();
  }

  #finish(exchange: Exchange): void {
    const done = this.#done;
    this.#done = null;
    done?.(exchange);
  }

  #leave(): void {
    const on = this.#on;
    this.#on = null;
    on?.gone(this);
  }
}

const READ_BUFFER = Buffer.allocUnsafe(64 * 1024);
