// Stops a server without an error for its clients.
//  1. Every answer has `Connection: close`, and new connections are still accepted, for the grace.
//  2. New requests wait until no connection has come for a moment, and then the listener is closed. Clients that wait
//     for an answer open no connections meanwhile; the kernel would reset those that it has accepted but not passed on.
//  3. All requests are answered. Idle connections are closed; what is left at the time limit is cut.
import { wait } from "../core/concurrency/wait.ts";
import type { Connections } from "./connections.ts";
import { QUIET_MAX_MS } from "./quiet.ts";

export interface Drain {
  /** How long connections are still accepted. */
  readonly graceMs: number;
  /** How long, after that, requests in progress may take. */
  readonly limitMs: number;
  /** Ends the drain: all connections are closed at once. */
  readonly hurry?: AbortSignal | undefined;
  /** Ends answers that would continue for as long as their clients listen. */
  readonly endStreams?: () => void;
}

export interface DrainResult {
  /** Answers since the drain began. */
  readonly answered: number;
  /** Connections closed between two requests. */
  readonly idle: number;
  /** Requests whose connections were closed before they were answered. */
  readonly cut: number;
}

/** A client whose previous request is longer ago than this is between two polls rather than between two requests. */
const IDLE_MS = 300;
const SWEEP_MS = 25;
/** New requests wait no longer than this for the listener to be closed. */
const HELD_MAX_MS = 2 * QUIET_MAX_MS;
/** Sockets report that they are closed in the next turns of the event loop. */
const CLOSED_MS = 1_000;

/** `stopAccepting` resolves when the listener is closed. */
export async function drain(
  connections: Connections,
  stopAccepting: (hurry?: AbortSignal) => Promise<void>,
  { graceMs, limitMs, hurry, endStreams }: Drain,
): Promise<DrainResult> {
  connections.announce();
  const announced = performance.now();
  await wait(graceMs, hurry);
  const until = performance.now() + limitMs;
  connections.hold();
  const closed = new AbortController();
  const closing = stopAccepting(hurry).then(() => closed.abort());
  // Ends with the other: a timer that is left would keep the process running.
  const held = wait(HELD_MAX_MS, closed.signal, hurry);
  await Promise.race([closing, held]);
  connections.release();
  endStreams?.();
  let idle = 0;
  while (!(closed.signal.aborted && connections.size === 0) && performance.now() < until && !hurry?.aborted) {
    if (performance.now() > announced + IDLE_MS) idle += await connections.closeIdle(IDLE_MS);
    await wait(SWEEP_MS, hurry);
  }
  const cut = connections.cut();
  const closedBy = performance.now() + CLOSED_MS;
  while (connections.size > 0 && performance.now() < closedBy) await wait(SWEEP_MS);
  return { answered: connections.answered, idle, cut };
}
