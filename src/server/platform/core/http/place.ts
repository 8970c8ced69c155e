import { isIP } from "node:net";

/**
 * The key under which an address is counted. An IPv6 customer usually has a whole /64 network, which counts as one.
 */
export function placeOf(address: string): string {
  if (isIP(address) !== 6 || address === "::1") return address;
  const [head = "", tail] = address.split("%")[0]!.toLowerCase().split("::") as [string, string?];
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
