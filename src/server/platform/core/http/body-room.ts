// Memory for request bodies that are being received or processed. It is counted by the bytes received, not by the
// announced length, and divided by kind of sender: unauthenticated senders can use up neither the memory of
// authenticated ones nor all of their own kind's.

import { type Limit, limit } from "../limits.ts";
import { part } from "../running.ts";
import { placeOf } from "./place.ts";

/**
 * How much is known about a sender: nothing (stranger); a host with a valid key has used its address before
 * (familiar); or it has sent a valid key or token (proved).
 */
export type Trust = "stranger" | "familiar" | "proved";

export interface Sender {
  readonly trust: Trust;
  /** The owner of the share: an address, or the owner of the key. */
  readonly name: string;
}

export type Cut = "no room" | "too slow";

const MiB = 1024 * 1024;

/** Bodies of one kind of sender that are received or processed at the same time: of all together, and of each. */
function room(senders: string, per: Limit["per"], { all, each }: { readonly all: number; readonly each: number }) {
  const shared = {
    unit: "bytes",
    beyond:
      "Unfinished uploads are cut off, the largest first; a message for which there is no room is refused with 503.",
  } as const;
  return {
    all: limit({ ...shared, what: `bodies of ${senders} in memory, together`, max: all, per: "server" }),
    each: limit({ ...shared, what: `bodies of ${senders} in memory`, max: each, per }),
  };
}

/**
 * The largest body of an agent is 100 MB, and that of a device, which proves its identity with the whole message, 10 MiB.
 */
const rooms = {
  stranger: room("callers whose identity is not proved", "address", { all: 48 * MiB, each: 12 * MiB }),
  familiar: room("such callers at addresses from which hosts have called", "address", {
    all: 128 * MiB,
    each: 112 * MiB,
  }),
  proved: room("hosts and users", "host", { all: 208 * MiB, each: 128 * MiB }),
} satisfies Readonly<Record<Trust, unknown>>;

export const roomLimits: readonly Limit[] = Object.values(rooms).flatMap(({ all, each }) => [all, each]);

/**
 * An upload is aborted if fewer bytes than this arrive in a period. The whole request may take a minute (listen.ts).
 */
const STRETCH_MS = 10_000;
const STRETCH_BYTES = 10 * 1024;
/** Maximum number of familiar addresses to remember. */
const FAMILIAR_MAX = 50_000;

/** The memory of one body. */
export class Claim {
  readonly #room: BodyRoom;
  readonly #onCut: (why: Cut) => void;
  sender: Sender;
  bytes = 0;
  isReceived = false;
  /** When the current period began, and how many bytes have arrived in it. */
  since = performance.now();
  arrived = 0;

  constructor(room: BodyRoom, sender: Sender, onCut: (why: Cut) => void) {
    this.#room = room;
    this.sender = sender;
    this.#onCut = onCut;
  }

  /** Reserves memory for more bytes. Returns false if there is none; the claim is then closed. */
  add(bytes: number): boolean {
    return this.#room.reserve(this, bytes);
  }

  /** Moves the claim to the share of a sender who has now authenticated. */
  prove(sender: Sender): void {
    this.#room.move(this, sender);
  }

  /** The body is complete, so it can no longer be cut off. */
  received(): void {
    this.isReceived = true;
  }

  release(): void {
    this.#room.close(this);
  }

  cut(why: Cut): void {
    this.#onCut(why);
  }
}

export class BodyRoom {
  readonly #open = new Set<Claim>();
  readonly #taken: Record<Trust, number> = { stranger: 0, familiar: 0, proved: 0 };
  readonly #shares = new Map<string, number>();
  readonly #familiar = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * `onCut` is called if the upload is aborted, because it is the largest one when memory runs short, or because it
   * is too slow.
   */
  claim(sender: Sender, onCut: (why: Cut) => void): Claim {
    const claim = new Claim(this, sender, onCut);
    this.#open.add(claim);
    return claim;
  }

  reserve(claim: Claim, bytes: number): boolean {
    if (!this.#open.has(claim)) return false;
    if (!this.#fits(claim, bytes)) {
      this.close(claim);
      return false;
    }
    claim.bytes += bytes;
    claim.arrived += bytes;
    this.#count(claim.sender, bytes);
    return true;
  }

  move(claim: Claim, sender: Sender): void {
    if (!this.#open.has(claim)) return;
    this.#count(claim.sender, -claim.bytes);
    claim.sender = sender;
    const hasRoom = this.#fits(claim, claim.bytes);
    this.#count(sender, claim.bytes);
    if (!hasRoom) this.#cut(claim, "no room");
  }

  close(claim: Claim): void {
    if (this.#open.delete(claim)) this.#count(claim.sender, -claim.bytes);
  }

  /** Records that a host with a valid key has used this address. */
  meet(address: string): void {
    const place = placeOf(address);
    const familiar = this.#familiar;
    familiar.delete(place);
    familiar.add(place);
    if (familiar.size > FAMILIAR_MAX) for (const oldest of familiar) if (familiar.delete(oldest)) break;
  }

  /** The sender for a caller that has not authenticated yet. */
  byAddress(address: string): Sender {
    const name = placeOf(address);
    return { trust: this.#familiar.has(name) ? "familiar" : "stranger", name };
  }

  /** Bytes that are currently reserved. */
  taken(trust: Trust): number {
    return this.#taken[trust];
  }

  startSweeping(): void {
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Aborts uploads that are too slow. */
  sweep(now = performance.now()): void {
    for (const claim of [...this.#open]) {
      if (claim.isReceived || now - claim.since < STRETCH_MS) continue;
      if (claim.arrived < STRETCH_BYTES) this.#cut(claim, "too slow");
      claim.since = now;
      claim.arrived = 0;
    }
  }

  #cut(claim: Claim, why: Cut): void {
    this.close(claim);
    claim.cut(why);
  }

  #count(sender: Sender, bytes: number): void {
    this.#taken[sender.trust] += bytes;
    const key = shareOf(sender);
    const left = (this.#shares.get(key) ?? 0) + bytes;
    if (left > 0) this.#shares.set(key, left);
    else this.#shares.delete(key);
  }

  #fits(claim: Claim, bytes: number): boolean {
    const { sender } = claim;
    const share = (this.#shares.get(shareOf(sender)) ?? 0) + bytes;
    return share <= rooms[sender.trust].each.max && this.#makeRoom(claim, bytes);
  }

  /** Makes room by aborting larger unfinished uploads, largest first. Returns false if this upload is the largest. */
  #makeRoom(claim: Claim, bytes: number): boolean {
    const { trust } = claim.sender;
    while (this.#taken[trust] + bytes > rooms[trust].all.max) {
      let largest = claim;
      for (const other of this.#open)
        if (other.sender.trust === trust && !other.isReceived && other.bytes > largest.bytes) largest = other;
      if (largest === claim) return false;
      this.#cut(largest, "no room");
    }
    return true;
  }
}

const shareOf = ({ trust, name }: Sender): string => `${trust} ${name}`;

const SWEEP_MS = 1_000;

export const bodyRoom = part("memory for bodies", () => {
  const room = new BodyRoom();
  room.startSweeping();
  return room;
});
