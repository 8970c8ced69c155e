// Contents of operations, each stored once by its digest.
import { createHash } from "node:crypto";
import { days, isoAt } from "../core/clock.ts";
import type { Context } from "../core/context.ts";
import { and, exists, lte, not } from "../store/query.ts";
import { operations } from "./tables.ts";

/** A content that nothing refers to is deleted after this time. */
const KEPT_FOR = days(1);

type Backing = Pick<Context, "store" | "clock">;

/** Stores the contents in the caller's transaction, as far as they are new. Returns their ids. */
export async function keepContents(
  { store, clock }: Backing,
  contents: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const distinct = [...new Set(contents)];
  const rows = distinct.map((content) => ({
    digest: createHash("sha256").update(content).digest("hex"),
    content,
    used_at: clock.iso(),
  }));
  // Setting the time also locks a row that exists: it cannot be deleted as unused before this transaction has ended.
  const kept = await store.operationContents.upsert(rows, { on: ["digest"], set: ["used_at"], returning: ["id"] });
  return new Map(distinct.map((content, i) => [content, kept[i]!.id]));
}

export async function forgetContents({ store, clock }: Backing): Promise<number> {
  const unused = and(lte("used_at", isoAt(clock.now() - KEPT_FOR)), not(exists(operations, "content_id")));
  return store.operationContents.delete(unused);
}
