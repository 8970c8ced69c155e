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

export interface PushSession {
  /** Never throws: without an answer, the status is 0. */
  send(push: Push): Promise<PushAnswer>;
  /** False after an error or the service's GOAWAY: the next push needs another session. */
  readonly isUsable: boolean;
  close(): void;
}

/** Until the service has announced its own limit. */
const FIRST_STREAMS = 100;
const MOST_STREAMS = 1_000;
const ANSWER_TIMEOUT = seconds(30);
/** How often an idle session is checked: routers forget connections that are silent for some minutes. */
const PING_EVERY = minutes(1);
const PING_TIMEOUT = seconds(10);
const MOST_REASON = 4096;

export function pushSession(session: ClientHttp2Session): PushSession {
  let isUsable = true;
  let open = 0;
  let limit = FIRST_STREAMS;
  const waiting: (() => void)[] = [];

  const next = () => {
    while (open < limit && waiting.length > 0) {
      open++;
      waiting.shift()!();
    }
  };
  const end = () => {
    isUsable = false;
    clearInterval(pings);
    // Pushes that wait are answered by `send`, which finds the session closed.
    limit = Number.POSITIVE_INFINITY;
    next();
  };
  session.on("remoteSettings", ({ maxConcurrentStreams = MOST_STREAMS }) => {
    limit = Math.max(1, Math.min(maxConcurrentStreams, MOST_STREAMS));
    next();
  });
  session.on("error", end);
  session.on("close", end);
  // Streams that are open may still be answered.
  session.on("goaway", () => {
    end();
    session.close();
  });

  const ping = () => {
    if (open > 0 || !isUsable) return;
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
  };
  const pings = setInterval(ping, PING_EVERY);
  pings.unref();

  return {
    get isUsable() {
      return isUsable && !session.closed && !session.destroyed;
    },
    async send(push) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        next();
      });
      try {
        return isUsable ? await request(session, push) : unanswered("the session has ended");
      } finally {
        open--;
        next();
      }
    },
    close() {
      end();
      session.close();
      session.unref();
    },
  };
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
      if (text.length < MOST_REASON) text += chunk;
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
