// Requests as bytes on a socket, for input that no HTTP client would send.
import { connect, type Socket } from "node:net";

export interface RawReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A connection that reads replies one after another, by Content-Length or chunks. */
export class Wire {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    const over = () => {
      this.#ended = true;
      this.#wake();
    };
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    socket.on("error", over);
    socket.on("close", over);
  }

  static async open(url: string): Promise<Wire> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new Wire(socket);
  }

  get isClosed(): boolean {
    return this.#ended;
  }

  write(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** The next reply; null if the connection ended before it was complete. `bodyless`: it is the reply to a HEAD. */
  async next({ bodyless = false } = {}): Promise<RawReply | null> {
    const head = await this.#until(() => this.#received.indexOf("\r\n\r\n"));
    if (head === null) return null;
    const [first = "", ...lines] = this.#received.subarray(0, head).toString("latin1").split("\r\n");
    this.#received = this.#received.subarray(head + 4);
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(first.split(" ")[1]);
    if (status === 100) return this.next({ bodyless });
    if (bodyless || status === 204) return { status, headers, body: "" };
    const body = headers.get("transfer-encoding") === "chunked" ? await this.#chunks() : await this.#sized(headers);
    return body === null ? null : { status, headers, body };
  }

  close(): void {
    this.socket.destroy();
  }

  async #sized(headers: ReadonlyMap<string, string>): Promise<string | null> {
    const length = Number(headers.get("content-length") ?? 0);
    return this.#take(length);
  }

  async #chunks(): Promise<string | null> {
    for (let body = ""; ; ) {
      const end = await this.#until(() => this.#received.indexOf("\r\n"));
      if (end === null) return null;
      const size = Number.parseInt(this.#received.subarray(0, end).toString(), 16);
      this.#received = this.#received.subarray(end + 2);
      const chunk = await this.#take(size);
      if (chunk === null || (await this.#take(2)) === null) return null;
      if (size === 0) return body;
      body += chunk;
    }
  }

  async #take(length: number): Promise<string | null> {
    if ((await this.#until(() => (this.#received.length >= length ? length : -1))) === null) return null;
    const text = this.#received.subarray(0, length).toString("utf8");
    this.#received = this.#received.subarray(length);
    return text;
  }

  async #until(found: () => number): Promise<number | null> {
    for (;;) {
      const at = found();
      if (at >= 0) return at;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

export interface RawRequest {
  readonly method?: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export function render({ method = "GET", target, headers = {}, body = "" }: RawRequest): Buffer {
  const all: Record<string, string> = {
    Host: "svc.example.com",
    ...(method === "POST" || method === "PATCH" ? { "Content-Type": "application/json" } : {}),
    ...(body.length > 0 ? { "Content-Length": String(Buffer.byteLength(body)) } : {}),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${head.join("")}\r\n`), Buffer.from(body)]);
}

/** One request on its own connection. */
export async function exchange(url: string, request: RawRequest): Promise<RawReply | null> {
  const wire = await Wire.open(url);
  try {
    wire.write(render(request));
    return await wire.next({ bodyless: request.method === "HEAD" });
  } finally {
    wire.close();
  }
}

/**
 * Sends a head and then that many bytes of a body, as fast as they are accepted; returns the reply, however early it
 * is.
 */
export async function flood(url: string, request: RawRequest, bytes: number, piece: Buffer): Promise<RawReply | null> {
  const wire = await Wire.open(url);
  try {
    wire.write(render({ ...request, headers: { ...request.headers, "Content-Length": String(bytes) } }));
    let isAnswered = false;
    const answer = wire.next().then((reply) => {
      isAnswered = true;
      return reply;
    });
    for (let sent = 0; sent < bytes && !isAnswered && !wire.isClosed; sent += piece.length) {
      if (wire.socket.write(piece.subarray(0, Math.min(piece.length, bytes - sent)))) continue;
      const drained = new Promise((done) => wire.socket.once("drain", done));
      await Promise.race([drained, answer]);
    }
    return await answer;
  } finally {
    wire.close();
  }
}
