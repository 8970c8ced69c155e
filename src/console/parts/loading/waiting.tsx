import { type UseQueryResult, useQueryClient } from "@tanstack/react-query";
import { type ReactElement, useEffect, useState } from "react";

const SLOW_MS = 10_000;

export type Waiting = "loading" | "slow" | "cancelled";

/** How the first read of something goes: whether it takes long, or the user has cancelled it. */
export function useWaiting({ isPending, fetchStatus }: UseQueryResult): Waiting {
  const isWaiting = isPending && fetchStatus === "fetching";
  const [state, setState] = useState<"loading" | "slow">("loading");
  useEffect(() => {
    if (!isWaiting) return;
    setState("loading");
    const timer = setTimeout(() => setState("slow"), SLOW_MS);
    return () => clearTimeout(timer);
  }, [isWaiting]);
  return isPending && !isWaiting && state === "slow" ? "cancelled" : state;
}

interface WaitingNoteProps {
  readonly from: UseQueryResult;
  readonly state: Waiting;
  /** What is read: "hosts". */
  readonly what: string;
}

/** After a while: what is waited for, with a way to stop; and a way to begin again. */
export function WaitingNote({ from, state, what }: WaitingNoteProps): ReactElement | null {
  const queries = useQueryClient();
  if (state === "loading") return null;
  const cancel = () =>
    void queries.cancelQueries({
      predicate: (query) => query.state.status === "pending" && query.state.fetchStatus === "fetching",
    });
  return (
    <div className="message note">
      <p>
        {state === "slow"
          ? `The server has not answered for ${SLOW_MS / 1000} seconds. This page waits for the ${what}.`
          : `Loading the ${what} was cancelled.`}
      </p>
      {state === "slow" ? (
        <button type="button" className="plain small" onClick={cancel}>
          Cancel
        </button>
      ) : (
        <button type="button" className="plain small" onClick={() => void from.refetch()}>
          Load again
        </button>
      )}
    </div>
  );
}
