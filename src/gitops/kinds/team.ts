// Teams; their settings are other kinds.
import { anyOf, changedPaths } from "../plan/activities.ts";
import type { Kind } from "./kind.ts";

export const team: Kind = {
  noun: "team",
  typesOf: () => anyOf("team"),
  isAbout: (details, type, { name }) =>
    details.team_name === name && (type !== "edited_team" || changedPaths(details).includes("description")),
};
