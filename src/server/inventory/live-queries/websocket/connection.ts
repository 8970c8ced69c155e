// One websocket for results: the client sends auth and select_campaign, then receives the same messages as on the event
// stream.
import type { RawData, WebSocket } from "ws";
import { liveQueriesApi } from "../../../../api/inventory/live-queries.ts";
import { authenticate } from "../../../accounts/sessions/auth.ts";
import { userStreams } from "../../../accounts/sessions/streams.ts";
import type { Services, Viewer } from "../../../platform/core/context.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import type { StrangerCost } from "../../../platform/core/http/strangers.ts";
import { tokenAllows } from "../../../platform/core/http/token-scope.ts";
import { maySomewhere } from "../../../platform/core/security/access.ts";
import { endByReader } from "../ending.ts";
import { follow } from "../follow.ts";
import { liveQueries } from "../hub.ts";
import { ownCampaign } from "../service.ts";
import { type Framing, readClientMessage } from "./framing.ts";

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

const mayRead = (user: Viewer): boolean =>
  maySomewhere(user, "queries:run") && tokenAllows(user, liveQueriesApi.stream) && !user.force_password_reset;

/** A client whose user is not known yet. */
export interface Newcomer {
  readonly cost: StrangerCost;
  /** Frees its place. */
  readonly free: () => void;
}

export interface SocketTimes {
  /** Tests make it shorter. */
  readonly tokenMs?: number;
}

interface ConnectionOptions extends SocketTimes {
  readonly framing: Framing;
  readonly newcomer: Newcomer;
  /** The connections that count against the limit of the server. This one is in it until it is refused or closed. */
  readonly open: Set<WebSocket>;
}

export class SocketConnection {
  readonly #services: Services;
  readonly #socket: WebSocket;
  readonly #framing: Framing;
  readonly #newcomer: Newcomer;
  readonly #open: Set<WebSocket>;
  readonly #tokenTimer: NodeJS.Timeout;
  readonly #helloTimer: NodeJS.Timeout;
  readonly #pings: NodeJS.Timeout;
  readonly #stop = new AbortController();
  #viewer: Viewer | null = null;
  #campaignId: number | null = null;
  /** Whether this server closed the connection. In that case the query goes on, so that the reader can reconnect. */
  #isClosing = false;
  #endUserStream = () => {};
  #messageCount = 0;
  #isAlive = true;
  /** Messages are handled one at a time, since the second may arrive before the first has been handled. */
  #turn: Promise<void> = Promise.resolve();

