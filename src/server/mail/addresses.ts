import { BlockList, isIP, type LookupFunction } from "node:net";
import { BlockedAddress, checkedLookup, isAddressAllowed, plainHost } from "../core/outbound-addresses.ts";
import type { Settings } from "../core/settings.ts";

type Allow = Pick<Settings, "outbound_allow">;

/**
 * An organization's mail relay usually stands in its own network or on this machine, and what is spoken to it is SMTP, set up by an
 * admin: private addresses are allowed here. Link-local ones, with the metadata services of clouds, stay refused.
 */
const relays = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "::1", "fc00::/7"];

/** A metadata service that stands among the private addresses. */
const metadata = new BlockList();
metadata.addAddress("fd00:ec2::254", "ipv6");
const isMetadata = (address: string): boolean => isIP(address) === 6 && metadata.check(address, "ipv6");

const withRelays = ({ outbound_allow: more }: Allow): Allow => ({ outbound_allow: [...relays, ...more] });

/** How to find the mail server: its addresses are checked and exactly those are connected to. */
export async function relayLookup(settings: Allow, server: string): Promise<LookupFunction> {
  const allow = withRelays(settings);
  const host = plainHost(server);
  // Node asks no look-up where the host is an address.
  if (isIP(host) !== 0 && (isMetadata(host) || !(await isAddressAllowed(allow, host)))) throw new BlockedAddress(host);
  const lookup = checkedLookup(allow);
  return (name, options, callback) =>
    lookup(name, options, (error, found, family) => {
      const addresses = typeof found === "string" ? [found] : found.map(({ address }) => address);
      callback(!error && addresses.some(isMetadata) ? new BlockedAddress(name) : error, found, family);
    });
}
