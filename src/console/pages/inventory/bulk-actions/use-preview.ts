// What an action on many hosts would do, from a dry run of the server.
import { useCallback, useEffect, useState } from "react";
import type { BulkOutcome } from "../../../../api/inventory/bulk-actions.ts";
import { request } from "../../../api.ts";

export interface BulkCall {
  readonly headers: Readonly<Record<string, string>>;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** Sends the action to the hosts of the dialog. */
export type SendBulk = (call: BulkCall, reason: string) => Promise<BulkOutcome>;

export interface Preview {
  /** Null: it is not there yet. */
  readonly outcome: BulkOutcome | null;
  readonly error: unknown;
  readonly retry: () => void;
}

/** `send` null: what to do has yet to be chosen. Another function is another action, which is tried out anew. */
export function usePreview(send: SendBulk | null, headers: BulkCall["headers"]): Preview {
  const [outcome, setOutcome] = useState<BulkOutcome | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt repeats it
  useEffect(() => {
    setOutcome(null);
    setError(null);
    if (send === null) return;
    const stop = new AbortController();
    request(() => send({ headers, dryRun: true, signal: stop.signal }, "")).then(
      (reply) => stop.signal.aborted || setOutcome(reply),
      (thrown: unknown) => stop.signal.aborted || setError(thrown),
    );
    return () => stop.abort();
  }, [send, headers, attempt]);
  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  return { outcome, error, retry };
}
