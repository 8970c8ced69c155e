import { hostPolicies, policies } from "../../../checks/policies/tables.ts";
import { eq, exists, hasOf, type Predicate } from "../../../platform/store/query.ts";

type PolicyResponse = "passing" | "failing";

/** Hosts that pass (or fail) at least one of the policies. Hosts without a result do neither. */
export const answering = (response: PolicyResponse, which: Predicate): Predicate =>
  exists(hostPolicies, "id", hasOf(response, policies, which, "result_id"));

export const withPolicy = (id: number, response: PolicyResponse): Predicate => answering(response, eq("id", id));
