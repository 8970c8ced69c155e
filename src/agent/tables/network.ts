import { networkInterfaces } from "node:os";
import si from "systeminformation";
import { linesOf, mapFew, namesIn, outputOf, readOr } from "./read.ts";
import { ALL, bigint, integer, LINUX, MAC, type Table, type TableRow, text, UNIX, WINDOWS } from "./table.ts";

const ROUTE_COLUMNS = {
  ...text("destination"),
  ...integer("netmask"),
  ...text("gateway source"),
  ...integer("flags"),
  ...text("interface"),
  ...integer("mtu metric"),
  ...text("type"),
  ...integer("hopcount"),
};
const REJECT = 0x200;
const LOCAL = 0x80000000;

/** Four bytes, the lowest first, as the kernel writes them on the usual processors. */
export function ipv4(hex: string): string {
  return [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(".");
}

/** With the longest run of zeros left out, as addresses are usually written. */
export function ipv6(hex: string): string {
  const groups = hex.match(/.{4}/g)!.map((group) => Number.parseInt(group, 16).toString(16));
  const runs = [...groups.join(":").matchAll(/(?:^|:)((?:0:)+0)(?=:|$)/g)].sort((a, b) => b[1]!.length - a[1]!.length);
  const [run] = runs;
  if (run === undefined) return groups.join(":");
  const full = groups.join(":");
  const start = run.index === 0 && !full.startsWith(":") && full.startsWith("0:") ? 0 : run.index + 1;
  return `${full.slice(0, start).replace(/:$/, "")}::${full.slice(start + run[1]!.length).replace(/^:/, "")}`;
}

const bits = (mask: string): number =>
  mask.split(".").reduce((sum, part) => sum + (Number(part).toString(2).match(/1/g)?.length ?? 0), 0);

async function linuxRoutes(): Promise<TableRow[]> {
  const four = (await linesOf("/proc/net/route")).slice(1).map((line) => {
    const [name, destination, gateway, flags, , , metric, mask, mtu] = line.trim().split(/\s+/);
    return {
      destination: ipv4(destination!),
      netmask: bits(ipv4(mask!)),
      gateway: ipv4(gateway!),
      source: "",
      flags: Number.parseInt(flags!, 16),
      interface: name!,
      mtu: Number(mtu),
      metric: Number(metric),
      type: "gateway",
      hopcount: 0,
    };
  });
  const six = (await linesOf("/proc/net/ipv6_route")).map((line) => {
    const [destination, prefix, , , gateway, metric, , , flags, name] = line.trim().split(/\s+/);
    const bitsSet = Number.parseInt(flags!, 16);
    return {
      destination: ipv6(destination!),
      netmask: Number.parseInt(prefix!, 16),
      gateway: /^0+$/.test(gateway!) ? "" : ipv6(gateway!),
      source: "",
      flags: bitsSet,
      interface: name!,
      mtu: 0,
      metric: Number.parseInt(metric!, 16),
      type: bitsSet >= LOCAL ? "local" : "gateway",
      hopcount: 0,
    };
  });
  return [...four, ...six].filter(({ flags }) => (flags & REJECT) === 0);
}

/** Only default routes, from what the system's own program prints. */
async function macRoutes(): Promise<TableRow[]> {
  const lines = await outputOf("/usr/sbin/netstat", ["-rn"]);
  return [...lines.matchAll(/^default\s+(\S+)\s+\S+\s+(\S+)/gm)].map(([, gateway, name], i) => ({
    destination: gateway!.includes(":") ? "::" : "0.0.0.0",
    netmask: 0,
    gateway: gateway!,
    source: "",
    flags: 0,
    interface: name!,
    mtu: 0,
    metric: i,
    type: "gateway",
    hopcount: 0,
  }));
}

/** The interface of a route is its local address there. */
async function windowsRoutes(): Promise<TableRow[]> {
  const lines = await outputOf("route", ["print", "-4", "0.0.0.0"]);
  return [...lines.matchAll(/^\s*0\.0\.0\.0\s+0\.0\.0\.0\s+(\S+)\s+(\S+)\s+(\d+)/gm)].map(
    ([, gateway, local, metric]) => ({
      destination: "0.0.0.0",
      netmask: 0,
      gateway: gateway!,
      source: "",
      flags: 0,
      interface: local!,
      mtu: 0,
      metric: Number(metric),
      type: "remote",
      hopcount: 0,
    }),
  );
}

const broadcastOf = (address: string, mask: string) => {
  const masks = mask.split(".").map(Number);
  return address
    .split(".")
    .map((part, i) => Number(part) | (~masks[i]! & 255))
    .join(".");
};

async function linuxDetails(): Promise<TableRow[]> {
  return mapFew(await namesIn("/sys/class/net"), async (name) => {
    const value = async (file: string) => (await readOr(`/sys/class/net/${name}/${file}`)).trim();
    const count = async (file: string) => Number(await value(`statistics/${file}`));
    return {
      interface: name,
      mac: await value("address"),
      type: Number(await value("type")),
      mtu: Number(await value("mtu")),
      metric: 0,
      flags: Number(await value("flags")),
      ipackets: await count("rx_packets"),
      opackets: await count("tx_packets"),
      ibytes: await count("rx_bytes"),
      obytes: await count("tx_bytes"),
      ierrors: await count("rx_errors"),
      oerrors: await count("tx_errors"),
      idrops: await count("rx_dropped"),
      odrops: await count("tx_dropped"),
      collisions: await count("collisions"),
      last_change: -1,
      link_speed: Number((await value("speed")) || 0),
      pci_slot: "",
    };
  });
}

async function otherDetails(): Promise<TableRow[]> {
  const interfaces = await si.networkInterfaces();
  return (Array.isArray(interfaces) ? interfaces : [interfaces]).map(({ iface, mac, mtu, speed, operstate }) => ({
    interface: iface,
    mac,
    type: 6,
    mtu: mtu ?? 0,
    metric: 0,
    link_speed: speed ?? 0,
    enabled: operstate === "up" ? 1 : 0,
    friendly_name: iface,
  }));
}

export const networkTables: readonly Table[] = [
  { name: "routes", platforms: LINUX, columns: ROUTE_COLUMNS, rows: linuxRoutes },
  { name: "routes", platforms: MAC, columns: ROUTE_COLUMNS, rows: macRoutes },
  { name: "routes", platforms: WINDOWS, columns: ROUTE_COLUMNS, rows: windowsRoutes },
  {
    name: "interface_addresses",
    platforms: ALL,
    columns: text("interface address mask broadcast point_to_point type friendly_name"),
    rows: () =>
      Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
        addresses.map(({ address, netmask, family, scopeid }) => ({
          interface: name,
          address: family === "IPv6" && scopeid > 0 ? `${address}%${name}` : address,
          mask: netmask,
          broadcast: family === "IPv4" ? broadcastOf(address, netmask) : "",
          point_to_point: "",
          type: "unknown",
          friendly_name: name,
        })),
      ),
  },
  {
    name: "interface_details",
    platforms: ALL,
    columns: {
      ...text("interface mac"),
      ...integer("type mtu metric flags"),
      ...bigint("ipackets opackets ibytes obytes ierrors oerrors idrops odrops collisions last_change link_speed"),
      ...text("pci_slot friendly_name description manufacturer connection_id connection_status"),
      ...integer("enabled physical_adapter speed"),
      ...text("service"),
      ...integer("dhcp_enabled"),
      ...bigint("dhcp_lease_expires dhcp_lease_obtained"),
      ...text("dhcp_server dns_domain dns_domain_suffix_search_order dns_host_name dns_server_search_order"),
    },
    rows: () => (process.platform === "linux" ? linuxDetails() : otherDetails()),
  },
  {
    name: "etc_hosts",
    platforms: ALL,
    columns: text("address hostnames"),
    async rows() {
      const file = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";
      return (await linesOf(file)).flatMap((line) => {
        const [address, ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
        return address ? [{ address, hostnames: names.join(" ") }] : [];
      });
    },
  },
  {
    name: "dns_resolvers",
    platforms: UNIX,
    columns: { ...integer("id"), ...text("type address netmask"), ...bigint("options") },
    rows: async () =>
      [...(await readOr("/etc/resolv.conf")).matchAll(/^(nameserver|search|domain)\s+(\S+)/gm)].map(
        ([, type, address], id) => ({
          id,
          type: type!,
          address: address!,
          netmask: type === "nameserver" && !address!.includes(":") ? "32" : "",
          options: 0,
        }),
      ),
  },
  {
    name: "arp_cache",
    platforms: LINUX,
    columns: text("address mac interface permanent"),
    rows: async () =>
      (await linesOf("/proc/net/arp")).slice(1).map((line) => {
        const [address, , flags, mac, , name] = line.trim().split(/\s+/);
        return { address: address!, mac: mac!, interface: name!, permanent: flags === "0x6" ? "1" : "0" };
      }),
  },
];
