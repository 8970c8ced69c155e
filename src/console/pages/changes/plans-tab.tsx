import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { type PlanItem, plansApi } from "../../../api/edge/plans.ts";
import { client, useOutdate } from "../../api.ts";
import { notifyDone } from "../../frame/notices.tsx";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import type { ListDefinition } from "../../parts/list/definition.ts";
import { List } from "../../parts/list/list-page.tsx";
import { Time } from "../../parts/time.tsx";
import { session } from "../../session.ts";
import { summaryOf } from "./plan-summary.ts";

const SavedPlanDialog = lazy(() => import("./saved-plan-dialog.tsx"));

const tones: Readonly<Record<PlanItem["state"], Tone>> = { pending: "note", applied: "good", expired: "quiet" };

const nameOf = ({ id, name }: Pick<PlanItem, "id" | "name">): string => name || `Plan ${id}`;

/** Changes of the configuration that are kept, with the hosts that they affect, until somebody applies them. */
export function PlansTab(): ReactElement {
  const [shown, setShown] = useState<PlanItem | null>(null);
  const [deleted, setDeleted] = useState<PlanItem | null>(null);
  const definition = useMemo(() => plansOf(setShown, setDeleted), []);
  return (
    <>
      <List definition={definition} />
      {shown !== null && (
        <Suspense fallback={null}>
          <SavedPlanDialog id={shown.id} name={nameOf(shown)} onClose={() => setShown(null)} />
        </Suspense>
      )}
      {deleted !== null && <DeletePlanDialog plan={deleted} onClose={() => setDeleted(null)} />}
    </>
  );
}

const plansOf = (
  onShow: (plan: PlanItem) => void,
  onDelete: (plan: PlanItem) => void,
): ListDefinition<typeof plansApi.list, PlanItem> => ({
  name: "Plans",
  thing: "plan",
  endpoint: plansApi.list,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ plans }) => plans,
  defaultOrder: { key: "id", direction: "desc" },
  keyOf: ({ id }) => id,
  nameOf,
  columns: [
    {
      id: "name",
      name: "Name",
      cell: (plan) => (
        <button type="button" className="plain small" aria-haspopup="dialog" onClick={() => onShow(plan)}>
          {nameOf(plan)}
        </button>
      ),
    },
    { id: "state", name: "State", cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
    { id: "changes", name: "Changes", cell: ({ summary }) => summaryOf(summary) },
    { id: "by", name: "Made by", cell: ({ created_by }) => created_by.name },
    { id: "time", name: "Made", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
    { id: "end", name: "Expires", order: "expires_at", cell: ({ expires_at }) => <Time value={expires_at} /> },
    { id: "applied", name: "Applied by", cell: ({ applied_by }) => applied_by?.name ?? "" },
    {
      id: "action",
      name: "Action",
      cell: (plan) =>
        plan.created_by.id === session.data.user.id && (
          <button
            type="button"
            className="plain small"
            aria-label={`Delete: ${nameOf(plan)}`}
            aria-haspopup="dialog"
            onClick={() => onDelete(plan)}
          >
            Delete
          </button>
        ),
    },
  ],
  filters: [
    {
      name: "state",
      label: "State",
      options: ["pending", "applied", "expired"].map((value) => ({ value, label: value })),
    },
  ],
  command: "plans list",
  empty: (
    <p>
      Plans are changes that were saved for later, with the hosts that they affect. The button Plan of a form makes one,
      and so does <code>svc plans create</code>.
    </p>
  ),
});

function DeletePlanDialog({ plan, onClose }: { readonly plan: PlanItem; readonly onClose: () => void }): ReactElement {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(plansApi.delete, { params: { id: String(plan.id) } });
    notifyDone(`${nameOf(plan)} is deleted.`);
    await outdate(plansApi.list);
  };
  return (
    <ConfirmDialog title={`Delete ${nameOf(plan)}`} verb="Delete" onConfirm={remove} onClose={() => onClose()}>
      <p>{plan.state === "pending" ? "Its changes are not made." : "What it says is lost."}</p>
    </ConfirmDialog>
  );
}
