// Names of titles that users have corrected.
import { isOneLine, NOT_ONE_LINE } from "../../api/fields.ts";
import type { Context } from "../core/context.ts";
import { invalid, notFound } from "../core/errors.ts";
import { eq } from "../store/query.ts";

/** Hosts may report other names: a title is known by its bundle identifier, and keeps the name that it has here. */
export async function renameTitle(ctx: Context, id: number, given: string): Promise<Record<string, never>> {
  const name = given.normalize("NFC").trim();
  if (name === "") throw invalid("name", "must not be empty");
  if (!isOneLine(name)) throw invalid("name", NOT_ONE_LINE);
  await ctx.store.tx(async (store) => {
    const title = await store.softwareTitles.get(id);
    if (title === null) throw notFound("software title", id);
    if (title.bundle_identifier === "")
      throw invalid("id", "hosts know this title by its name only: titles without a bundle identifier keep theirs");
    await store.softwareTitles.update({ where: eq("id", id), set: { name } });
    await store.softwareTitleCounts.update({ where: eq("title_id", id), set: { name } });
  });
  return {};
}
