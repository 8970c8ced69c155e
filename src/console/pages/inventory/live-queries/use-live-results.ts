import { useEffect, useState } from "react";
import {
  type LiveResult,
  type LiveStatus,
  type LiveTotals,
  liveQueriesApi,
} from "../../../../api/inventory/live-queries.ts";
import { ApiCallError } from "../../../../client/errors.ts";
import type { ServerEvent } from "../../../../client/events.ts";
import { client, isTemporary, request } from "../../../api.ts";
import { LiveResults } from "./live-results.ts";

/** What has arrived is drawn at most this often. */
const DRAW_MS = 250;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 15_000;

interface LiveState {
  readonly results: LiveResults;
  /** Changes with the results, which are changed in place. */
  readonly version: number;
  /** Why results no longer arrive. */
  readonly error: unknown;
  /** Whether the connection broke, and is made again. */
  readonly isInterrupted: boolean;
}

/**
 * The results of a live query while they arrive. After a reload they are read from the start; after a broken
 * connection the stream continues with the first result that is missing.
 */
export function useLiveResults(id: string): LiveState {
  const [state, setState] = useState<LiveState>(initialState);
  useEffect(() => {
    const reader = new Reader(id, setState);
    void reader.read();
    return () => reader.stop();
  }, [id]);
  return state;
}

const initialState = (): LiveState => ({ results: new LiveResults(), version: 0, error: null, isInterrupted: false });

class Reader {
  readonly #id: string;
  readonly #onChange: (state: LiveState) => void;
  readonly #stop = new AbortController();
  #state = initialState();
  #lastId = "";
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(id: string, onChange: (state: LiveState) => void) {
    this.#id = id;
    this.#onChange = onChange;
    onChange(this.#state);
  }

  async read(): Promise<void> {
    for (let delay = RETRY_MS; !this.#stop.signal.aborted; delay = Math.min(2 * delay, RETRY_MAX_MS)) {
      const before = this.#lastId;
      try {
        if (await request(() => this.#readStream())) return this.#draw();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (error instanceof StreamError || (error instanceof ApiCallError && !isTemporary(error)))
          return this.#set({ error, isInterrupted: false });
      }
      if (this.#lastId !== before) delay = RETRY_MS;
      this.#set({ isInterrupted: true });
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }

  stop(): void {
    this.#stop.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Whether the stream was read to the end of the query. */
  async #readStream(): Promise<boolean> {
    const { signal } = this.#stop;
    const options = this.#lastId === "" ? { signal } : { signal, lastEventId: this.#lastId };
    for await (const event of client.events(liveQueriesApi.stream, { params: { id: this.#id } }, options)) {
      this.#add(event);
      if (event.id !== "") this.#lastId = event.id;
      if (this.#state.isInterrupted) this.#set({ isInterrupted: false });
      this.#timer ??= setTimeout(() => this.#draw(), DRAW_MS);
    }
    return this.#state.results.status?.status === "finished";
  }

  #add({ event, data }: ServerEvent): void {
    const { results } = this.#state;
    if (event === "totals") results.totals = JSON.parse(data) as LiveTotals;
    else if (event === "status") results.status = JSON.parse(data) as LiveStatus;
    else if (event === "result") results.add(JSON.parse(data) as LiveResult);
    else if (event === "error") throw new StreamError(String(JSON.parse(data)));
  }

  #draw(): void {
    this.#timer = null;
    this.#set({});
  }

  #set(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change, version: this.#state.version + 1 };
    if (!this.#stop.signal.aborted) this.#onChange(this.#state);
  }
}

/** An error that the server sent as the last event. */
class StreamError extends Error {}
