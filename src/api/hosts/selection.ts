// A caller can send the count or digest of the hosts that it has seen: the server then acts on exactly these hosts or
// refuses.
import { z } from "zod";

/** The headers for this. `count` and `digest` describe the same hosts; each may be sent alone. */
export const selectionHeaders = { count: "X-Expected-Count", digest: "X-Selection-Digest" } as const;

export const SelectionHeaders = z.object({
  [selectionHeaders.count]: z
    .string()
    .regex(/^\d{1,9}$/)
    .optional()
    .meta({ description: "expected number of hosts; 409 if it differs" }),
  [selectionHeaders.digest]: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/)
    .optional()
    .meta({
      description:
        "digest of the expected hosts: SHA-256 in hex of their decimal ids in ascending order, separated by commas",
    }),
});

export interface Selection {
  readonly count: number;
  /** Lower-case hex. */
  readonly digest: string;
}

/** The count and digest of the hosts with these ids, which must be distinct but may be in any order. */
export async function selectionOf(ids: readonly number[]): Promise<Selection> {
  const text = Float64Array.from(ids).sort().join(",");
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return { count: ids.length, digest: Array.from(new Uint8Array(hash), hex).join("") };
}

const hex = (byte: number): string => byte.toString(16).padStart(2, "0");
