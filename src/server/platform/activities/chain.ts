// The hash chain of activities: what an entry's hash covers and how the ends of the chain are signed. Anyone with write
// access to the store could compute matching hashes; signatures also require the servers' key.
import { createHash, createHmac } from "node:crypto";
import { sameText } from "../core/random.ts";
import type { ServerTx } from "../core/tables.ts";
import { and, eq, everything, gt, type Predicate, type Select } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { activities, activityChain } from "./tables.ts";

export type ActivityRow = RowOf<typeof activities>;
export type ChainRow = RowOf<typeof activityChain>;

/** Lock for transactions that change the chain. */
export const CHAIN_LOCK = "activity_chain";
/** Name of the signing key among the server secrets. */
export const CHAIN_SECRET = "activity_chain";

/** A point between entries: the next entry gets the following position, and its hash includes this one. */
export interface Link {
  readonly position: number;
  readonly hash: string;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The start of the chain. */
export const GENESIS: Link = { position: 0, hash: sha256("svc activities 1") };

/** The hash of an entry that follows `previous`. Changing the columns or their order requires a new version prefix. */
export const entryHash = (
  previous: Link,
  row: Omit<
    ActivityRow,
    | "host_only"
    | "team_ids"
    | "details_text"
    | "webhook_url"
    | "host_requests"
    | "chain_position"
    | "chain_hash"
    | "revision"
  >,
): string =>
  sha256(
    canonical([
      "svc activity 1",
      previous.hash,
      previous.position + 1,
      row.id,
      row.created_at,
      row.actor_id,
      row.actor_full_name,
      row.actor_email,
      row.actor_gravatar,
      row.actor_api_only,
      row.actor_address,
      row.actor_token,
      row.type,
      row.svc_initiated,
      row.details,
      row.host_id,
    ]),
  );

/** Canonical JSON: no white space, keys sorted by UTF-16 code units. Equal values give equal text. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.join(",")}}`;
}

type SignedEntry = Pick<ChainRow, "kind" | "position" | "hash">;

export const signatureOf = (key: string, { kind, position, hash }: SignedEntry): string =>
  createHmac("sha256", key).update(`svc activity chain 1|${kind}|${position}|${hash}`).digest("hex");

export const isSigned = (key: string, row: SignedEntry & Pick<ChainRow, "signature">): boolean =>
  sameText(row.signature, signatureOf(key, row));

/** The stored ends of the chain. Signatures are not verified here. */
export interface Ends {
  readonly heads: readonly ChainRow[];
  readonly checkpoints: readonly ChainRow[];
  /** Sorted by position. */
  readonly breaks: readonly ChainRow[];
}

export async function readEnds(store: ServerTx): Promise<Ends> {
  const rows = await store.activityChain.list({ order: [{ column: "position", direction: "asc" }] });
  const of = (kind: ChainRow["kind"]) => rows.filter((row) => row.kind === kind);
  return { heads: of("head"), checkpoints: of("checkpoint"), breaks: of("break") };
}

/** Selects entries after a position, in order. */
export const after = (position: number, limit: number, where: Predicate = everything): Select => ({
  where: and(where, gt("chain_position", position)),
  order: [{ column: "chain_position", direction: "asc" }],
  after: [position, 0],
  limit,
});

/** The sealed entry with the lowest or highest position, or null. */
export const outermost = (store: ServerTx, direction: "asc" | "desc"): Promise<ActivityRow | null> =>
  store.activities.first({
    where: gt("chain_position", Number.MIN_SAFE_INTEGER),
    order: [{ column: "chain_position", direction }],
  });

/** Replaces the one row of that kind with a newly signed one. */
export async function writeEnd(
  store: ServerTx,
  key: string,
  kind: "head" | "checkpoint",
  { position, hash }: Link,
  now: string,
): Promise<void> {
  const row = { kind, position, hash, created_at: now, signature: signatureOf(key, { kind, position, hash }) };
  const old = await store.activityChain.list({ where: eq("kind", kind) });
  if (old.length === 1) {
    await store.activityChain.update({ where: eq("id", old[0]!.id), set: row });
    return;
  }
  if (old.length > 1) await store.activityChain.delete(eq("kind", kind));
  await store.activityChain.insert(row);
}
