// What the sender knows of destinations, and which of them have their turn.

export interface Line {
  readonly destination: string;
  /** The least id that may be waiting; null when nothing is. */
  from: number | null;
  /** Not before this, in the clock's milliseconds. */
  notBefore: number;
  /** Tries in a row that failed. */
  failures: number;
  isBusy: boolean;
  /** Told while it was busy not to wait for its retry. */
  isUrgent: boolean;
}

export class Lines {
  private readonly lines = new Map<string, Line>();

  get(destination: string): Line {
    const known = this.lines.get(destination);
    if (known) return known;
    const made: Line = { destination, from: null, notBefore: 0, failures: 0, isBusy: false, isUrgent: false };
    this.lines.set(destination, made);
    return made;
  }

  /** Rows of the destination wait, none with an id less than this that was not told of before. */
  tell(destination: string, id: number): Line {
    const line = this.get(destination);
    line.from = Math.min(line.from ?? id, id);
    return line;
  }

  /** Lines that have work, and nobody at it, the one that may go first in front. Others are forgotten where nothing is known of them. */
  waiting(): Line[] {
    const waiting: Line[] = [];
    for (const line of this.lines.values())
      if (line.isBusy) continue;
      else if (line.from !== null) waiting.push(line);
      else if (line.failures === 0) this.lines.delete(line.destination);
    return waiting.sort((a, b) => a.notBefore - b.notBefore);
  }
}
