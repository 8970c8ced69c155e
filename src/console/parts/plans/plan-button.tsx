import { lazy, type ReactElement, Suspense, useState } from "react";
import type { CreatePlan, PlanChange } from "../../../api/edge/plans.ts";
import { session } from "../../session.ts";

const PlanDialog = lazy(() => import("./plan-dialog.tsx"));

/** Changes, with the secret texts to which their values refer. */
export type PlanRequest = Pick<CreatePlan, "changes" | "secrets">;

interface PlanButtonProps {
  /** What is planned: "Up". */
  readonly name: string;
  /** The change as it stands in the form, or why it cannot be planned. */
  readonly change: () => PlanChange | PlanRequest | string;
  readonly onApplied: () => void;
  /** Closes the form after its changes were saved for later. */
  readonly onKept: () => void;
}

/** The button of a form that shows which hosts its changes affect, before they are saved. */
export function PlanButton({ name, change, onApplied, onKept }: PlanButtonProps): ReactElement {
  const [planRequest, setRequest] = useState<PlanRequest | null>(null);
  const [reason, setReason] = useState<string | null>(null);
  const open = () => {
    const planned = change();
    setReason(typeof planned === "string" ? planned : null);
    if (typeof planned === "string") setRequest(null);
    else setRequest("changes" in planned ? planned : { changes: [planned] });
  };
  return (
    <>
      {reason !== null && (
        <p role="alert" className="message note">
          {reason}
        </p>
      )}
      <button type="button" className="plain" aria-haspopup="dialog" onClick={open}>
        Plan
      </button>
      {planRequest !== null && (
        <Suspense fallback={null}>
          <PlanDialog
            name={name}
            planRequest={planRequest}
            onApplied={onApplied}
            onKept={onKept}
            onClose={() => setRequest(null)}
          />
        </Suspense>
      )}
    </>
  );
}

export const CANNOT_RENAME = "A plan cannot give another name. Save the name first.";

/** The owner of an object as plans name it. Null: it is global; 0: hosts without a team. */
export function ownerOf(teamId: number | null): string | null {
  if (teamId === null) return null;
  return teamId === 0 ? "No team" : (session.data.available_teams.find(({ id }) => id === teamId)?.name ?? "");
}

/** The fields of a form that differ from what it began with; all of a new object. */
export function changedFields<V extends Readonly<Record<string, unknown>>>(values: V, before: V | null): Partial<V> {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => before === null || JSON.stringify(value) !== JSON.stringify(before[name]),
    ),
  ) as Partial<V>;
}
