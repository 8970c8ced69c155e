import { type ReactElement, useState } from "react";
import { type Plan, plansApi } from "../../../api/edge/plans.ts";
import { client, useOutdate, useRead } from "../../api.ts";
import { notifyDone } from "../../frame/notices.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Read } from "../../parts/loading/read.tsx";
import { PlanChanges } from "../../parts/plans/plan-changes.tsx";
import { PlanFile } from "../../parts/plans/plan-file.tsx";
import { Time } from "../../parts/time.tsx";
import { summaryOf } from "./plan-summary.ts";

interface SavedPlanDialogProps {
  readonly id: number;
  readonly name: string;
  readonly onClose: () => void;
}

/** A plan that was saved for later, which can be applied. */
export default function SavedPlanDialog({ id, name, onClose }: SavedPlanDialogProps): ReactElement {
  const reply = useRead(plansApi.get, { params: { id: String(id) } });
  const [isApplying, setApplying] = useState(false);
  const [isFileShown, setFileShown] = useState(false);
  const plan = reply.data?.plan;
  if (isApplying && plan !== undefined) return <ApplyPlanDialog plan={plan} name={name} onClose={onClose} />;
  return (
    <Dialog title={`Plan: ${name}`} isWide onClose={onClose}>
      <Read from={reply} what="plan">
        {({ plan: { changes, state, applied_by, applied_at, created_by, created_at, expires_at } }) => (
          <>
            <p>
              {created_by.name} made it <Time value={created_at} />.{" "}
              {applied_at === null ? (
                <>
                  {state === "expired" ? "It expired" : "It expires"} <Time value={expires_at} />.
                </>
              ) : (
                <>
                  {applied_by?.name} applied it <Time value={applied_at} />.
                </>
              )}
            </p>
            <PlanChanges changes={changes} />
            {isFileShown && <PlanFile changes={changes} />}
          </>
        )}
      </Read>
      <div className="dialog-buttons">
        <button type="button" className="plain" onClick={onClose}>
          Cancel
        </button>
        {plan !== undefined && plan.changes.length > 0 && (
          <button
            type="button"
            className="plain"
            aria-expanded={isFileShown}
            onClick={() => setFileShown(!isFileShown)}
          >
            As YAML
          </button>
        )}
        {plan?.may_apply && (
          <button type="button" aria-haspopup="dialog" onClick={() => setApplying(true)}>
            Apply
          </button>
        )}
      </div>
    </Dialog>
  );
}

interface ApplyPlanDialogProps {
  readonly plan: Plan;
  readonly name: string;
  readonly onClose: () => void;
}

function ApplyPlanDialog({ plan, name, onClose }: ApplyPlanDialogProps): ReactElement {
  const outdate = useOutdate();
  const apply = async () => {
    await client.call(plansApi.apply, { params: { id: String(plan.id) } });
    notifyDone(`${name} is applied.`);
    await outdate(plansApi.list, plansApi.get);
  };
  return (
    <ConfirmDialog title={`Apply ${name}`} verb="Apply" isDangerous={false} onConfirm={apply} onClose={() => onClose()}>
      <p>All of its changes are made, or none: {summaryOf(plan.summary)}.</p>
    </ConfirmDialog>
  );
}
