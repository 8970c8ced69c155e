// Results over a websocket, plain or in SockJS frames (docs/protocols/live-queries.md, Websocket). The client sends
// auth and select_campaign, then receives the same messages as on the event stream.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { versions } from "../../../api/paths.ts";
import { authenticate } from "../../accounts/sessions/auth.ts";
import { userStreams } from "../../accounts/sessions/streams.ts";
import type { Services, Viewer } from "../../platform/core/context.ts";
import { ApiError } from "../../platform/core/errors.ts";
import { placeOf } from "../../platform/core/http/place.ts";
import { callerOfRequest } from "../../platform/core/http/proxies.ts";
import { type StrangerCost, strangerBudgets, strangerCost } from "../../platform/core/http/strangers.ts";
import { tokenAllows } from "../../platform/core/http/token-scope.ts";
import { limit } from "../../platform/core/limits.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";
import { endByReader } from "./ending.ts";
import { follow } from "./follow.ts";
import { liveQueries } from "./hub.ts";
import { ownCampaign } from "./service.ts";
import { UnknownSockets } from "./unknown-sockets.ts";

export interface Sockets {
  /** Handles an upgrade request for one of its paths; returns false for other paths. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  close(): void;
}

export const sockets = limit({
  what: "websockets for results",
  max: 1_000,
  unit: "entries",
  per: "server",
  beyond: "Further ones are refused with 503 before they are opened.",
});
/** Clients send only a token and a campaign id. */
const MESSAGE_MAX = 16 * 1024;
const MESSAGES_MAX = 16;
/** Time limit (ms) for the message with the token, which clients send at once. */
const TOKEN_MS = 5_000;
/** Time limit (ms) for authentication and selection. */
const HELLO_MS = 15_000;
/** How long (ms) a client that was refused may take to close the connection. It has no place any more. */
const REFUSED_MS = 1_000;
const PING_MS = 25_000;
/** RFC 6455, section 7.4.1: the connection ended without a close frame. */
const BROKEN = 1006;

const raw = new Set(versions.map((version) => `/api/${version}/svc/results/websocket`));
/** `<server>/<session>/websocket`: both parts are chosen by the client and ignored. */
const sockJs = new RegExp(`^/api/(?:${versions.join("|")})/svc/results/[\\w-]{1,64}/[\\w-]{1,64}/websocket$`);

/** Encoding of messages. */
interface Framing {
  readonly opening: string | null;
  readonly heartbeat: string | null;
  closing(code: number, reason: string): string | null;
  frame(message: string): string;
  /** Extracts the messages from received text. */
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
      return (Array.isArray(value) ? value : [value]).map((frame) => (typeof frame === "string" ? frame : ""));
    } catch {
      // Invalid frames are rejected like unknown messages.
      return [""];
    }
  },
};

const mayRead = (user: Viewer): boolean =>
  maySomewhere(user, "queries:run") && tokenAllows(user, liveQueriesApi.stream) && !user.force_password_reset;

/** A client whose user is not known yet. */
interface Newcomer {
  readonly cost: StrangerCost;
  /** Frees its place. */
  readonly free: () => void;
}

export interface SocketTimes {
  /** Tests make it shorter. */
  readonly tokenMs?: number;
}

