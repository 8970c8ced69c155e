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

export interface Claim {
  /** Reserves memory for more bytes. Returns false if there is none; the claim is then closed. */
  add(bytes: number): boolean;
  /** Moves the claim to the share of a sender who has now authenticated. */
  prove(sender: Sender): void;
  /** The body is complete, so it can no longer be cut off. */
  received(): void;
  release(): void;
}

export interface BodyRoom {
  /**
   * `onCut` is called if the upload is aborted, because it is the largest one when memory runs short, or because it
   * is too slow.
   */
  claim(sender: Sender, onCut: (why: Cut) => void): Claim;
  /** Records that a host with a valid key has used this address. */
  meet(address: string): void;
  /** The sender for a caller that has not authenticated yet. */
  byAddress(address: string): Sender;
  /** Bytes that are currently reserved. */
  taken(trust: Trust): number;
  /** Aborts uploads that are too slow. Called once a second. */
  sweep(now?: number): void;
}

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

interface Open {
  sender: Sender;
  bytes: number;
  isReceived: boolean;
  since: number;
  arrived: number;
  readonly cut: (why: Cut) => void;
}

export function createBodyRoom(): BodyRoom {
  const open = new Set<Open>();
  const taken: Record<Trust, number> = { stranger: 0, familiar: 0, proved: 0 };
  const shares = new Map<string, number>();
  const familiar = new Set<string>();

  const shareOf = ({ trust, name }: Sender): string => `${trust} ${name}`;

  function count(sender: Sender, bytes: number): void {
    taken[sender.trust] += bytes;
    const key = shareOf(sender);
    const left = (shares.get(key) ?? 0) + bytes;
    if (left > 0) shares.set(key, left);
    else shares.delete(key);
  }

  function close(claim: Open): void {
    if (open.delete(claim)) count(claim.sender, -claim.bytes);
  }

  function end(claim: Open, why: Cut): void {
    close(claim);
    claim.cut(why);
  }

  /** Makes room by aborting larger unfinished uploads, largest first. Returns false if this upload is the largest. */
  function makeRoom(mine: Open, bytes: number): boolean {
    const { trust } = mine.sender;
    while (taken[trust] + bytes > rooms[trust].all.max) {
      let largest = mine;
      for (const body of open)
        if (body.sender.trust === trust && !body.isReceived && body.bytes > largest.bytes) largest = body;
      if (largest === mine) return false;
      end(largest, "no room");
    }
    return true;
  }

  const fits = (mine: Open, bytes: number): boolean =>
    (shares.get(shareOf(mine.sender)) ?? 0) + bytes <= rooms[mine.sender.trust].each.max && makeRoom(mine, bytes);

  return {
    claim(sender, onCut) {
      const mine: Open = { sender, bytes: 0, isReceived: false, since: performance.now(), arrived: 0, cut: onCut };
      open.add(mine);
      return {
        add(bytes) {
          if (!open.has(mine)) return false;
          if (!fits(mine, bytes)) {
            close(mine);
            return false;
          }
          mine.bytes += bytes;
          mine.arrived += bytes;
          count(mine.sender, bytes);
          return true;
        },
        prove(proved) {
          if (!open.has(mine)) return;
          count(mine.sender, -mine.bytes);
          mine.sender = proved;
          const hasRoom = fits(mine, mine.bytes);
          count(proved, mine.bytes);
          if (!hasRoom) end(mine, "no room");
        },
        received() {
          mine.isReceived = true;
        },
        release: () => close(mine),
      };
    },
    meet(address) {
      const place = placeOf(address);
      familiar.delete(place);
      familiar.add(place);
      if (familiar.size > FAMILIAR_MAX) for (const oldest of familiar) if (familiar.delete(oldest)) break;
    },
    byAddress(address) {
      const name = placeOf(address);
      return { trust: familiar.has(name) ? "familiar" : "stranger", name };
    },
    taken: (trust) => taken[trust],
    sweep(now = performance.now()) {
      for (const body of [...open]) {
        if (body.isReceived || now - body.since < STRETCH_MS) continue;
        if (body.arrived < STRETCH_BYTES) end(body, "too slow");
        body.since = now;
        body.arrived = 0;
      }
    },
  };
}

const SWEEP_MS = 1_000;

export const bodyRoom = part("memory for bodies", () => {
  const room = createBodyRoom();
  const timer = setInterval(() => room.sweep(), SWEEP_MS);
  timer.unref();
  return { ...room, stop: () => clearInterval(timer) };
});
