import type { Policy } from "../../../../api/checks/policies.ts";

/** The page of a policy. Policies of a team are requested through the team, so the address names it. */
export const policyHref = ({ id, team_id }: Pick<Policy, "id" | "team_id">): string =>
  team_id === null ? `/policies/${id}` : `/policies/${id}?of=${team_id}`;
