// What a caller has seen of the hosts that a call is about. Sent along, the server acts on these hosts or on none.
import { z } from "zod";

/** The headers that say so. `count` and `digest` of the same hosts; each may be sent alone. */
export const selectionHeaders = { count: "X-Expected-Count", digest: "X-Selection-Digest" } as const;

export const SelectionHeaders = z.object({
  [selectionHeaders.count]: z
    .string()
    .regex(/^\d{1,9}$/)
    .optional()
    .meta({ description: "how many hosts are meant; 409 where it would be others" }),
  [selectionHeaders.digest]: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/)
    .optional()
    .meta({
      description:
        "which hosts are meant: SHA-256, as hex, over their ids in ascending order, decimal, joined by commas",
    }),
});

export interface Selection {
  readonly count: number;
  /** Hex, lower case. */
  readonly digest: string;
}

/** Of the hosts with these ids, each given once, in any order. */
export async function selectionOf(ids: readonly number[]): Promise<Selection> {
  const text = Float64Array.from(ids).sort().join(",");
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return { count: ids.length, digest: Array.from(new Uint8Array(hash), hex).join("") };
}

const hex = (byte: number): string => byte.toString(16).padStart(2, "0");
