import { isIP, isIPv4 } from "node:net";
import { toInt } from "../../../platform/agent-protocol/numbers.ts";
import { type AgentRow, text } from "../../../platform/agent-protocol/rows.ts";

interface PrimaryInterface {
  readonly primary_ip: string;
  readonly primary_mac: string;
}

/** Whether an address is private: 10/8, 172.16/12, 192.168/16 (RFC 1918) or fc00::/7 (RFC 4193). */
function isPrivateAddress(address: string): boolean {
  if (isIPv4(address)) {
    const [a = 0, b = 0] = address.split(".").map(Number);
    return a === 10 || (a === 172 && b >= 16 && b <= 31) || (a === 192 && b === 168);
  }
  return isIP(address) === 6 && /^f[cd][0-9a-f]{2}:/i.test(address);
}

/** The private address with the lowest metric, IPv4 first; null if there is none. */
export function primaryInterface(rows: readonly AgentRow[]): PrimaryInterface | null {
  let best: { metric: number; v6: number; row: PrimaryInterface } | null = null;
  for (const row of rows) {
    // Link-scoped addresses include their zone: "fd00::1%en0".
    const address = text(row, "address").split("%", 1)[0] ?? "";
    if (!isPrivateAddress(address)) continue;
    const metric = toInt(row.metric) ?? Number.MAX_SAFE_INTEGER;
    const v6 = isIPv4(address) ? 0 : 1;
    if (best !== null && (metric > best.metric || (metric === best.metric && v6 >= best.v6))) continue;
    best = { metric, v6, row: { primary_ip: address, primary_mac: text(row, "mac") } };
  }
  return best?.row ?? null;
}

/** Normalizes a client address for `public_ip`: unwraps IPv4-mapped IPv6; "" if it is not an address. */
export function publicAddress(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
  return isIP(plain) ? plain : "";
}
