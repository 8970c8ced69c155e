// Enroll secrets, of all hosts or of a team.
import { isOfTeam } from "../plan/activities.ts";
import type { Kind } from "./kind.ts";

export const enrollSecrets: Kind = {
  noun: "enroll secrets",
  ofNewTeam: { secrets: [] },
  unordered: "secrets",
  typesOf: () => ["edited_enroll_secrets"],
  isAbout: (details, _, { owner }) => isOfTeam(details, owner),
};
