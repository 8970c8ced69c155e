// Results over a websocket (part C), raw or in the frames of SockJS: auth, select_campaign, then the same messages as the event
// stream has.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { versions } from "../../api/endpoint.ts";
import { liveQueriesApi } from "../../api/live-queries.ts";
import { maySomewhere } from "../core/access.ts";
import type { Services, Viewer } from "../core/context.ts";
import { ApiError } from "../core/errors.ts";
import { tokenAllows } from "../core/token-scope.ts";
import { authenticate } from "../sessions/auth.ts";
import { follow } from "./follow.ts";
import { liveOf } from "./hub.ts";
import { ownCampaign } from "./service.ts";

export interface Sockets {
  /** Takes an upgrade of one of its paths; false: not for here. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  close(): void;
}

const SOCKETS_MAX = 1_000;
/** A token and the number of a campaign: nothing else is ever sent to the server. */
const MESSAGE_MAX = 16 * 1024;
const MESSAGES_MAX = 16;
/** Time to say who one is and what one wants. */
const HELLO_MS = 15_000;
const PING_MS = 25_000;

const raw = new Set(versions.map((version) => `/api/${version}/svc/results/websocket`));
/** `<server>/<session>/websocket`: both parts are the client's own, and of no use here. */
const sockJs = new RegExp(`^/api/(?:${versions.join("|")})/svc/results/[\\w-]{1,64}/[\\w-]{1,64}/websocket$`);

/** How messages are written on the wire. */
interface Framing {
  readonly opening: string | null;
  readonly heartbeat: string | null;
  closing(code: number, reason: string): string | null;
  frame(message: string): string;
  /** The messages in what was received. */
  read(text: string): string[];
}

const plain: Framing = {
  opening: null,
  heartbeat: null,
  closing: () => null,
  frame: (message) => message,
  read: (text) => [text],
};

/** SockJS protocol 0.3.3, section "Protocol and framing". */
const framed: Framing = {
  opening: "o",
  heartbeat: "h",
  closing: (code, reason) => `c${JSON.stringify([code, reason])}`,
  frame: (message) => `a${JSON.stringify([message])}`,
  read(text) {
    if (text === "") return [];
    try {
      const value: unknown = JSON.parse(text);
      return (Array.isArray(value) ? value : [value]).map((one) => (typeof one === "string" ? one : ""));
    } catch {
      // Not a message: refused like one that says nothing.
      return [""];
    }
  },
};

export function createSockets(services: Services): Sockets {
  const { log } = services;
  const server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_MAX, perMessageDeflate: false });
  const open = new Set<WebSocket>();

  function serve(socket: WebSocket, framing: Framing): void {
    const stop = new AbortController();
    let viewer: Viewer | null = null;
    let following = false;
    let messages = 0;
    let alive = true;
    /** One message after the other: the second may come before the first is looked up. */
    let turn: Promise<void> = Promise.resolve();

    const send = (type: string, data: unknown): Promise<void> =>
      new Promise((resolve, reject) =>
        socket.send(framing.frame(JSON.stringify({ type, data })), (error) => (error ? reject(error) : resolve())),
      );
    const close = (code: number, reason: string) => {
      const last = framing.closing(code, reason);
      if (last !== null && socket.readyState === socket.OPEN) socket.send(last);
      socket.close(code, reason);
    };
    const refuse = async (text: string) => {
      await send("error", text);
      close(1008, text.slice(0, 100));
    };
    const hello = setTimeout(() => void refuse("nothing was asked for in time").catch(() => {}), HELLO_MS);
    const pings = setInterval(() => {
      if (!alive) return socket.terminate();
      alive = false;
      socket.ping();
      if (framing.heartbeat !== null) socket.send(framing.heartbeat);
    }, PING_MS);

    async function take(text: string): Promise<void> {
      const { type, data } = readMessage(text);
      if (viewer === null) {
        const user =
          type === "auth" && typeof data.token === "string"
            ? await authenticate(services, `Bearer ${data.token}`)
            : null;
        // An API token that may not have the event stream may not have the same here.
        const allowed = user && maySomewhere(user, "queries:run") && tokenAllows(user, liveQueriesApi.stream);
        if (!allowed || user.force_password_reset) return refuse("unauthorized");
        viewer = user;
        return;
      }
      // What else comes on a stream that runs changes nothing.
      if (following) return;
      const id = data.campaign_id;
      if (type !== "select_campaign" || typeof id !== "number" || !Number.isSafeInteger(id))
        return refuse("expected select_campaign");
      try {
        await ownCampaign({ store: services.store, user: viewer }, id);
      } catch (error) {
        if (error instanceof ApiError) return refuse(`cannot find campaign for ID ${id}`);
        throw error;
      }
      following = true;
      clearTimeout(hello);
      void tell(id).catch((err: unknown) => {
        if (!stop.signal.aborted) log.warn({ err, campaign_id: id }, "a websocket of results ended early");
        socket.terminate();
      });
    }

    /** A slow reader is waited for: no more than one message is held for it. */
    async function tell(id: number): Promise<void> {
      for await (const event of follow(services, id, 0, stop.signal))
        if (event.type !== "quiet") await send(event.type, event.data);
      close(1000, "finished");
    }

    open.add(socket);
    if (framing.opening !== null) socket.send(framing.opening);
    socket.on("pong", () => {
      alive = true;
    });
    socket.on("message", (data: RawData, binary: boolean) => {
      alive = true;
      const told = framing.read(data.toString());
      messages += told.length;
      if (messages > MESSAGES_MAX || binary) return socket.terminate();
      for (const message of told)
        turn = turn
          .then(() => take(message))
          .catch((err: unknown) => {
            log.warn({ err }, "a websocket of results failed");
            socket.terminate();
          });
    });
    socket.on("error", () => socket.terminate());
    socket.on("close", () => {
      open.delete(socket);
      clearTimeout(hello);
      clearInterval(pings);
      stop.abort();
    });
  }

  return {
    upgrade(req, socket, head) {
      const path = (req.url ?? "").split("?")[0]!;
      const framing = raw.has(path) ? plain : sockJs.test(path) ? framed : null;
      if (framing === null || req.headers.upgrade?.toLowerCase() !== "websocket") return false;
      if (open.size >= SOCKETS_MAX || liveOf(services).isStopping()) {
        socket.end(
          "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 5\r\n\r\n",
        );
        return true;
      }
      socket.on("error", () => socket.destroy());
      server.handleUpgrade(req, socket, head, (opened) => serve(opened, framing));
      return true;
    },
    close() {
      for (const socket of open) socket.close(1001);
      setTimeout(() => {
        for (const socket of open) socket.terminate();
      }, 500).unref();
      server.close();
    },
  };
}

function readMessage(text: string): { type: unknown; data: Record<string, unknown> } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "type" in value) {
      const data = "data" in value && typeof value.data === "object" && value.data !== null ? value.data : {};
      return { type: value.type, data: data as Record<string, unknown> };
    }
  } catch {
    // Refused as what it is: not one of the messages.
  }
  return { type: null, data: {} };
}
