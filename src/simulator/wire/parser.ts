/** The stock agent's library default: a larger reply is a failure. */
export const MAX_BODY = 8 * 1024 * 1024;
const MAX_HEAD = 64 * 1024;

export type Answer = { status: number; location: string | null; body: string; keepAlive: boolean; bytes: number };

type State = "head" | "length" | "close" | "chunk-size" | "chunk-data" | "chunk-end" | "trailer";

/**
 * Parses HTTP/1.1 responses (RFC 9112) of one connection: content-length, chunked and read-until-close bodies, split
 * at any position. `push` returns the reply when it is complete. The chunk may be overwritten after the call. Throws
 * for bytes that are not HTTP.
 */
export class ResponseParser {
  #state: State = "head";
  #head = "";
  #line = "";
  #bytesLeft = 0;
  #size = 0;
  #parts: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #location: string | null = null;
  #keepAlive = true;

  /** True between replies. Bytes that arrive then belong to no request. */
  get idle(): boolean {
    return this.#bytes === 0;
  }

  push(chunk: Buffer): Answer | null {
    this.#bytes += chunk.length;
    let at = 0;
    while (at < chunk.length) {
      if (this.#state === "head") {
        at = this.#readHead(chunk, at);
        if (this.#emptyBody) return this.#finish("", chunk, at);
      } else if (this.#state === "length" || this.#state === "chunk-data") {
        const end = Math.min(chunk.length, at + this.#bytesLeft);
        if (this.#state === "length" && this.#bytesLeft === end - at && this.#parts.length === 0) {
          return this.#finish(chunk.toString("utf8", at, end), chunk, end);
        }
        this.#keepChunk(chunk, at, end);
        this.#bytesLeft -= end - at;
        at = end;
        if (this.#bytesLeft === 0) {
          if (this.#state === "length") return this.#finish(this.#joined(), chunk, at);
          this.#state = "chunk-end";
        }
      } else if (this.#state === "close") {
        this.#keepChunk(chunk, at, chunk.length);
        at = chunk.length;
      } else {
        at = this.#readLine(chunk, at);
        if (at < 0) return null;
        if (this.#endLine()) return this.#finish(this.#joined(), chunk, at);
      }
    }
    return null;
  }

  get #emptyBody(): boolean {
    return this.#state === "length" && this.#bytesLeft === 0;
  }

  /** Called when the peer has closed: the end of a read-until-close body, otherwise an incomplete reply. */
  close(): Answer | null {
    return this.#state === "close" ? this.#finish(this.#joined(), Buffer.alloc(0), 0) : null;
  }

  #readHead(chunk: Buffer, at: number): number {
    const before = this.#head.length;
    this.#head += chunk.toString("latin1", at);
    const end = this.#head.indexOf("\r\n\r\n", Math.max(0, before - 3));
    if (end < 0) {
      if (this.#head.length > MAX_HEAD) throw new Error("response head too large");
      return chunk.length;
    }
    const next = at + (end + 4 - before);
    const head = this.#head.slice(0, end + 2);
    this.#head = "";
    this.#readFields(head);
    return next;
  }

  #readFields(head: string): void {
    if (!head.startsWith("HTTP/1.")) throw new Error("not an HTTP/1 response");
    this.#status = Number.parseInt(head.slice(9, 12), 10);
    if (!(this.#status >= 100)) throw new Error("bad status line");
    if (this.#status < 200) return;

    const lower = head.toLowerCase();
    const connection = field(lower, "connection");
    this.#keepAlive = head.startsWith("HTTP/1.1") ? connection !== "close" : connection === "keep-alive";
    this.#location = this.#status >= 300 && this.#status < 400 ? fieldOf(head, lower, "location") : null;
    const length = field(lower, "content-length");
    if (this.#status === 204 || this.#status === 304) {
      this.#state = "length";
      this.#bytesLeft = 0;
    } else if (field(lower, "transfer-encoding")?.endsWith("chunked")) {
      this.#state = "chunk-size";
    } else if (length !== null) {
      if (!/^\d{1,15}$/.test(length)) throw new Error("bad content-length");
      this.#bytesLeft = Number(length);
      if (this.#bytesLeft > MAX_BODY) throw new Error("body too large");
      this.#state = "length";
    } else {
      this.#state = "close";
      this.#keepAlive = false;
    }
  }

  /** Appends to `this.line` up to the end of the line. -1 if the chunk ended first. */
  #readLine(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(10, at);
    this.#line += chunk.toString("latin1", at, end < 0 ? chunk.length : end);
    if (this.#line.length > MAX_HEAD) throw new Error("line too long");
    return end < 0 ? -1 : end + 1;
  }

  /** Processes the complete line. Returns true if it was the last one of the body. */
  #endLine(): boolean {
    const line = this.#line.replace(/\r$/, "");
    this.#line = "";
    if (this.#state === "trailer") return line === "";
    if (this.#state === "chunk-end") {
      if (line !== "") throw new Error("chunk does not end with its size");
      this.#state = "chunk-size";
      return false;
    }
    const size = /^([0-9a-f]{1,8})\s*(;.*)?$/i.exec(line);
    if (!size) throw new Error("bad chunk size");
    this.#bytesLeft = Number.parseInt(size[1] as string, 16);
    if (this.#size + this.#bytesLeft > MAX_BODY) throw new Error("body too large");
    this.#state = this.#bytesLeft === 0 ? "trailer" : "chunk-data";
    return false;
  }

  #keepChunk(chunk: Buffer, from: number, to: number): void {
    this.#size += to - from;
    if (this.#size > MAX_BODY) throw new Error("body too large");
    // A copy, because the connection reuses its read buffer.
    this.#parts.push(Buffer.from(chunk.subarray(from, to)));
  }

  #joined(): string {
    return this.#parts.length === 1 ? this.#parts[0]!.toString() : Buffer.concat(this.#parts).toString();
  }

  #finish(body: string, chunk: Buffer, at: number): Answer {
    const answer = {
      status: this.#status,
      location: this.#location,
      body,
      // Bytes after the reply belong to no request, so the connection is not used again.
      keepAlive: this.#keepAlive && at === chunk.length,
      bytes: this.#bytes,
    };
    this.#state = "head";
    this.#head = "";
    this.#parts = [];
    this.#size = 0;
    this.#bytes = 0;
    return answer;
  }
}

function field(lower: string, name: string): string | null {
  return fieldOf(lower, lower, name);
}

function fieldOf(head: string, lower: string, name: string): string | null {
  const mark = `\r\n${name}:`;
  const start = lower.indexOf(mark);
  if (start < 0) return null;
  return head.slice(start + mark.length, head.indexOf("\r\n", start + mark.length)).trim();
}
