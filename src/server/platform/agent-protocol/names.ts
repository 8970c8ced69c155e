// Names of the queries that agents run for the server, and what they return.
import type { AgentRow } from "./rows.ts";

export const LABEL_PREFIX = "svc_label_query_";
export const ADDITIONAL_PREFIX = "svc_additional_query_";
export const POLICY_PREFIX = "svc_policy_query_";
export const LIVE_PREFIX = "svc_distributed_query_";
export const NO_POLICIES = "svc_no_policies_wildcard";
export const NO_LABELS = "svc_no_labels_wildcard";
/**
 * Prefix of a query whose name carries the revision of the policies (or labels) it is sent with. Agents return the name
 * with the results, so that any server knows which revision they belong to.
 */
export const POLICIES_REVISION = "svc_revision_p_";
/** Prefix for the case that only policies that are new to the host were sent. */
export const NEW_POLICIES_REVISION = "svc_revision_new_p_";
export const LABELS_REVISION = "svc_revision_l_";

/** A host's result of a live query (docs/protocols/agent.md, Distributed queries). */
export interface LiveAnswer {
  /** Cells are text of any length. */
  readonly rows: readonly AgentRow[];
  /** The agent's message, or a default one if it failed without; null: success. */
  readonly error: string | null;
  /** Statistics measured by the agent, if any; not validated. */
  readonly stats: unknown;
}
