import type { PlanChange } from "../../../../api/edge/plans.ts";

const team = (name: string) => ({ kind: "team", owner: null, name });

/** A team that is created, or gets another description. */
export const planOfTeam = (name: string, value: { readonly description: string }): PlanChange => ({
  ...team(name),
  action: "set",
  value,
});

export const planOfTeamDeletion = (name: string): PlanChange => ({ ...team(name), action: "delete" });
