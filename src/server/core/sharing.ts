import type { Services } from "./context.ts";

interface Turn {
  begun: boolean;
  answer: Promise<unknown>;
}

/**
 * Costly reads that many callers ask for at once. Who asks while the same read runs waits for the next one, which begins after all of
 * them asked: no answer is older than its question, and at most one of a kind runs at a time.
 */
export class Sharing {
  readonly #last = new Map<string, Turn>();

  run<T>(key: string, read: () => Promise<T>): Promise<T> {
    const last = this.#last.get(key);
    if (last && !last.begun) return last.answer as Promise<T>;
    const turn: Turn = { begun: last === undefined, answer: Promise.resolve() };
    const begin = () => {
      turn.begun = true;
      return read();
    };
    const answer = last ? last.answer.then(begin, begin) : begin();
    turn.answer = answer;
    this.#last.set(key, turn);
    const end = () => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    answer.then(end, end);
    return answer;
  }

  /** Reads that run or wait. */
  get size(): number {
    return this.#last.size;
  }
}

/** One per server: the configuration reader is the same object in the services and in every context made of them. */
const servers = new WeakMap<Services["config"], Sharing>();

export function sharing({ config }: Pick<Services, "config">): Sharing {
  const known = servers.get(config) ?? new Sharing();
  servers.set(config, known);
  return known;
}
