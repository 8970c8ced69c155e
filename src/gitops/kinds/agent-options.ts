// Agent options, of all hosts or of a team.
import { isOfTeam } from "../plan/activities.ts";
import type { Kind } from "./kind.ts";

export const agentOptions: Kind = {
  noun: "agent options",
  ofNewTeam: null,
  typesOf: () => ["edited_agent_options"],
  isAbout: (details, _, { owner }) => isOfTeam(details, owner),
};
