// Contents of operations, each stored once by its digest.
import { createHash } from "node:crypto";
import type { StoredFile } from "../../../api/bodies.ts";
import { days, hours, isoAt } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq, exists, lte, not } from "../../platform/store/query.ts";
import { type CachedContent, cachedContents } from "./cached-contents.ts";
import { operations } from "./tables.ts";

/** The content as it is stored, and the id of its file, if it is one; a text is read once for all hosts that get it. */
export async function contentOf(
  { store, running }: Pick<Context, "store" | "running">,
  id: number,
): Promise<{ readonly content: CachedContent; readonly fileId: number | null } | null> {
  const where = eq("id", id);
  const [row] = await store.operationContents.pick(["digest", "file_id"], { where });
  if (row === undefined) return null;
  const load = async () => (await store.operationContents.get(id))?.content ?? "";
  return { content: await running.of(cachedContents).get(row.digest, load), fileId: row.file_id };
}

/** A content that nothing refers to is deleted after this time. */
const KEPT_FOR = days(1);
/** How exactly the last use of a content is known. Many hosts use the same one at the same time. */
const PRECISION = hours(6);

type Deps = Pick<Context, "store" | "clock">;

/** What a host gets: a text, or a file that was uploaded (`files/`). */
export type OperationContent = string | Pick<StoredFile, "id" | "sha256">;

/** Stores the contents in the caller's transaction, as far as they are new. Returns their ids. */
export async function keepContents(
  { store, clock }: Deps,
  contents: readonly OperationContent[],
): Promise<ReadonlyMap<OperationContent, number>> {
  const distinct = [...new Set(contents)];
  // Rounded, so that a content that is used all the time is written rarely: writing locks its row for all others until
  // the transaction has ended. It cannot be deleted meanwhile, as it was used less than `KEPT_FOR` ago.
  const used_at = isoAt(Math.floor(clock.now() / PRECISION) * PRECISION);
  const rows = distinct.map((content) =>
    typeof content === "string"
      ? { digest: createHash("sha256").update(content).digest("hex"), content, file_id: null, used_at }
      : { digest: `file-${content.sha256}`, content: "", file_id: content.id, used_at },
  );
  const storedRows = await store.operationContents.upsert(rows, {
    on: ["digest"],
    set: ["used_at"],
    returning: ["id"],
  });
  return new Map(distinct.map((content, i) => [content, storedRows[i]!.id]));
}

export async function forgetContents({ store, clock }: Deps): Promise<number> {
  const unused = and(lte("used_at", isoAt(clock.now() - KEPT_FOR)), not(exists(operations, "content_id")));
  return store.operationContents.delete(unused);
}
