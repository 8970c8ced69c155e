// The queues of the outbox, one per destination, as known to the sender.

export interface Line {
  readonly destination: string;
  /** A lower bound of the pending ids; null if nothing is pending. */
  from: number | null;
  /** Earliest time of the next attempt, in ms of the clock. */
  notBefore: number;
  /** Consecutive failed attempts. */
  failures: number;
  isBusy: boolean;
  /** Set when a notification that arrived during an attempt asks to skip the retry delay. */
  isUrgent: boolean;
}

export class Lines {
  readonly #lines = new Map<string, Line>();

  get(destination: string): Line {
    const existing = this.#lines.get(destination);
    if (existing) return existing;
    const line: Line = { destination, from: null, notBefore: 0, failures: 0, isBusy: false, isUrgent: false };
    this.#lines.set(destination, line);
    return line;
  }

  /** Records that the destination has pending rows, from this id on. */
  add(destination: string, id: number): Line {
    const line = this.get(destination);
    line.from = Math.min(line.from ?? id, id);
    return line;
  }

  /** Idle lines with pending rows, the earliest due first. Removes lines without any state. */
  waiting(): Line[] {
    const waiting: Line[] = [];
    for (const line of this.#lines.values())
      if (line.isBusy) continue;
      else if (line.from !== null) waiting.push(line);
      else if (line.failures === 0) this.#lines.delete(line.destination);
    return waiting.sort((a, b) => a.notBefore - b.notBefore);
  }
}
