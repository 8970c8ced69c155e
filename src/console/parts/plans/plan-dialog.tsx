import { type ReactElement, useEffect, useState } from "react";
import { type Plan, plansApi } from "../../../api/edge/plans.ts";
import { client, request, useOutdate, useRead } from "../../api.ts";
import { notifyDone } from "../../frame/notices.tsx";
import { session } from "../../session.ts";
import { Dialog } from "../dialog.tsx";
import { ErrorMessage } from "../error-message.tsx";
import type { PlanRequest } from "./plan-button.tsx";
import { PlanChanges } from "./plan-changes.tsx";
import { PlanFile } from "./plan-file.tsx";

export interface PlanDialogProps {
  /** What is planned: "Up". */
  readonly name: string;
  readonly planRequest: PlanRequest;
  /** After all changes were made. */
  readonly onApplied: () => void;
  /** After the plan was kept for later. */
  readonly onKept: () => void;
  readonly onClose: () => void;
}

/** What a change would do, before it is made: the hosts, and the fields that differ. Nothing is stored until a button says so. */
export default function PlanDialog({ name, planRequest, onApplied, onKept, onClose }: PlanDialogProps): ReactElement {
  const [plan, setPlan] = useState<Plan | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const [extended, setExtended] = useState("");
  const [isFileShown, setFileShown] = useState(false);
  const outdate = useOutdate();
  useEffect(() => {
    let isCurrent = true;
    request(() => client.call(plansApi.create, { body: planRequest }, { dryRun: true })).then(
      (reply) => isCurrent && setPlan(reply.plan),
      (thrown: unknown) => isCurrent && setError(thrown),
    );
    return () => {
      isCurrent = false;
    };
  }, [planRequest]);
  const sending = async (work: () => Promise<void>) => {
    if (isSending) return;
    setSending(true);
    setError(null);
    try {
      await request(work);
    } catch (thrown) {
      setError(thrown);
      setSending(false);
    }
  };
  const create = (body: { readonly name?: string; readonly extends?: number }) =>
    client.call(plansApi.create, { body: { ...body, ...planRequest } });
  const keep = () =>
    sending(async () => {
      const reply = await create(extended === "" ? { name } : { extends: Number(extended) });
      await outdate(plansApi.list);
      notifyDone(`It is kept as plan ${reply.plan.id}: apply it on the page Changes.`);
      onKept();
    });
  const apply = () =>
    sending(async () => {
      const { plan: kept } = await create({ name });
      try {
        await client.call(plansApi.apply, { params: { id: String(kept.id) } });
      } catch (thrown) {
        await client.call(plansApi.delete, { params: { id: String(kept.id) } }).catch(() => {});
        throw thrown;
      }
      notifyDone(`The plan for ${name} is applied.`);
      onApplied();
    });
  return (
    <Dialog title={`Plan: ${name}`} isWide onClose={onClose}>
      {plan === null && error === null && (
        <p role="status" className="loading">
          Loading plan
        </p>
      )}
      {plan !== null && <PlanChanges changes={plan.changes} />}
      {error !== null && <ErrorMessage error={error} />}
      {plan !== null && isFileShown && <PlanFile changes={plan.changes} />}
      {plan !== null && plan.changes.length > 0 && <ExtendedPlan value={extended} onChange={setExtended} />}
      <div className="dialog-buttons">
        <button type="button" className="plain" onClick={onClose}>
          Cancel
        </button>
        {plan !== null && plan.changes.length > 0 && (
          <>
            <button
              type="button"
              className="plain"
              aria-expanded={isFileShown}
              onClick={() => setFileShown(!isFileShown)}
            >
              As YAML
            </button>
            <button type="button" className="plain" disabled={isSending} onClick={() => void keep()}>
              Save for later
            </button>
            <button type="button" disabled={isSending} onClick={() => void apply()}>
              Apply
            </button>
          </>
        )}
      </div>
    </Dialog>
  );
}

/** To which of the user's pending plans the changes are added when they are saved for later. */
function ExtendedPlan({ value, onChange }: { readonly value: string; readonly onChange: (id: string) => void }) {
  const { data } = useRead(plansApi.list, { query: { state: "pending", per_page: 50 } });
  const pendingPlans = (data?.plans ?? []).filter(({ created_by }) => created_by.id === session.data.user.id);
  if (pendingPlans.length === 0) return null;
  return (
    <div className="field">
      <label htmlFor="extended-plan">Saved for later in</label>
      <select id="extended-plan" value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">a new plan</option>
        {pendingPlans.map(({ id, name }) => (
          <option key={id} value={id}>
            {`plan ${id}${name === "" ? "" : `: ${name}`}`}
          </option>
        ))}
      </select>
    </div>
  );
}
