import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { Services } from "../context.ts";
import { memo } from "../memo.ts";
import { part } from "../running.ts";
import type { Settings } from "../settings/settings.ts";

/** Where a request came from. */
export interface Caller {
  /** The address as determined by the trusted-proxy rule. */
  readonly address: string;
  /** An untrusted proxy on this machine forwarded the request, so the callers behind it cannot be distinguished. */
  readonly forwarded?: boolean | undefined;
}

interface Headers {
  get(name: string): string | null;
}

/** Whether the text is an address or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [address, bits, ...rest] = text.split("/");
  const family = isIP(address ?? "");
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** All addresses of the networks. */
export function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, bits] = network.split("/") as [string, string?];
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Every request asks this of few addresses, and looking one up in a list takes as long as reading its headers. */
const trustedBy = memo((networks: readonly string[]) => {
  const list = blockList(networks);
  const cache = new Map<string, boolean>();
  return (address: string): boolean => {
    const cached = cache.get(address);
    if (cached !== undefined) return cached;
    const family = isIP(address);
    const isTrusted = family !== 0 && list.check(address, family === 6 ? "ipv6" : "ipv4");
    if (cache.size >= ADDRESSES_MAX) cache.clear();
    cache.set(address, isTrusted);
    return isTrusted;
  };
});
const ADDRESSES_MAX = 10_000;

/** Converts an IPv4-mapped IPv6 address to its IPv4 form. */
export const withoutMapping = (address: string): string =>
  address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;

/** Whether what this peer forwards is trusted. */
export function isTrustedProxy({ trusted_proxies: proxies }: Pick<Settings, "trusted_proxies">, peer: string): boolean {
  return proxies.length > 0 && trustedBy(proxies)(withoutMapping(peer));
}

/**
 * The caller's address. Forwarding headers are used only if the peer is a trusted proxy: then it is the right-most
 * entry of X-Forwarded-For that is not a trusted proxy.
 */
export function peerAddress(settings: Pick<Settings, "trusted_proxies">, peer: string, headers: Headers): string {
  const direct = withoutMapping(peer);
  if (!isTrustedProxy(settings, direct)) return direct;
  const hops = (headers.get("x-forwarded-for") ?? "").split(",").map((hop) => withoutMapping(hop.trim()));
  let client = direct;
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) break;
    client = hop;
    if (!isTrustedProxy(settings, hop)) break;
  }
  return client;
}

/** Other spellings of ::1 do not occur: the addresses of sockets are written in the short form. */
export const isLoopback = (address: string): boolean =>
  address === "::1" || (address.startsWith("127.") && isIP(address) === 4);

/** The headers with which proxies name the caller, the name that it called, or themselves. */
const FORWARDING = [
  "x-forwarded-for",
  "forwarded",
  "x-real-ip",
  "via",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-client-ip",
  "x-cluster-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "fastly-client-ip",
] as const;

/** Whether a proxy has forwarded the request, as far as its headers show it. */
export const isForwarded = (headers: Headers): boolean => FORWARDING.some((name) => headers.get(name) !== null);

/** Whether an untrusted proxy on this machine has forwarded requests to the server. */
const untrusted = part("untrusted proxy", () => ({ found: false }));

export const hasUntrustedProxy = ({ running }: Pick<Services, "running">): boolean => running.of(untrusted).found;

/** The origin of a request. An untrusted proxy on this machine is logged once. */
export function callerOf(
  { settings, log, running }: Pick<Services, "settings" | "log" | "running">,
  peer: string,
  headers: Headers,
): Caller {
  const address = peerAddress(settings, peer, headers);
  if (!isLoopback(address) || !isForwarded(headers)) return { address };
  const proxy = running.of(untrusted);
  // Through a trusted proxy, people on this machine call from its own address too.
  if (!proxy.found && !isTrustedProxy(settings, peer)) {
    proxy.found = true;
    log.warn(
      { peer: address },
      "a proxy on this machine forwards requests but is not trusted: all its callers count as one address, so that limits on " +
        "sign-ins and failures are shared by everybody, and activities name the proxy's address; start the server with " +
        `--trusted-proxies ${[...settings.trusted_proxies, address].join(",")}`,
    );
  }
  return { address, forwarded: true };
}

/** The origin of a request of Node. Without a proxy, headers are read only of callers on this machine. */
export function callerOfRequest(
  services: Pick<Services, "settings" | "log" | "running">,
  { socket, headers }: IncomingMessage,
): Caller {
  const peer = socket.remoteAddress ?? "";
  if (services.settings.trusted_proxies.length === 0) {
    const address = withoutMapping(peer);
    if (!isLoopback(address)) return { address };
  }
  return callerOf(services, peer, {
    get: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(",") : (value ?? null);
    },
  });
}
