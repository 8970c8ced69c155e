// One HTTP/2 session to the push service, for as long as it lasts. All pushes of one certificate share it.
import { type ClientHttp2Session, constants } from "node:http2";
import { minutes, seconds } from "../../../platform/core/clock.ts";
import { type PushAnswer, unanswered } from "./answers.ts";

export interface Push {
  /** Hexadecimal. */
  readonly token: string;
  readonly topic: string;
  readonly magic: string;
  /** Seconds since 1970: the service drops the push if the device is not reachable until then. */
  readonly expiration: number;
}

/** Until the service has announced its own limit. */
const FIRST_STREAMS = 100;
const MAX_STREAMS = 1_000;
const ANSWER_TIMEOUT = seconds(30);
/** How often an idle session is checked: routers forget connections that are silent for some minutes. */
const PING_EVERY = minutes(1);
const PING_TIMEOUT = seconds(10);
const MAX_REASON_CHARACTERS = 4096;

export class PushSession {
  readonly #session: ClientHttp2Session;
  readonly #pings: NodeJS.Timeout;
  readonly #waiting: (() => void)[] = [];
  #isUsable = true;
  #open = 0;
  #limit = FIRST_STREAMS;

  constructor(session: ClientHttp2Session) {
    this.#session = session;
    this.#pings = setInterval(() => this.#ping(), PING_EVERY).unref();
    session.on("remoteSettings", ({ maxConcurrentStreams = MAX_STREAMS }) => {
      this.#limit = Math.max(1, Math.min(maxConcurrentStreams, MAX_STREAMS));
      this.#startWaiting();
    });
    session.on("error", () => this.#end());
    session.on("close", () => this.#end());
    // Streams that are open may still be answered.
    session.on("goaway", () => {
      this.#end();
      session.close();
    });
  }

  /** False after an error or the service's GOAWAY: the next push needs another session. */
  get isUsable(): boolean {
    return this.#isUsable && !this.#session.closed && !this.#session.destroyed;
  }

  /** Never throws: without an answer, the status is 0. */
  async send(push: Push): Promise<PushAnswer> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#startWaiting();
    });
    try {
      return this.#isUsable ? await request(this.#session, push) : unanswered("the session has ended");
    } finally {
      this.#open--;
      this.#startWaiting();
    }
  }

  close(): void {
    this.#end();
    this.#session.close();
    this.#session.unref();
  }

  #startWaiting(): void {
    while (this.#open < this.#limit && this.#waiting.length > 0) {
      this.#open++;
      this.#waiting.shift()!();
    }
  }

  #end(): void {
    this.#isUsable = false;
    clearInterval(this.#pings);
    // Pushes that wait are answered by `send`, which finds the session closed.
    this.#limit = Number.POSITIVE_INFINITY;
    this.#startWaiting();
  }

  #ping(): void {
    if (this.#open > 0 || !this.#isUsable) return;
    const session = this.#session;
    const timeout = setTimeout(
      () => session.destroy(new Error("the push service does not answer pings")),
      PING_TIMEOUT,
    );
    timeout.unref();
    const isSent = session.ping((error) => {
      clearTimeout(timeout);
      if (error) session.destroy();
    });
    if (!isSent) session.destroy();
  }
}

function request(session: ClientHttp2Session, { token, topic, magic, expiration }: Push): Promise<PushAnswer> {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": `/3/device/${token}`,
      "apns-topic": topic,
      "apns-push-type": "mdm",
      "apns-priority": "10",
      "apns-expiration": String(expiration),
    });
    let status = 0;
    let text = "";
    stream.setEncoding("utf8");
    stream.setTimeout(ANSWER_TIMEOUT, () => stream.close(constants.NGHTTP2_CANCEL));
    stream.on("response", (headers) => {
      status = Number(headers[":status"]);
    });
    stream.on("data", (chunk: string) => {
      if (text.length < MAX_REASON_CHARACTERS) text += chunk;
    });
    stream.on("error", () => {});
    stream.on("close", () => resolve(status === 0 ? unanswered("no answer") : { status, ...reasonIn(text) }));
    stream.end(JSON.stringify({ mdm: magic }));
  });
}

/** The body of an answer other than 200: `{"reason": "Unregistered", "timestamp": 1790000000000}`. */
function reasonIn(text: string): Pick<PushAnswer, "reason" | "since"> {
  try {
    const { reason, timestamp } = JSON.parse(text) as { reason?: unknown; timestamp?: unknown };
    return {
      reason: typeof reason === "string" ? reason : "",
      since: typeof timestamp === "number" ? timestamp : null,
    };
  } catch {
    return { reason: "", since: null };
  }
}
