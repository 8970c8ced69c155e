/** Delivers messages within this process, which is the only server with this engine. */
export class Messages {
  readonly #listeners = new Map<string, Set<(payload: string) => void>>();
  readonly #onError: (error: Error) => void;

  constructor(onError: (error: Error) => void) {
    this.#onError = onError;
  }

  send(channel: string, payload: string): void {
    for (const listener of [...(this.#listeners.get(channel) ?? [])]) {
      try {
        listener(payload);
      } catch (error) {
        this.#onError(error as Error);
      }
    }
  }

  listen(channel: string, listener: (payload: string) => void): () => void {
    // Wrapped in a new function for each call, because the same listener may be registered twice.
    const wrapped = (payload: string) => listener(payload);
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    listeners.add(wrapped);
    return () => void listeners.delete(wrapped);
  }

  clear(): void {
    this.#listeners.clear();
  }
}

const PAYLOAD_LIMIT = 7_000;

export function checkPayload(payload: string): void {
  if (Buffer.byteLength(payload) > PAYLOAD_LIMIT) throw new Error(`a message can have at most ${PAYLOAD_LIMIT} bytes`);
}
