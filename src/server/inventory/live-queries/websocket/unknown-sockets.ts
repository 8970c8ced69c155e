// The websockets whose user is not known yet: the token is in their first message. Strangers can open any number of them,
// so their places are few, and are not taken from those of users.
import { limit } from "../../../platform/core/limits.ts";

export const unknownSockets = {
  address: limit({
    what: "websockets for results that have not sent a token yet",
    max: 50,
    unit: "entries",
    per: "address",
    beyond: "Further ones are refused with 503 before they are opened.",
  }),
  all: limit({
    what: "websockets for results that have not sent a token yet, of all addresses",
    max: 300,
    unit: "entries",
    per: "server",
    beyond: "The oldest one of the address that has most is closed.",
  }),
};

interface Waiting {
  readonly end: () => void;
}

export class UnknownSockets {
  /** By address, oldest first. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  #count = 0;

  isFull(place: string): boolean {
    return (this.#waiting.get(place)?.size ?? 0) >= unknownSockets.address.max;
  }

  /** Returns the function that frees the place. `end`: closes the connection, whose place another one gets. */
  add(place: string, end: () => void): () => void {
    if (this.#count >= unknownSockets.all.max) this.#endOldest();
    const waiting: Waiting = { end };
    const ofPlace = this.#waiting.get(place) ?? new Set();
    this.#waiting.set(place, ofPlace.add(waiting));
    this.#count++;
    return () => this.#remove(place, waiting);
  }

  #remove(place: string, waiting: Waiting): void {
    const ofPlace = this.#waiting.get(place);
    if (!ofPlace?.delete(waiting)) return;
    this.#count--;
    if (ofPlace.size === 0) this.#waiting.delete(place);
  }

  #endOldest(): void {
    const [place, most] = [...this.#waiting].reduce((a, b) => (b[1].size > a[1].size ? b : a));
    for (const oldest of most) {
      this.#remove(place, oldest);
      oldest.end();
      return;
    }
  }
}
