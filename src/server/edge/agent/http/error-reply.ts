import { BadJson } from "../../../platform/agent-protocol/json-scan.ts";
import {
  type AgentReply,
  type EndpointName,
  failure,
  filesUnavailable,
  internal,
  malformed,
  overdue,
  storeUnavailable,
} from "../../../platform/agent-protocol/wire.ts";
import { Overdue } from "../../../platform/core/concurrency/age.ts";
import type { Services } from "../../../platform/core/context.ts";
import { BlobsUnavailable } from "../../../platform/store/blobs/blobs.ts";
import { BadRow } from "../../../platform/store/rows.ts";
import { StoreUnavailable } from "../../../platform/store/store.ts";

/** Maps an error to a reply. An unexpected error must never invalidate the agent's node key. */
export function errorReply(
  { metrics, log }: Pick<Services, "metrics" | "log">,
  endpoint: EndpointName,
  error: unknown,
): AgentReply {
  if (error instanceof BadJson) return malformed;
  if (error instanceof Overdue) {
    metrics.agentOverdue.inc({ endpoint });
    return overdue;
  }
  if (error instanceof StoreUnavailable) {
    const ofFiles = error instanceof BlobsUnavailable;
    const what = ofFiles ? "files cannot be stored" : "the store is unavailable";
    log.warn({ err: error, endpoint }, `an agent request failed because ${what}`);
    return ofFiles ? filesUnavailable : storeUnavailable;
  }
  log.error({ err: error, endpoint }, "an agent request failed");
  return error instanceof BadRow ? failure(400, "the request contains values that cannot be stored") : internal;
}
