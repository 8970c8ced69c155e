import { part } from "../running.ts";

interface Turn {
  begun: boolean;
  answer: Promise<unknown>;
}

/**
 * Shares expensive reads between concurrent callers. A caller that arrives while the same read is running waits for
 * the next one, which starts later: no result is older than its request, and only one read per key runs at a time.
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

  /** Number of reads that are running or waiting. */
  get size(): number {
    return this.#last.size;
  }
}

export const sharing = part("shared reads", () => new Sharing());
