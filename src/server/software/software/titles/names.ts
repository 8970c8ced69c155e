// Titles that are known by a bundle identifier have the name that most of their copies have, because the user of a Mac may
// have renamed the copy that was reported first; or the name that a user of the server has given them.

import { isOneLine, NOT_ONE_LINE } from "../../../../api/fields.ts";
import { ALL_HOSTS } from "../../../hosts/count-changes/tables.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import type { Context, Services } from "../../../platform/core/context.ts";
import { invalid, notFound } from "../../../platform/core/errors.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, not, oneOf } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { softwareTitles } from "../tables.ts";

/** On how many hosts a title has each name. */
type NameCounts = Map<string, number>;
type Title = Pick<RowOf<typeof softwareTitles>, "id" | "name" | "named_by">;

async function countNames({ store }: Pick<Services, "store">, signal: AbortSignal): Promise<Map<number, NameCounts>> {
  const names = new Map<number, NameCounts>();
  const columns = ["title_id", "name", "hosts_count"] as const;
  for await (const rows of store.softwareVersionCounts.pages({ where: eq("scope", ALL_HOSTS) }, undefined, columns)) {
    if (signal.aborted) break;
    for (const { title_id, name, hosts_count } of rows) {
      const counts = names.get(title_id) ?? new Map<string, number>();
      counts.set(name, (counts.get(name) ?? 0) + hosts_count);
      names.set(title_id, counts);
    }
  }
  return names;
}

/** The title's own name, unless another one is on more hosts. */
function commonestName({ name: titleName }: Title, counts: NameCounts): string {
  let best = { name: titleName, hosts: counts.get(titleName) ?? 0 };
  for (const [name, hosts] of counts)
    if (hosts > best.hosts || (hosts === best.hosts && best.name !== titleName && name < best.name))
      best = { name, hosts };
  return best.name;
}

/** Earlier versions of the server did not store who named a title: users choose names that no copy has. */
const isNamedByHosts = ({ name, named_by }: Title, counts: NameCounts): boolean =>
  named_by === "hosts" || (named_by === "" && counts.has(name));

/** Returns how many titles were given another name. */
export async function nameTitles({ store }: Pick<Services, "store">, signal: AbortSignal): Promise<number> {
  const names = await countNames({ store }, signal);
  let renamed = 0;
  for await (const ids of parts([...names.keys()])) {
    if (signal.aborted) return renamed;
    const bundled = and(oneOf("id", ids), not(eq("bundle_identifier", "")), not(eq("named_by", "user")));
    for (const title of await store.softwareTitles.pick(["id", "name", "named_by"], { where: bundled })) {
      const counts = names.get(title.id)!;
      const name = isNamedByHosts(title, counts) ? commonestName(title, counts) : title.name;
      if (name !== title.name && (await store.tx((tx) => setName(tx, title, name)))) renamed++;
    }
  }
  return renamed;
}

/** False if a user has named the title meanwhile. */
async function setName(tx: ServerTx, { id, named_by }: Title, name: string): Promise<boolean> {
  const set = { name, named_by: "hosts" as const };
  if ((await tx.softwareTitles.update({ where: and(eq("id", id), eq("named_by", named_by)), set })) === 0) return false;
  await tx.softwareTitleCounts.update({ where: eq("title_id", id), set: { name } });
  return true;
}

/** Hosts may report other names: a title is known by its bundle identifier, and keeps the name that it has here. */
export async function renameTitle(ctx: Context, id: number, input: string): Promise<Record<string, never>> {
  const name = input.normalize("NFC").trim();
  if (name === "") throw invalid("name", "must not be empty");
  if (!isOneLine(name)) throw invalid("name", NOT_ONE_LINE);
  await ctx.store.tx(async (store) => {
    const title = await store.softwareTitles.get(id);
    if (title === null) throw notFound("software title", id);
    if (title.bundle_identifier === "")
      throw invalid("id", "hosts know this title by its name only: titles without a bundle identifier keep theirs");
    await store.softwareTitles.update({ where: eq("id", id), set: { name, named_by: "user" } });
    await store.softwareTitleCounts.update({ where: eq("title_id", id), set: { name } });
  });
  return {};
}
