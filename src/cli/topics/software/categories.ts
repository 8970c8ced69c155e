// What commands for the categories of self-service share.

import { SelfServiceCategory, selfServiceCategoriesApi } from "../../../api/software/self-service.ts";
import { printable } from "../../../text/printable.ts";
import type { ClientCommand } from "../../client-command.ts";
import { notFound } from "../../errors.ts";
import { args } from "../../flags.ts";
import type { View } from "../../output/output.ts";
import { profileTeamFlag } from "../mdm/profiles.ts";

export const categoryArg = args.required("id, or name within the team, of the category");
export const categoryTeamFlag = profileTeamFlag;

export const categoryView: View = {
  schema: () => SelfServiceCategory,
  columns: [{ key: "id" }, { key: "name" }, { key: "created_at", header: "created" }],
};

/** 0: hosts without a team. */
export async function teamIdOf(command: ClientCommand, team: string | undefined): Promise<number> {
  return (await command.teamFilter(team)).team_id ?? 0;
}

/** Finds a category by id or name within the given team. */
export async function findCategory(
  command: ClientCommand,
  text: string,
  team: string | undefined,
): Promise<SelfServiceCategory> {
  const query = { team_id: await teamIdOf(command, team) };
  const { rows } = await (await command.client()).all(
    selfServiceCategoriesApi.list,
    { query },
    "self_service_categories",
  );
  const match =
    rows.find(({ name }) => name.toLowerCase() === text.toLowerCase()) ?? rows.find(({ id }) => String(id) === text);
  if (match) return match;
  throw notFound(
    `there is no category ${printable(text)}${team === undefined ? " for hosts without a team" : " of that team"}`,
    "`svc software categories list` shows them; a team's need --team.",
  );
}
