import { BlockList, isIP } from "node:net";
import type { Settings } from "./settings.ts";

const lists = new WeakMap<readonly string[], BlockList>();

/** Whether the text names an address or a network in CIDR form. */
export function isNetwork(text: string): boolean {
  const [address, bits, ...rest] = text.split("/");
  const family = isIP(address ?? "");
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function listOf(networks: readonly string[]): BlockList {
  const known = lists.get(networks);
  if (known) return known;
  const list = new BlockList();
  for (const network of networks) {
    const [address, bits] = network.split("/") as [string, string?];
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  lists.set(networks, list);
  return list;
}

/** Without the IPv6 spelling of an IPv4 address. */
const plain = (address: string): string =>
  address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;

/**
 * The caller's address. Forwarding headers count only where the peer is a trusted proxy: then the right-most entry of
 * X-Forwarded-For that is not itself a trusted proxy.
 */
export function peerAddress(
  settings: Pick<Settings, "trusted_proxies">,
  peer: string,
  headers: { get(name: string): string | null },
): string {
  const direct = plain(peer);
  if (settings.trusted_proxies.length === 0 || isIP(direct) === 0) return direct;
  const trusted = listOf(settings.trusted_proxies);
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  if (!isTrusted(direct)) return direct;
  const hops = (headers.get("x-forwarded-for") ?? "").split(",").map((hop) => plain(hop.trim()));
  let found = direct;
  for (const hop of hops.reverse()) {
    if (isIP(hop) === 0) break;
    found = hop;
    if (!isTrusted(hop)) break;
  }
  return found;
}
