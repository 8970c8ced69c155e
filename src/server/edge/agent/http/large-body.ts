import type { IncomingMessage } from "node:http";
import type { BodyRoom, Claim, Cut, Sender } from "../../../platform/core/http/body-room.ts";

/** Maximum number of bytes of an oversized body that is acknowledged; beyond them the connection is closed. */
const DRAIN_MAX = 512 * 1024 * 1024;

interface Limits {
  readonly sender: Sender;
  /** Resolves once the sender's key has been looked up. */
  readonly proved: Promise<Sender | null> | undefined;
  readonly cap: number;
  /** Whether an oversized body of a known host is acknowledged after it was read and discarded. */
  readonly isAcknowledged: boolean;
}

/**
 * A body that arrives in several chunks. It is dropped if it is over the limit or there is no memory budget. Slow bodies
 * are disconnected.
 */
export class LargeBody {
  dropped: "oversize" | "no room" | null = null;
  /** Agents do not read a reply before they have sent the whole body. */
  #isReadToEnd: boolean;
  readonly #req: IncomingMessage;
  readonly #cap: number;
  readonly #claim: Claim;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(req: IncomingMessage, room: BodyRoom, { sender, proved, cap, isAcknowledged }: Limits) {
    this.#req = req;
    this.#cap = cap;
    this.#isReadToEnd = isAcknowledged && (sender.trust === "proved" || proved !== undefined);
    this.#claim = room.claim(sender, (why) => this.#cut(why));
    void proved?.then((provedSender) => {
      if (provedSender === null) this.#isReadToEnd = false;
      else this.#claim.prove(provedSender);
    });
    // Releases the budget if the connection closes early.
    req.once("close", () => {
      if (!req.readableEnded) this.#drop("no room");
    });
    if (Number(req.headers["content-length"] ?? 0) > cap) this.#drop("oversize");
  }

  push(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.dropped !== null) {
      if (this.#size > this.#cap + DRAIN_MAX) this.#req.destroy();
      return;
    }
    if (this.#size > this.#cap) this.#drop("oversize");
    else if (this.#claim.add(chunk.length)) this.#chunks.push(chunk);
    else this.#drop("no room");
  }

  /** Whether the reply can be sent without the rest of the body. */
  isRefused(): boolean {
    return this.dropped === "no room" || (this.dropped === "oversize" && !this.#isReadToEnd);
  }

  takeBytes(): Buffer {
    this.#claim.received();
    const bytes = Buffer.concat(this.#chunks, this.#size);
    this.#chunks = [];
    return bytes;
  }

  release(): void {
    this.#claim.release();
  }

  #cut(why: Cut): void {
    this.#drop("no room");
    if (why === "too slow") this.#req.destroy();
  }

  #drop(why: "oversize" | "no room"): void {
    this.dropped = why;
    this.#chunks = [];
    this.release();
  }
}
