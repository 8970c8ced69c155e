import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactElement, ReactNode } from "react";
import { ErrorMessage } from "./error-message.tsx";

interface ReadProps<Value> {
  readonly from: UseQueryResult<Value>;
  /** What is read: "host". */
  readonly what: string;
  readonly children: (value: Value) => ReactNode;
}

/** What was read, or that it loads, or why it could not be read. What was read before stays when a later try fails. */
export function Read<Value>({ from, what, children }: ReadProps<Value>): ReactElement {
  if (from.data !== undefined)
    return (
      <>
        {from.isError && (
          <p role="status" className="message note">
            This is not up to date: the server does not respond.
          </p>
        )}
        {children(from.data)}
      </>
    );
  if (from.isError) return <ErrorMessage error={from.error} onRetry={() => void from.refetch()} />;
  return (
    <p role="status" className="loading">
      Loading {what}
    </p>
  );
}
