import type { ReactElement } from "react";
import { Badge } from "../../parts/badge.tsx";
import { Time, useNow } from "../../parts/time.tsx";

const DAY_MS = 86_400_000;
const WARNING_DAYS = 30;

/** When something ends, with a warning from thirty days before. */
export function Expiry({ value }: { readonly value: string }): ReactElement {
  const left = Date.parse(value) - useNow();
  return (
    <>
      <Time value={value} />
      {left <= 0 ? (
        <>
          {" "}
          <Badge tone="bad">expired</Badge>
        </>
      ) : (
        left < WARNING_DAYS * DAY_MS && (
          <>
            {" "}
            <Badge tone="note">expires soon</Badge>
          </>
        )
      )}
    </>
  );
}
