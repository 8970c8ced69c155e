import { ALL, columns, type TableSpec } from "./table-spec.ts";
import type { MachineView } from "./view.ts";

function network({ machine }: MachineView) {
  const { family } = machine.platform;
  const random = machine.random(60);
  const site = random.int(0, 255);
  const address = `10.${site}.${(machine.index >> 8) & 255}.${machine.index & 255}`;
  const mac = `02:${(machine.seed >>> 0).toString(16).padStart(8, "0").match(/../g)!.join(":")}:${random.hex(2)}`;
  const name = family === "darwin" ? "en0" : family === "windows" ? "12" : random.pick(["eth0", "ens3", "enp0s31f6"]);
  return { family, address, mac, name, gateway: `10.${site}.0.1` };
}

/**
 * A physical interface with a private address and a default route, loopback, and on laptops a tunnel with a higher
 * metric.
 */
export const NETWORK_TABLES: Readonly<Record<string, TableSpec>> = {
  routes: {
    families: ALL,
    columns: columns("destination netmask gateway source flags interface mtu metric type hopcount"),
    rows: (view) => {
      const { family, address, name, gateway } = network(view);
      const windows = family === "windows";
      const route = (destination: string, netmask: number, metric: number, type: string) => ({
        destination,
        netmask,
        gateway: netmask === 0 ? gateway : "",
        source: "",
        flags: netmask === 0 ? 3 : 1,
        // On Windows this column contains the local address.
        interface: windows ? address : name,
        mtu: 1500,
        metric,
        type,
        hopcount: 0,
      });
      return [
        route("0.0.0.0", 0, windows ? 25 : family === "darwin" ? 0 : 100, windows ? "remote" : "gateway"),
        route(address.replace(/\.\d+\.\d+$/, ".0.0"), 16, 100, "local"),
        { ...route("127.0.0.0", 8, 0, "local"), interface: windows ? "127.0.0.1" : "lo" },
      ];
    },
  },
  interface_addresses: {
    families: ALL,
    columns: columns("interface address mask broadcast point_to_point type friendly_name"),
    rows: (view) => {
      const { address, name, family } = network(view);
      const row = (of: string, value: string, mask: string) => ({
        interface: of,
        address: value,
        mask,
        broadcast: "",
        point_to_point: "",
        type: "dhcp",
        friendly_name: family === "windows" ? "Ethernet" : "",
      });
      return [
        row(family === "windows" ? "1" : "lo", "127.0.0.1", "255.0.0.0"),
        row(name, address, "255.255.0.0"),
        row(name, `fe80::${address.split(".").slice(1).join(":")}`, "ffff:ffff:ffff:ffff::"),
      ];
    },
  },
  interface_details: {
    families: ALL,
    columns: columns(
      "interface mac type mtu metric ipackets opackets ibytes obytes ierrors oerrors link_speed enabled",
    ),
    rows: (view) => {
      const { mac, name, family } = network(view);
      const row = (of: string, address: string) => ({
        interface: of,
        mac: address,
        type: 6,
        mtu: 1500,
        metric: 0,
        ipackets: view.state.unixTime % 1_000_000,
        opackets: view.state.unixTime % 900_000,
        ibytes: view.state.unixTime % 1_000_000_000,
        obytes: view.state.unixTime % 900_000_000,
        ierrors: 0,
        oerrors: 0,
        link_speed: 1000,
        enabled: 1,
      });
      return [row(family === "windows" ? "1" : "lo", "00:00:00:00:00:00"), row(name, mac)];
    },
  },
};
