import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactElement, ReactNode } from "react";
import { isTemporary } from "../../api.ts";
import { ErrorMessage } from "../error-message.tsx";
import { errorTexts } from "../error-texts.ts";
import { exactTime } from "../time.tsx";
import { useWaiting, WaitingNote } from "./waiting.tsx";

interface ReadProps<Value> {
  readonly from: UseQueryResult<Value>;
  /** What is read: "host". */
  readonly what: string;
  readonly children: (value: Value) => ReactNode;
}

/** What was read, or that it loads, or why it could not be read. What was read before stays when a later try fails. */
export function Read<Value>({ from, what, children }: ReadProps<Value>): ReactElement {
  const waiting = useWaiting(from);
  if (from.data !== undefined)
    return (
      <>
        {/* A server that is gone is reported once, for the whole page. */}
        {from.isError && !isTemporary(from.error) && (
          <p role="status" className="message note">
            This is from {exactTime(from.dataUpdatedAt)}. {errorTexts(from.error).join(" ")}
          </p>
        )}
        {children(from.data)}
      </>
    );
  if (from.isError) return <ErrorMessage error={from.error} onRetry={() => void from.refetch()} />;
  return (
    <>
      {waiting !== "cancelled" && (
        <p role="status" className="loading">
          Loading {what}
        </p>
      )}
      <WaitingNote from={from} state={waiting} what={what} />
    </>
  );
}
