// Whether there is anything that software can be compared with: "no vulnerabilities" and "nothing is known" differ.
import type { ServerTx } from "../../../platform/core/tables.ts";
import { isNull, not } from "../../../platform/store/query.ts";

type Tables = Pick<ServerTx, "vulnerabilityFeeds" | "vulnerabilities">;

const newest = (column: string) => [{ column, direction: "desc" }] as const;

/**
 * When vulnerability data was last imported; null: never. Vulnerabilities of feeds that the server no longer has count
 * since they were found.
 */
export async function dataImportedAt({ vulnerabilityFeeds, vulnerabilities }: Tables): Promise<string | null> {
  const feed = await vulnerabilityFeeds.first({ where: not(isNull("imported_at")), order: newest("imported_at") });
  if (feed !== null) return feed.imported_at;
  return (await vulnerabilities.first({ order: newest("created_at") }))?.created_at ?? null;
}

/** The reply, with the time of the import. */
export async function withImportTime<R extends object>({ store }: { readonly store: Tables }, reply: R | Promise<R>) {
  const [whole, vulnerability_data_imported_at] = await Promise.all([reply, dataImportedAt(store)]);
  return { ...whole, vulnerability_data_imported_at };
}
