// How people name software titles.
import { softwareApi } from "../../../api/software.ts";
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
  let [found, ...others] = await named(client, text, among);
  if (!found && !among.available_for_install)
    [found, ...others] = await named(client, text, { ...among, available_for_install: true });
  const name = printable(text);
  if (!found) throw notFound(`there is no software title ${name}`, "`svc software list` shows them, with their ids.");
  if (others.length === 0) return found.id;
  const all = [found, ...others].map(({ id, source }) => `${id} (${source})`).join(", ");
  throw usage(`several software titles have the name ${name}: ${all}`, "Give the id of one of them.");
}

async function named(client: ApiClient, text: string, among: Among) {
  const { rows } = await client.all(softwareApi.titles, { query: { ...among, query: text } }, "software_titles");
  return rows.filter(({ name, display_name }) => name === text || display_name === text);
}