  constructor(services: Services, socket: WebSocket, options: ConnectionOptions) {
    this.#services = services;
    this.#socket = socket;
    this.#framing = options.framing;
    this.#newcomer = options.newcomer;
    this.#open = options.open;
    this.#tokenTimer = this.#refuseAfter(options.tokenMs ?? TOKEN_MS, "no token arrived in time");
    this.#helloTimer = this.#refuseAfter(HELLO_MS, "no request arrived in time");
    this.#pings = setInterval(() => this.#ping(), PING_MS);
    this.#open.add(socket);
    if (this.#framing.opening !== null) socket.send(this.#framing.opening);
    socket.on("pong", () => {
      this.#isAlive = true;
    });
    socket.on("message", (data, isBinary) => this.#receive(data, isBinary));
    socket.on("error", () => socket.terminate());
    socket.on("close", (code) => this.#closed(code));
  }

  #refuseAfter(milliseconds: number, reason: string): NodeJS.Timeout {
    return setTimeout(() => void this.#refuse(reason).catch(() => {}), milliseconds);
  }

  /** The user is known, or the client was refused. */
  #freePlace(): void {
    clearTimeout(this.#tokenTimer);
    this.#newcomer.free();
  }

  #send(type: string, data: unknown): Promise<void> {
    const message = this.#framing.frame(JSON.stringify({ type, data }));
    return new Promise((resolve, reject) => this.#socket.send(message, (error) => (error ? reject(error) : resolve())));
  }

  #close(code: number, reason: string): void {
    this.#isClosing = true;
    const last = this.#framing.closing(code, reason);
    if (last !== null && this.#socket.readyState === this.#socket.OPEN) this.#socket.send(last);
    this.#socket.close(code, reason);
  }

  /** Refuses the client. Its place is free at once: clients that never close their side would keep all places. */
  async #refuse(reason: string): Promise<void> {
    this.#open.delete(this.#socket);
    this.#freePlace();
    setTimeout(() => this.#socket.terminate(), REFUSED_MS).unref();
    await this.#send("error", reason);
    this.#close(1008, reason.slice(0, 100));
  }

  #ping(): void {
    if (!this.#isAlive) {
      this.#socket.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket.ping();
    if (this.#framing.heartbeat !== null) this.#socket.send(this.#framing.heartbeat);
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#isAlive = true;
    const messages = this.#framing.read(data.toString());
    this.#messageCount += messages.length;
    if (this.#messageCount > MESSAGES_MAX || isBinary) {
      this.#socket.terminate();
      return;
    }
    for (const message of messages)
      this.#turn = this.#turn
        .then(() => this.#handleMessage(message))
        .catch((err: unknown) => {
          this.#services.log.warn({ err }, "a results websocket failed");
          this.#socket.terminate();
        });
  }

  async #handleMessage(text: string): Promise<void> {
    const { type, data } = readClientMessage(text);
    if (this.#viewer === null) return this.#signIn(type === "auth" ? data.token : null);
    // Further messages on a running stream are ignored.
    if (this.#campaignId !== null) return;
    const id = data.campaign_id;
    if (type !== "select_campaign" || typeof id !== "number" || !Number.isSafeInteger(id))
      return this.#refuse("expected select_campaign");
    await this.#selectCampaign(this.#viewer, id);
  }

  async #signIn(token: unknown): Promise<void> {
    const user = typeof token === "string" ? await authenticate(this.#services, `Bearer ${token}`) : null;
    // An API token needs permission for the event stream.
    if (!user || !mayRead(user)) return this.#refuse("unauthorized");
    try {
      this.#endUserStream = this.#services.running.of(userStreams).open({
        viewer: user,
        kind: "websockets",
        allowed: mayRead,
        end: () => void this.#refuse("unauthorized").catch(() => this.#socket.terminate()),
      });
    } catch (error) {
      if (error instanceof ApiError) return this.#refuse(error.message);
      throw error;
    }
    this.#viewer = user;
    this.#newcomer.cost.prove();
    this.#freePlace();
  }

  async #selectCampaign(user: Viewer, id: number): Promise<void> {
    try {
      await ownCampaign({ store: this.#services.store, user }, id);
    } catch (error) {
      if (error instanceof ApiError) return this.#refuse(`cannot find campaign for ID ${id}`);
      throw error;
    }
    this.#campaignId = id;
    clearTimeout(this.#helloTimer);
    void this.#streamEvents(id).catch((err: unknown) => {
      if (!this.#stop.signal.aborted)
        this.#services.log.warn({ err, campaign_id: id }, "a results websocket ended early");
      this.#socket.terminate();
    });
  }

  /** Waits for slow readers: at most one message is buffered. */
  async #streamEvents(id: number): Promise<void> {
    for await (const event of follow(this.#services, id, { after: 0, signal: this.#stop.signal, keepsOpen: true }))
      if (event.type !== "quiet") await this.#send(event.type, event.data);
    if (this.#isServerStopping()) this.#close(1001, "the server is stopping");
    else this.#close(1000, "finished");
  }

  #closed(code: number): void {
    this.#open.delete(this.#socket);
    this.#freePlace();
    clearTimeout(this.#helloTimer);
    clearInterval(this.#pings);
    this.#stop.abort();
    this.#endUserStream();
    void this.#endCampaign(code).catch((err: unknown) =>
      this.#services.log.warn(
        { err, campaign_id: this.#campaignId },
        "a live query whose reader left could not be ended now; it ends within a minute",
      ),
    );
  }

  /** A lost connection (no close frame) does not end the query: the reader may reconnect within a minute. */
  async #endCampaign(code: number): Promise<void> {
    if (this.#campaignId === null || this.#isClosing || code === BROKEN || this.#isServerStopping()) return;
    await endByReader(this.#services, this.#campaignId);
  }

  #isServerStopping(): boolean {
    return this.#services.running.of(liveQueries).isStopping();
  }
}