export function createSockets(services: Services, { tokenMs = TOKEN_MS }: SocketTimes = {}): Sockets {
  const { log } = services;
  const server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_MAX, perMessageDeflate: false });
  const open = new Set<WebSocket>();
  const unknown = new UnknownSockets();

  function serve(socket: WebSocket, framing: Framing, { cost, free }: Newcomer): void {
    const becomeKnown = () => {
      clearTimeout(tokenTimer);
      free();
    };
    const stop = new AbortController();
    let viewer: Viewer | null = null;
    let following: number | null = null;
    /** Whether this server closed the connection. In that case the query goes on, so that the reader can reconnect. */
    let isClosing = false;
    let closed = () => {};
    let messages = 0;
    let alive = true;
    /** Messages are handled one at a time, since the second may arrive before the first has been handled. */
    let turn: Promise<void> = Promise.resolve();

    const send = (type: string, data: unknown): Promise<void> =>
      new Promise((resolve, reject) =>
        socket.send(framing.frame(JSON.stringify({ type, data })), (error) => (error ? reject(error) : resolve())),
      );
    const close = (code: number, reason: string) => {
      isClosing = true;
      const last = framing.closing(code, reason);
      if (last !== null && socket.readyState === socket.OPEN) socket.send(last);
      socket.close(code, reason);
    };
    /** Refuses the client. Its place is free at once: clients that never close their side would keep all places. */
    const refuse = async (text: string) => {
      open.delete(socket);
      becomeKnown();
      setTimeout(() => socket.terminate(), REFUSED_MS).unref();
      await send("error", text);
      close(1008, text.slice(0, 100));
    };
    const tokenTimer = setTimeout(() => void refuse("no token arrived in time").catch(() => {}), tokenMs);
    const hello = setTimeout(() => void refuse("no request arrived in time").catch(() => {}), HELLO_MS);
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
        // An API token needs permission for the event stream.
        if (!user || !mayRead(user)) return refuse("unauthorized");
        try {
          closed = services.running.of(userStreams).open({
            viewer: user,
            kind: "websockets",
            allowed: mayRead,
            end: () => void refuse("unauthorized").catch(() => socket.terminate()),
          });
        } catch (error) {
          if (error instanceof ApiError) return refuse(error.message);
          throw error;
        }
        viewer = user;
        cost.prove();
        becomeKnown();
        return;
      }
      // Further messages on a running stream are ignored.
      if (following !== null) return;
      const id = data.campaign_id;
      if (type !== "select_campaign" || typeof id !== "number" || !Number.isSafeInteger(id))
        return refuse("expected select_campaign");
      try {
        await ownCampaign({ store: services.store, user: viewer }, id);
      } catch (error) {
        if (error instanceof ApiError) return refuse(`cannot find campaign for ID ${id}`);
        throw error;
      }
      following = id;
      clearTimeout(hello);
      void streamEvents(id).catch((err: unknown) => {
        if (!stop.signal.aborted) log.warn({ err, campaign_id: id }, "a results websocket ended early");
        socket.terminate();
      });
    }

    /** Waits for slow readers: at most one message is buffered. */
    async function streamEvents(id: number): Promise<void> {
      for await (const event of follow(services, id, { after: 0, signal: stop.signal, keepsOpen: true }))
        if (event.type !== "quiet") await send(event.type, event.data);
      if (services.running.of(liveQueries).isStopping()) close(1001, "the server is stopping");
      else close(1000, "finished");
    }

    /** A lost connection (no close frame) does not end the query: the reader may reconnect within a minute. */
    async function end(code: number): Promise<void> {
      if (following === null || isClosing || code === BROKEN || services.running.of(liveQueries).isStopping()) return;
      await endByReader(services, following);
    }

    open.add(socket);
    if (framing.opening !== null) socket.send(framing.opening);
    socket.on("pong", () => {
      alive = true;
    });
    socket.on("message", (data: RawData, binary: boolean) => {
      alive = true;
      const received = framing.read(data.toString());
      messages += received.length;
      if (messages > MESSAGES_MAX || binary) return socket.terminate();
      for (const message of received)
        turn = turn
          .then(() => take(message))
          .catch((err: unknown) => {
            log.warn({ err }, "a results websocket failed");
            socket.terminate();
          });
    });
    socket.on("error", () => socket.terminate());
    socket.on("close", (code) => {
      open.delete(socket);
      becomeKnown();
      clearTimeout(hello);
      clearInterval(pings);
      stop.abort();
      closed();
      void end(code).catch((err: unknown) =>
        log.warn(
          { err, campaign_id: following },
          "a live query whose reader left could not be ended now; it ends within a minute",
        ),
      );
    });
  }

  return {
    upgrade(req, socket, head) {
      const path = (req.url ?? "").split("?")[0]!;
      const framing = raw.has(path) ? plain : sockJs.test(path) ? framed : null;
      if (framing === null || req.headers.upgrade?.toLowerCase() !== "websocket") return false;
      const caller = callerOfRequest(services, req);
      const place = placeOf(caller.address);
      const isFull = open.size >= sockets.max || unknown.isFull(place);
      if (
        isFull ||
        services.running.of(strangerBudgets).isDeep(place) ||
        services.running.of(liveQueries).isStopping()
      ) {
        socket.end(
          "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 5\r\n\r\n",
        );
        return true;
      }
      socket.on("error", () => socket.destroy());
      const cost = strangerCost(services, caller);
      cost.accept();
      const free = unknown.add(place, () => socket.destroy());
      // The place is freed even if the handshake fails.
      socket.once("close", free);
      server.handleUpgrade(req, socket, head, (opened) => serve(opened, framing, { cost, free }));
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
    // Handled as an unknown message.
  }
  return { type: null, data: {} };
}
