import type { ReactElement } from "react";
import { ApiCallError } from "../../client/errors.ts";
import { PageLink } from "../frame/page-link.tsx";
import { may } from "../session.ts";
import { errorTexts } from "./error-texts.ts";

interface ErrorMessageProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

const MANAGEMENT_OFF = "device management is not turned on";

/** Nothing is wrong, and trying again would not help. */
function ManagementOff(): ReactElement {
  return (
    <p className="message note">
      Device management is not turned on.{" "}
      {may("config:write", null) && <PageLink href="/settings/device-management">Turn it on</PageLink>}
    </p>
  );
}

/** An error in the words of the server, with the id under which the server logged it. */
export function ErrorMessage({ error, onRetry }: ErrorMessageProps): ReactElement {
  if (error instanceof ApiCallError && error.message === MANAGEMENT_OFF) return <ManagementOff />;
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
