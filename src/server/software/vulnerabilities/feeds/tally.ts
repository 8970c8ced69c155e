// How many entries of a feed cannot be read. Some may be left out; a file with more of them is damaged as a whole.
import { FeedError } from "./errors.ts";

const SHARE_MAX = 0.01;

export class Tally {
  #all = 0;
  #unreadable = 0;
  #first = "";

  /** Counts an entry. `name`: of an unreadable one, for the message. Returns whether it is readable. */
  note(isReadable: boolean, name: string): boolean {
    this.#all++;
    if (!isReadable) {
      this.#unreadable++;
      this.#first ||= name.slice(0, 100);
    }
    return isReadable;
  }

  /** At the end of the file: what was left out, or nothing. Throws if that is more than one entry in a hundred. */
  result(): string {
    if (this.#unreadable === 0) return "";
    const summary = `${this.#unreadable} of ${this.#all} entries cannot be read (the first: ${this.#first})`;
    if (this.#unreadable > this.#all * SHARE_MAX) throw new FeedError(summary);
    return `${summary} and were left out`;
  }
}
