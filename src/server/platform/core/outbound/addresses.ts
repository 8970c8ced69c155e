// Decides which addresses this server may connect to on behalf of users: URLs that users enter must not reach the
// server's own network.

import { lookup as systemLookup } from "node:dns/promises";
import { type BlockList, isIP, type LookupFunction } from "node:net";
import { blockList, isNetwork } from "../http/proxies.ts";
import { memo } from "../memo.ts";
import type { Settings } from "../settings/settings.ts";

export interface Address {
  readonly address: string;
  readonly family: number;
}
export type Resolve = (host: string) => Promise<readonly Address[]>;

/** The host is a blocked address, or a name that resolves to one. */
export class BlockedAddress extends Error {
  /** `address`: what the host resolves to. */
  constructor(host: string, address = host) {
    const why = isOfMachine(address)
      ? "addresses of the machine's own link are blocked, because cloud platforms return credentials there"
      : `private addresses are blocked. Start the server with --outbound-allow ${host.split("%")[0]}`;
    super(`Cannot send to ${host}: ${why}.`);
  }
}

const HOST = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/i;

/** Whether the text is a valid entry of `outbound_allow`: an address, a network (CIDR), a host name or `*.domain`. */
export const isAllowEntry = (text: string): boolean => isNetwork(text) || (!text.includes("/") && HOST.test(text));

// Publicly routable by number, but services of the cloud platform that the machine runs in.
const cloudServices = ["168.63.129.16"];

/** Link-local addresses, and others where cloud platforms return metadata of the machine, with its credentials. */
const ofMachine = blockList(["169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "100.100.100.200", ...cloudServices]);

/** Whether nobody should be advised to allow the address. */
function isOfMachine(address: string): boolean {
  const bare = plainHost(address).split("%")[0]!;
  const family = isIP(bare);
  return family !== 0 && ofMachine.check(bare, family === 6 ? "ipv6" : "ipv4");
}

interface AllowedAddresses {
  readonly networks: BlockList;
  readonly hosts: ReadonlySet<string>;
  readonly domains: readonly string[];
}

const readAllowed = memo((entries: readonly string[]): AllowedAddresses => {
  const hosts = new Set<string>();
  const domains: string[] = [];
  for (const entry of entries) {
    if (isNetwork(entry)) continue;
    if (entry.startsWith("*.")) domains.push(entry.slice(1).toLowerCase());
    else hosts.add(plainHost(entry));
  }
  return { networks: blockList(entries.filter(isNetwork)), hosts, domains };
});

const allowedOf = (settings: Pick<Settings, "outbound_allow">): AllowedAddresses =>
  readAllowed(settings.outbound_allow);

/** Lower case, without a trailing dot and without the brackets around an IPv6 address. */
export const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");

/** Whether `outbound_allow` permits the host name, whatever it resolves to. */
function isHostAllowed(settings: Pick<Settings, "outbound_allow">, host: string): boolean {
  const { hosts, domains } = allowedOf(settings);
  const name = plainHost(host);
  return hosts.has(name) || domains.some((domain) => name.endsWith(domain));
}

/** Loaded on first use. */
async function parser() {
  return (await import("ipaddr.js")).default;
}

/** Whether the address is a public unicast address or allowed by `outbound_allow`. */
export async function isAddressAllowed(settings: Pick<Settings, "outbound_allow">, address: string): Promise<boolean> {
  const ipaddr = await parser();
  // An address with a zone (fe80::1%eth0) is link-local on this machine.
  const bare = address.split("%")[0]!;
  if (isIP(bare) === 0) return false;
  // ipaddr.js treats ::8.8.8.8 like ::ffff:8.8.8.8, but not its form in URLs, ::808:808.
  const parsed = ipaddr.process(isIP(bare) === 6 ? plainHost(new URL(`http://[${bare}]`).hostname) : bare);
  const { networks } = allowedOf(settings);
  if (networks.check(parsed.toString(), parsed.kind())) return true;
  if (parsed.kind() === "ipv4") return parsed.range() === "unicast" && !cloudServices.includes(parsed.toString());
  const bytes = parsed.toByteArray();
  const last = bytes.slice(12).join(".");
  // NAT64 (RFC 6052): the network translates to the IPv4 address in the last 32 bits.
  if (parsed.match(ipaddr.parse("64:ff9b::"), 96)) return isAddressAllowed(settings, last);
  // ISATAP (RFC 5214): a tunnel to the IPv4 address in the last 32 bits, with any prefix.
  if (isIsatap(bytes) && !(await isAddressAllowed(settings, last))) return false;
  // All public addresses are in 2000::/3. Other forms that embed an IPv4 address are outside of it, "IPv4-compatible"
  // (::7f00:1) and "IPv4-translated" (::ffff:0:7f00:1); those inside it, 6to4 and Teredo, have ranges other than
  // "unicast".
  return parsed.range() === "unicast" && parsed.match(ipaddr.parse("2000::"), 3);
}

/** Whether the interface identifier is 0000:5efe or 0200:5efe (with any group bit), followed by an IPv4 address. */
const isIsatap = (bytes: readonly number[]): boolean =>
  (bytes[8]! & 0xfc) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;

/**
 * Maximum number of simultaneous DNS lookups. Each blocks one of the process's few threads until the name server
 * responds, and the store's fsync needs these threads too.
 */
const LOOKUPS = 2;
let running = 0;
const waiting: (() => void)[] = [];

const resolveBySystem: Resolve = async (host) => {
  if (running >= LOOKUPS) await new Promise<void>((go) => waiting.push(go));
  else running++;
  try {
    return await systemLookup(host, { all: true });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
};

/**
 * A `lookup` function for `net.connect` and clients built on it. It resolves the name, checks every address and
 * returns exactly the checked ones. One blocked address is enough to refuse the name. `net` does not call it if the
 * host is an address: see `checkHost`.
 */
export function checkedLookup(
  settings: Pick<Settings, "outbound_allow">,
  resolve: Resolve = resolveBySystem,
): LookupFunction {
  return (host, options, callback) => {
    const lookup = async (): Promise<Address[]> => {
      const desiredFamily = options.family === 4 || options.family === "IPv4" ? 4 : options.family ? 6 : 0;
      const addresses = (await resolve(host)).filter(({ family }) => desiredFamily === 0 || family === desiredFamily);
      if (addresses.length === 0) throw Object.assign(new Error(`no address for ${host}`), { code: "ENOTFOUND" });
      if (isHostAllowed(settings, host)) return addresses.slice();
      for (const { address } of addresses)
        if (!(await isAddressAllowed(settings, address))) throw new BlockedAddress(host, address);
      return addresses.slice();
    };
    lookup().then(
      (addresses) =>
        options.all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family),
      (error: NodeJS.ErrnoException) => callback(error, options.all ? [] : "", 0),
    );
  };
}

/** Names of the machine itself (RFC 6761, 6.3), whatever a resolver returns. */
const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

/** Throws if the URL's host is a blocked address. Names are checked when they are resolved. */
export async function checkHost(
  settings: Pick<Settings, "outbound_allow">,
  { hostname }: Pick<URL, "hostname">,
): Promise<void> {
  const host = plainHost(hostname);
  if (isHostAllowed(settings, host)) return;
  // The loopback addresses may be allowed by address.
  if (isLocalhost(host)) {
    const addresses = await Promise.all(["127.0.0.1", "::1"].map((address) => isAddressAllowed(settings, address)));
    if (!addresses.includes(true)) throw new BlockedAddress(host);
    return;
  }
  if (isIP(host) === 0) return;
  if (!(await isAddressAllowed(settings, host))) throw new BlockedAddress(host);
}
