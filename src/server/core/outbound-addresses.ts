// Which addresses this server may connect to for its users: what they enter as URLs must not reach the server's own network.
import { lookup as systemLookup } from "node:dns/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { isNetwork } from "./proxies.ts";
import type { Settings } from "./settings.ts";

export interface Address {
  readonly address: string;
  readonly family: number;
}
export type Resolve = (host: string) => Promise<readonly Address[]>;

/** The name resolves to, or the URL names, an address that is not to be connected to. */
export class BlockedAddress extends Error {
  constructor(host: string) {
    super(`${host} is an address that this server must not connect to (see the setting outbound_allow)`);
  }
}

const HOST = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/i;

/** Whether the text may stand in `outbound_allow`: an address, a network (CIDR), a host name or `*.domain`. */
export const isAllowEntry = (text: string): boolean => isNetwork(text) || (!text.includes("/") && HOST.test(text));

// Public by their numbers, but they are services of the cloud that a machine runs in.
const cloudServices = ["168.63.129.16"];

interface Allowed {
  readonly networks: BlockList;
  readonly hosts: ReadonlySet<string>;
  readonly domains: readonly string[];
}

const lists = new WeakMap<readonly string[], Allowed>();

function allowedOf({ outbound_allow: entries }: Pick<Settings, "outbound_allow">): Allowed {
  const known = lists.get(entries);
  if (known) return known;
  const networks = new BlockList();
  const hosts = new Set<string>();
  const domains: string[] = [];
  for (const entry of entries) {
    if (!isNetwork(entry)) {
      if (entry.startsWith("*.")) domains.push(entry.slice(1).toLowerCase());
      else hosts.add(plainHost(entry));
      continue;
    }
    const [address, bits] = entry.split("/") as [string, string?];
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(bits), family);
  }
  const made = { networks, hosts, domains };
  lists.set(entries, made);
  return made;
}

/** Lower case, without the dot that ends a full name and the brackets around an IPv6 address. */
export const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");

/** Whether all that the host's name stands for may be connected to. */
export function isHostAllowed(settings: Pick<Settings, "outbound_allow">, host: string): boolean {
  const { hosts, domains } = allowedOf(settings);
  const name = plainHost(host);
  return hosts.has(name) || domains.some((domain) => name.endsWith(domain));
}

/** Loaded when the first address is checked. */
async function parser() {
  return (await import("ipaddr.js")).default;
}

/** Public unicast addresses, and what `outbound_allow` lists. */
export async function isAddressAllowed(settings: Pick<Settings, "outbound_allow">, address: string): Promise<boolean> {
  const ipaddr = await parser();
  // A zone (fe80::1%eth0) names a link of this machine: link-local all the same.
  const bare = address.split("%")[0]!;
  if (isIP(bare) === 0) return false;
  const parsed = ipaddr.process(bare);
  const { networks } = allowedOf(settings);
  if (networks.check(parsed.toString(), parsed.kind())) return true;
  if (parsed.kind() === "ipv4") return parsed.range() === "unicast" && !cloudServices.includes(parsed.toString());
  // NAT64 (RFC 6052): the network connects to the IPv4 address in the last 32 bits.
  const bytes = parsed.toByteArray();
  if (parsed.match(ipaddr.parse("64:ff9b::"), 96)) return isAddressAllowed(settings, bytes.slice(12).join("."));
  return parsed.range() === "unicast";
}

/**
 * Look-ups at the same time: each holds one of the process's few threads, which the store's fsync needs too, for as long as a
 * name server does not answer.
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
 * For `net.connect` and what is built on it: resolves, checks every address, and gives exactly those, so that what was checked is what is
 * connected to. One address that is not allowed refuses the name. `net` asks nothing where the host is an address: see `checkHost`.
 */
export function checkedLookup(
  settings: Pick<Settings, "outbound_allow">,
  resolve: Resolve = resolveBySystem,
): LookupFunction {
  return (host, options, callback) => {
    const found = async (): Promise<Address[]> => {
      const wanted = options.family === 4 || options.family === "IPv4" ? 4 : options.family ? 6 : 0;
      const addresses = (await resolve(host)).filter(({ family }) => wanted === 0 || family === wanted);
      if (addresses.length === 0) throw Object.assign(new Error(`no address for ${host}`), { code: "ENOTFOUND" });
      if (isHostAllowed(settings, host)) return addresses.slice();
      for (const { address } of addresses)
        if (!(await isAddressAllowed(settings, address))) throw new BlockedAddress(host);
      return addresses.slice();
    };
    found().then(
      (addresses) =>
        options.all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family),
      (error: NodeJS.ErrnoException) => callback(error, options.all ? [] : "", 0),
    );
  };
}

/** Throws where the URL's host is an address that is not allowed. Names are checked when they are resolved. */
export async function checkHost(settings: Pick<Settings, "outbound_allow">, { hostname }: URL): Promise<void> {
  const host = plainHost(hostname);
  if (isIP(host) === 0 || isHostAllowed(settings, host)) return;
  if (!(await isAddressAllowed(settings, host))) throw new BlockedAddress(host);
}
