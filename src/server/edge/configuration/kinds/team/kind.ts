import type { Kind } from "../../kind.ts";
import { type DesiredTeam, readTeam } from "./value.ts";
import { removeTeams, writeTeams } from "./write.ts";

export const team: Kind<null, DesiredTeam> = {
  name: "team",
  owners: ["global"],
  per: "many",
  action: ({ action }) => (action === "create" ? "teams:create" : action === "delete" ? "teams:delete" : "teams:edit"),
  load: async () => null,
  things: (_, { teams }) =>
    teams.map(({ name, description }) => ({ kind: "team", owner: null, name, value: { description } })),
  read: (_, change) => readTeam(change),
  write: (work, { steps }) => writeTeams(work, steps),
  remove: (work, { gone }) => removeTeams(work, gone),
};
