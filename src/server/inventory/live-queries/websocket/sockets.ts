// Results over a websocket, plain or in SockJS frames (docs/protocols/live-queries.md, Websocket).
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { versions } from "../../../../api/paths.ts";
import type { Services } from "../../../platform/core/context.ts";
import { placeOf } from "../../../platform/core/http/place.ts";
import { callerOfRequest } from "../../../platform/core/http/proxies.ts";
import { strangerBudgets, strangerCost } from "../../../platform/core/http/strangers.ts";
import { limit } from "../../../platform/core/limits.ts";
import { liveQueries } from "../hub.ts";
import { SocketConnection, type SocketTimes } from "./connection.ts";
import { type Framing, plain, sockJs } from "./framing.ts";
import { UnknownSockets } from "./unknown-sockets.ts";

export const sockets = limit({
  what: "websockets for results",
  max: 1_000,
  unit: "entries",
  per: "server",
  beyond: "Further ones are refused with 503 before they are opened.",
});
/** Clients send only a token and a campaign id. */
const MESSAGE_MAX = 16 * 1024;

const plainPaths = new Set(versions.map((version) => `/api/${version}/svc/results/websocket`));
/** `<server>/<session>/websocket`: both parts are chosen by the client and ignored. */
const sockJsPath = new RegExp(`^/api/(?:${versions.join("|")})/svc/results/[\\w-]{1,64}/[\\w-]{1,64}/websocket$`);

const framingOf = (path: string): Framing | null =>
  plainPaths.has(path) ? plain : sockJsPath.test(path) ? sockJs : null;

export class Sockets {
  readonly #services: Services;
  readonly #times: SocketTimes;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_MAX, perMessageDeflate: false });
  readonly #open = new Set<WebSocket>();
  readonly #unknown = new UnknownSockets();

  constructor(services: Services, times: SocketTimes = {}) {
    this.#services = services;
    this.#times = times;
  }

  /** Handles an upgrade request for one of its paths; returns false for other paths. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const framing = framingOf((req.url ?? "").split("?")[0]!);
    if (framing === null || req.headers.upgrade?.toLowerCase() !== "websocket") return false;
    const caller = callerOfRequest(this.#services, req);
    const place = placeOf(caller.address);
    if (!this.#hasRoom(place)) {
      socket.end(
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 5\r\n\r\n",
      );
      return true;
    }
    socket.on("error", () => socket.destroy());
    const cost = strangerCost(this.#services, caller);
    cost.accept();
    const free = this.#unknown.add(place, () => socket.destroy());
    // The place is freed even if the handshake fails.
    socket.once("close", free);
    const options = { ...this.#times, framing, newcomer: { cost, free }, open: this.#open };
    this.#server.handleUpgrade(
      req,
      socket,
      head,
      (opened) => void new SocketConnection(this.#services, opened, options),
    );
    return true;
  }

  close(): void {
    for (const socket of this.#open) socket.close(1001);
    setTimeout(() => {
      for (const socket of this.#open) socket.terminate();
    }, 500).unref();
    this.#server.close();
  }

  #hasRoom(place: string): boolean {
    const { running } = this.#services;
    return (
      this.#open.size < sockets.max &&
      !this.#unknown.isFull(place) &&
      !running.of(strangerBudgets).isDeep(place) &&
      !running.of(liveQueries).isStopping()
    );
  }
}
