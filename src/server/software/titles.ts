// Titles that are known although no host may have them: those of packages and apps that teams offer.
import type { ServerTx } from "../core/tables.ts";
import type { Table } from "../store/table.ts";
import { titleKey } from "./inventory.ts";

/** A column of another table that keeps titles from being deleted. */
export interface TitleReference {
  readonly table: Table;
  readonly column: string;
}

declare module "../core/extensions.ts" {
  interface Extensions {
    readonly titleReferences: readonly TitleReference[];
  }
}

export const referencesToTitles = (tables: readonly Table[]): TitleReference[] =>
  tables.flatMap((table) =>
    Object.entries(table.columns)
      .filter(([, { spec }]) => spec.to === "software_titles" && spec.onDelete === "restrict")
      .map(([column]) => ({ table, column })),
  );

export interface TitleIdentity {
  readonly name: string;
  readonly source: string;
  readonly bundle_identifier?: string;
}

/** The id of the title that hosts report under the same identity. It is created if no host has reported it yet. */
export async function titleIdFor(
  store: Pick<ServerTx, "softwareTitles">,
  { name, source, bundle_identifier = "" }: TitleIdentity,
): Promise<number> {
  const title = { name, source, extension_for: "", bundle_identifier };
  const [row] = await store.softwareTitles.upsert([{ ...title, key: titleKey(title) }], {
    on: ["key"],
    set: [],
    returning: ["id"],
  });
  return row!.id;
}
