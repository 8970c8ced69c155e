// How people name software titles.
import { softwareApi } from "../../../api/software/software.ts";
import type { ApiClient } from "../../../client/client.ts";
import { printable } from "../../../text/printable.ts";
import { notFound, usage } from "../../errors.ts";
import { args } from "../../flags.ts";

export const titleArg = args.required("id or name of the software title");

interface Among {
  readonly team_id?: number;
  readonly available_for_install?: boolean;
}

/** Among the titles that a team offers, or hosts without one. */
export const offered = (team_id: number): Among => ({ team_id, available_for_install: true });

/**
 * The id of the title with this id or name: one that hosts have, or that is offered to them. Apps for several platforms,
 * for example, may have the same name.
 */
export async function titleNamed(client: ApiClient, text: string, among: Among = {}): Promise<number> {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  let title = oneNamed(await search(client, text, among), text);
  if (!title && !among.available_for_install)
    title = oneNamed(await search(client, text, { ...among, available_for_install: true }), text);
  if (title) return title.id;
  throw notFound(
    `there is no software title ${printable(text)}`,
    "`svc software list` shows those that hosts have, with `--available-for-install` those that are offered.",
  );
}

interface Title {
  readonly id: number;
  readonly name: string;
  readonly display_name?: string | undefined;
  readonly source: string;
}

/** The title with this name; null: there is none. */
export function oneNamed(titles: readonly Title[], text: string): Title | null {
  const matches = titles.filter(({ name, display_name }) => name === text || display_name === text);
  if (matches.length <= 1) return matches[0] ?? null;
  const all = matches.map(({ id, source }) => `${id} (${source})`).join(", ");
  throw usage(`several software titles have the name ${printable(text)}: ${all}`, "Give the id of one of them.");
}

const search = async (client: ApiClient, text: string, among: Among): Promise<readonly Title[]> =>
  (await client.all(softwareApi.titles, { query: { ...among, query: text } }, "software_titles")).rows;
