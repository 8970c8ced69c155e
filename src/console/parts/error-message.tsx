import type { ReactElement } from "react";
import { ApiCallError } from "../../client/errors.ts";
import { errorTexts } from "./error-texts.ts";

interface ErrorMessageProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** An error in the words of the server, with the id under which the server logged it. */
export function ErrorMessage({ error, onRetry }: ErrorMessageProps): ReactElement {
  const reference = error instanceof ApiCallError ? error.requestId : undefined;
  return (
    <div role="alert" className="message bad">
      {errorTexts(error).map((text) => (
        <p key={text}>{text}</p>
      ))}
      {reference !== undefined && <p className="small">Reference: {reference}</p>}
      {onRetry !== undefined && (
        <button type="button" className="plain" onClick={onRetry}>
          Retry
        </button>
      )}
    </div>
  );
}
