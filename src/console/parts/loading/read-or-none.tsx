import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactElement, ReactNode } from "react";
import { ApiCallError } from "../../../client/errors.ts";
import { Read } from "./read.tsx";

interface ReadOrNoneProps<Value> {
  readonly from: UseQueryResult<Value>;
  readonly what: string;
  /** Null: the server has none. */
  readonly children: (value: Value | null) => ReactNode;
}

const NOT_FOUND = 404;

/** Like `Read`, for what there may not be: the server then answers that it was not found. */
export function ReadOrNone<Value>({ from, what, children }: ReadOrNoneProps<Value>): ReactElement {
  if (from.error instanceof ApiCallError && from.error.status === NOT_FOUND) return <>{children(null)}</>;
  return (
    <Read from={from} what={what}>
      {children}
    </Read>
  );
}
