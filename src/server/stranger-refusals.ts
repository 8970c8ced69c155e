// Refuses requests of addresses that have used up their budget for strangers (`core/http/strangers.ts`), on plain
// node:http, before the router sees them and before their bodies are read: a refusal by the router costs several times
// as much.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Purpose } from "../api/endpoint.ts";
import { servedPaths } from "../api/paths.ts";
import { nodeKeyIn } from "./certificates/host-authentication/node-key.ts";
import { webPages } from "./edge/web/pages-table.ts";
import { baseHeaders } from "./error-replies.ts";
import { endpointAt } from "./platform/agent-protocol/wire.ts";
import type { Services } from "./platform/core/context.ts";
import { limitExceeded } from "./platform/core/errors.ts";
import { bodyRoom } from "./platform/core/http/body-room.ts";
import { placeOf } from "./platform/core/http/place.ts";
import type { Protocol } from "./platform/core/http/protocol.ts";
import { callerOfRequest, isLoopback, withoutMapping } from "./platform/core/http/proxies.ts";
import { strangerBudgets } from "./platform/core/http/strangers.ts";
import { tokensInUse } from "./platform/core/http/tokens-in-use.ts";
import { closeWhenUnread } from "./platform/core/http/unread-bodies.ts";
import { tokenHash } from "./platform/core/random.ts";

/** Refusals of an address in one second that are sent at once. Later ones are delayed, which slows its senders down. */
const IMMEDIATE = 20;
const DELAY_MS = 500;
/** Delayed refusals of one address at a time. Beyond it, connections of the address are closed without a reply. */
const MAX_DELAYED = 32;
/** Addresses of which refusals are counted. */
const ADDRESSES_MAX = 20_000;

/** The recent refusals of one address. */
interface Recent {
  since: number;
  count: number;
  delayed: number;
}

/** What a request carries that may prove who sends it. */
type Proof = "none" | "message" | "token in use" | "always served";

export class StrangerRefusals {
  readonly #services: Services;
  /** Paths of messages whose senders are looked for before anything else. */
  readonly #gated: ReadonlySet<string>;
  /** Paths of sign-ins and enrollments. Of those that end with a parameter, what stands before it. */
  readonly #purposes: ReadonlyMap<string, Purpose>;
  readonly #recent = new Map<string, Recent>();

