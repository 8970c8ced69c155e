// Finds the host that sends a request, by its node key.

import { type AgentReply, busy, failure, nodeInvalid } from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";
import { type BodyRoom, bodyRoom, type Sender } from "../../../platform/core/http/body-room.ts";
import type { Caller } from "../../../platform/core/http/proxies.ts";
import { FailureLimit } from "../../../platform/rate-limits/failures.ts";
import type { Load } from "../http/load.ts";
import { KEY_MAX, keyInHeader, keyNamedBy } from "../http/sender.ts";
import type { HostCache } from "./cache.ts";
import type { SeenBuffer } from "./seen.ts";
import type { HostState } from "./state.ts";

export interface FirstBytes extends Caller {
  readonly first: Buffer;
  readonly encoding: string | undefined;
  readonly authorization: string | undefined;
}

export type HandledReply = AgentReply | Promise<AgentReply>;

/** Lookups of unknown node keys per address and minute. Restarts cause none, since the store knows the hosts' keys. */
const UNKNOWN_KEYS_A_MINUTE = 1_000;

interface Deps {
  readonly cache: HostCache;
  readonly seen: SeenBuffer;
  readonly load: Load;
}

export class Senders {
  readonly #services: Services;
  readonly #cache: HostCache;
  readonly #seen: SeenBuffer;
  readonly #load: Load;
  readonly #room: BodyRoom;
  readonly #unknownKeys: FailureLimit;

  constructor(services: Services, { cache, seen, load }: Deps) {
    this.#services = services;
    this.#cache = cache;
    this.#seen = seen;
    this.#load = load;
    this.#room = services.running.of(bodyRoom);
    this.#unknownKeys = new FailureLimit(services, { scope: "node keys", most: UNKNOWN_KEYS_A_MINUTE });
  }

  /** The budget to charge a body to, from its first bytes. `proved` resolves once its key has been looked up. */
  senderOf({ first, encoding, authorization, ...caller }: FirstBytes): {
    readonly sender: Sender;
    readonly proved?: Promise<Sender | null>;
  } {
    const key = keyInHeader(authorization) || (keyNamedBy(first, encoding) ?? "");
    const state = key === "" ? undefined : this.#cache.cached(key);
    if (state !== undefined) return { sender: proven(state) };
    const sender = this.#room.byAddress(caller.address);
    if (key === "" || key.length > KEY_MAX || this.#load.isFull()) return { sender };
    const proved = this.#cache.find(key).then(
      (host) => {
        if (host !== null) return proven(host);
        this.#unknownKeys.fail(caller);
        return null;
      },
      () => null,
    );
    return { sender, proved };
  }

  /** The reply of `replyTo` for the host of the key, or the refusal of an unknown key. */
  replyToHost(key: string, caller: Caller, replyTo: (state: HostState) => HandledReply): HandledReply {
    const state = this.#cache.cached(key);
    if (state !== undefined) {
      if (state.address !== caller.address) {
        state.address = caller.address;
        this.#room.meet(caller.address);
      }
      this.#seen.mark(state, this.#services.clock.now());
      return replyTo(state);
    }
    if (this.#load.isFull()) return busy;
    return this.#cache.find(key).then((host) => {
      if (host === null) {
        const wait = this.#unknownKeys.fail(caller);
        return wait > 0 ? failure(429, `too many unknown node keys, retry after: ${wait}s`, wait) : nodeInvalid();
      }
      this.#seen.mark(host, this.#services.clock.now());
      this.#room.meet(caller.address);
      host.address = caller.address;
      return replyTo(host);
    });
  }

  stop(): void {
    this.#unknownKeys.stop();
  }
}

const proven = ({ id }: HostState): Sender => ({ trust: "proved", name: `host ${id}` });
