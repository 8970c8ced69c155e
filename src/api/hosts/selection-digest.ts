// The count and the digest of the hosts that a caller has seen. Nothing here needs schemas, so browsers can use it.

/** The headers for this. `count` and `digest` describe the same hosts; each may be sent alone. */
export const selectionHeaders = { count: "X-Expected-Count", digest: "X-Selection-Digest" } as const;

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