  constructor(services: Services, protocols: readonly Protocol[]) {
    this.#services = services;
    this.#gated = new Set(
      protocols.flatMap(({ routes, pathsOf = servedPaths }) =>
        routes.filter(({ isGated }) => isGated).flatMap(({ endpoint }) => pathsOf(endpoint)),
      ),
    );
    this.#purposes = new Map(
      [
        ...protocols.flatMap(({ routes, pathsOf = servedPaths }) =>
          routes.flatMap(({ endpoint }) => pathsOf(endpoint).map((path) => [path, endpoint.purpose] as const)),
        ),
        ...webPages.map(({ path, purpose = "other" }) => [path.replace(/:[^/]*$/, ""), purpose] as const),
      ].filter(([, purpose]) => purpose !== "other"),
    );
  }

  /** Refuses the request if its address has no budget left; returns false for all others. */
  handle(req: IncomingMessage, res: ServerResponse): boolean {
    const budgets = this.#services.running.of(strangerBudgets);
    if (!budgets.mayBeEmpty()) return false;
    const caller = callerOfRequest(this.#services, req);
    if (caller.address === "" || (isLoopback(caller.address) && !caller.forwarded)) return false;
    const { name: place, trust } = this.#services.running.of(bodyRoom).byAddress(caller.address);
    const isFamiliar = trust === "familiar";
    const wait = budgets.wait({ place, isFamiliar, purpose: this.#purposeOf(req) });
    if (wait === 0) return false;
    const proof = this.#proofIn(req);
    if (proof === "always served" || proof === "token in use") return false;
    // Hosts call from the same address, or may do so: their messages are looked at as long as that is affordable.
    if (proof === "message" && (isFamiliar || !budgets.isDeep(place))) return false;
    budgets.chargeRefusal(place);
    this.#refuse(req, res, { place, wait });
    return true;
  }

  /**
   * Whether a new connection from this address is closed at once, as it has many refusals to wait for. Only without a
   * proxy, and never where hosts call from.
   */
  refusesConnection(peer: string | undefined): boolean {
    if (this.#recent.size === 0 || peer === undefined) return false;
    const { name, trust } = this.#services.running.of(bodyRoom).byAddress(withoutMapping(peer));
    return trust !== "familiar" && (this.#recent.get(name)?.delayed ?? 0) >= MAX_DELAYED;
  }

  #purposeOf({ url = "" }: IncomingMessage): Purpose {
    const path = url.split("?", 1)[0]!;
    if (endpointAt(path) === "enroll") return "enrollment";
    return this.#purposes.get(path) ?? this.#purposes.get(path.slice(0, path.lastIndexOf("/") + 1)) ?? "other";
  }

  #proofIn({ url = "", headers }: IncomingMessage): Proof {
    const path = url.split("?", 1)[0]!;
    if (path === "/healthz" || path.startsWith("/assets/")) return "always served";
    if (endpointAt(path) !== null || this.#gated.has(path) || path.includes("/device/")) return "message";
    if (headers["signature-input"] !== undefined) return "message";
    const { authorization, cookie } = headers;
    if (authorization !== undefined && nodeKeyIn(authorization) !== null) return "message";
    const token = tokenIn(authorization, cookie);
    if (token === null) return "none";
    return this.#services.running.of(tokensInUse).has(tokenHash(token)) ? "token in use" : "message";
  }

  #refuse(req: IncomingMessage, res: ServerResponse, refusal: Refusal): void {
    const recent = this.#recentOf(refusal.place);
    recent.count++;
    if (recent.count <= IMMEDIATE) this.#reply(req, res, refusal.wait);
    else if (recent.delayed < MAX_DELAYED) this.#replyLater(req, res, { ...refusal, recent });
    // A proxy's connections are also those of others.
    else if (placeOf(withoutMapping(req.socket.remoteAddress ?? "")) === refusal.place) req.socket.destroy();
    else this.#reply(req, res, refusal.wait);
  }

  #replyLater(
    req: IncomingMessage,
    res: ServerResponse,
    { wait, recent }: Refusal & { readonly recent: Recent },
  ): void {
    recent.delayed++;
    setTimeout(() => {
      recent.delayed--;
      this.#reply(req, res, wait);
    }, DELAY_MS);
  }

  #recentOf(place: string): Recent {
    const now = performance.now();
    const existing = this.#recent.get(place);
    if (existing) {
      if (now - existing.since >= 1_000) Object.assign(existing, { since: now, count: 0 });
      return existing;
    }
    if (this.#recent.size >= ADDRESSES_MAX) this.#recent.clear();
    const created: Recent = { since: now, count: 0, delayed: 0 };
    this.#recent.set(place, created);
    return created;
  }

  #reply(req: IncomingMessage, res: ServerResponse, wait: number): void {
    if (res.destroyed || res.headersSent) return;
    const { metrics, random } = this.#services;
    const id = random.uuid();
    const content = JSON.stringify(limitExceeded(wait).body(id));
    closeWhenUnread(req, res);
    res.shouldKeepAlive = false;
    res.writeHead(429, {
      ...baseHeaders(id, this.#services),
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(content),
      "retry-after": String(wait),
    });
    res.end(req.method === "HEAD" ? undefined : content);
    metrics.requests.inc({ method: req.method ?? "", route: "strangers without budget", status: "429" });
  }
}

interface Refusal {
  readonly place: string;
  readonly wait: number;
}

/** The token of a user, in the header of the API or in the cookie of a browser. */
function tokenIn(authorization: string | undefined, cookie: string | undefined): string | null {
  const bearer = /^Bearer +([\w~+/.=-]{1,512})$/i.exec(authorization?.trim() ?? "")?.[1];
  return bearer ?? /(?:^|; *)(?:__Host-)?svc_session=([\w-]{1,512})/.exec(cookie?.slice(0, 16_384) ?? "")?.[1] ?? null;
}
