// One port for several worker processes. The primary process accepts the connections and passes them to the workers in
// turns, so that it can close the listener when none of them has been lost: at that moment no connection waits in the
// kernel, and all that were accepted are on their way to a worker.
import type { Worker } from "node:cluster";
import { createServer, type Server, type Socket } from "node:net";
import { BACKLOG, listenError } from "./listen-error.ts";
import { type Arrivals, quiet } from "./quiet.ts";

/** From a worker: it serves connections. */
const READY = "ready";
/** From a worker that stops: it serves connections that it receives, but no longer answers requests. */
const HOLDING = "holding";
/** Message to a worker: it receives no more connections. */
const LEFT = "left";
const CONNECTION = "connection";

export class SharedPort implements Arrivals {
  accepted = 0;
  lastAccepted = Number.NEGATIVE_INFINITY;
  readonly #server: Server;
  readonly #address: { readonly host: string; readonly port: number };
  readonly #failed: (error: Error) => void;
  #ready: Worker[] = [];
  readonly #holding = new Set<Worker>();
  /** Connections on their way to a worker. */
  readonly #passing = new Map<Worker, Set<Socket>>();
  /** Connections accepted while no worker was ready. */
  #waiting: Socket[] = [];
  #turn = 0;
  #state: "new" | "listening" | "stopping" | "closed" = "new";

  /** `failed`: the port is not available. */
  constructor(address: { readonly host: string; readonly port: number }, failed: (error: Error) => void) {
    this.#address = address;
    this.#failed = failed;
    this.#server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) => {
      this.accepted++;
      this.lastAccepted = performance.now();
      socket.on("error", () => socket.destroy());
      this.#give(socket);
    });
  }

  /** Handles a message of a worker. */
  received(worker: Worker, message: unknown): void {
    if (message === READY) this.#add(worker);
    if (message === HOLDING) this.#hold(worker);
  }

  /** The worker has ended: another one receives the connections that have not reached it. */
  remove(worker: Worker): void {
    this.#ready = this.#ready.filter((other) => other !== worker);
    this.#holding.delete(worker);
    const lost = this.#passing.get(worker) ?? [];
    this.#passing.delete(worker);
    for (const socket of lost) this.#give(socket);
    this.#closeWhenHeld();
  }

  /** All workers have been asked to stop: the port is closed when each of them has reported that it is ready for that. */
  stop(): void {
    this.#state = this.#state === "listening" ? "stopping" : "closed";
    this.#closeWhenHeld();
  }

  #add(worker: Worker): void {
    this.#ready.push(worker);
    this.#passing.set(worker, new Set());
    for (const socket of this.#waiting.splice(0)) this.#give(socket);
    if (this.#state !== "new") return;
    this.#state = "listening";
    this.#server.on("error", (error) => this.#failed(listenError(error, this.#address.host, this.#address.port)));
    this.#server.listen({ ...this.#address, backlog: BACKLOG });
  }

  #hold(worker: Worker): void {
    if (this.#state === "stopping") {
      this.#holding.add(worker);
      this.#closeWhenHeld();
    } else {
      // The worker stops alone, and the others take its share; or the port is closed already.
      this.#ready = this.#ready.filter((other) => other !== worker);
      leave(worker);
    }
  }

  #closeWhenHeld(): void {
    if (this.#state !== "stopping" || this.#ready.some((worker) => !this.#holding.has(worker))) return;
    this.#state = "closed";
    void quiet(this).then(() => {
      this.#server.close();
      for (const worker of this.#holding) leave(worker);
    });
  }

  #give(socket: Socket): void {
    const worker = this.#ready[this.#turn++ % this.#ready.length];
    if (worker === undefined) return void this.#waiting.push(socket);
    const passing = this.#passing.get(worker);
    passing?.add(socket);
    worker.send(CONNECTION, socket, (error) => {
      // After a failure, the process has ended or is about to.
      if (error === null) passing?.delete(socket);
    });
  }
}

/** Messages arrive in the order in which they are sent: after the connections. */
function leave(worker: Worker): void {
  if (worker.isConnected()) worker.send(LEFT, () => {});
}

/** In a worker: passes connections from the primary process to `server`. */
export function receiveConnections(server: Server): void {
  process.on("message", (message, socket) => {
    // Without a socket, the client has closed the connection on the way.
    if (message !== CONNECTION || socket === undefined) return;
    // Connections that the server accepts itself have this too.
    (socket as Socket).allowHalfOpen = true;
    server.emit("connection", socket);
  });
}

/** In a worker: requests connections. */
export const requestConnections = (): void => void process.send?.(READY);

/** In a worker: resolves when it receives no more connections. */
export function leavePort(): Promise<void> {
  return new Promise((resolve) => {
    process.on("message", (message) => message === LEFT && resolve());
    process.once("disconnect", resolve);
    process.send?.(HOLDING);
  });
}
