import type { StrangerRequest } from "../../src/server/platform/core/http/stranger-budgets.ts";

/** A request that is neither a sign-in nor an enrollment. */
export const requestFrom = (place: string, isFamiliar = false): StrangerRequest => ({
  place,
  isFamiliar,
  purpose: "other",
});
