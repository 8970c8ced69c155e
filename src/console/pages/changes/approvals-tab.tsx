import { type ReactElement, useMemo, useState } from "react";
import { type Approval, approvalsApi } from "../../../api/hosts/approvals.ts";
import { client, useOutdate } from "../../api.ts";
import { notifyDone } from "../../frame/notices.tsx";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { counted } from "../../parts/counted.ts";
import type { ListDefinition } from "../../parts/list/definition.ts";
import { List } from "../../parts/list/list-page.tsx";
import { Time } from "../../parts/time.tsx";
import { session } from "../../session.ts";

type Decision = { readonly kind: "Approve" | "Deny"; readonly approval: Approval };

const tones: Readonly<Record<Approval["state"], Tone>> = {
  pending: "note",
  approved: "note",
  denied: "quiet",
  expired: "quiet",
  done: "good",
  failed: "bad",
};

/** What is to be done: "Erase ada-mac", "Delete 12 hosts". */
const whatOf = ({ action, hosts, hosts_count }: Approval): string =>
  `${action === "delete_hosts" ? "Delete" : "Erase"} ${hosts_count === 1 ? (hosts[0]?.display_name ?? "a host") : counted(hosts_count, "host")}`;

export function ApprovalsTab(): ReactElement {
  const [decision, setDecision] = useState<Decision | null>(null);
  const definition = useMemo(() => approvalsOf(setDecision), []);
  return (
    <>
      <List definition={definition} />
      {decision !== null && <DecisionDialog decision={decision} onClose={() => setDecision(null)} />}
    </>
  );
}

const approvalsOf = (onDecide: (decision: Decision) => void): ListDefinition<typeof approvalsApi.list, Approval> => ({
  name: "Approvals",
  view: "approvals",
  thing: "approval",
  endpoint: approvalsApi.list,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ approvals }) => approvals,
  defaultOrder: { key: "id", direction: "desc" },
  keyOf: ({ id }) => id,
  nameOf: whatOf,
  columns: [
    { id: "what", name: "What", cell: whatOf },
    { id: "state", name: "State", cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
    { id: "by", name: "Requested by", cell: ({ requested_by }) => requested_by.name },
    { id: "time", name: "Requested", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
    { id: "end", name: "Expires", order: "expires_at", cell: ({ expires_at }) => <Time value={expires_at} /> },
    { id: "decided", name: "Decided by", cell: ({ decided_by }) => decided_by?.name ?? "" },
    { id: "reason", name: "Reason", cell: ({ reason, error }) => error || reason },
    { id: "action", name: "Action", cell: (approval) => <Decisions approval={approval} onDecide={onDecide} /> },
  ],
  filters: [
    {
      name: "state",
      label: "State",
      options: ["pending", "approved", "denied", "expired", "done", "failed"].map((value) => ({ value, label: value })),
    },
  ],
  command: "approvals list",
  empty: <p>Erasing hosts, or deleting many of them, waits here for a second person if the server requires it.</p>,
});

interface DecisionsProps {
  readonly approval: Approval;
  readonly onDecide: (decision: Decision) => void;
}

function Decisions({ approval, onDecide }: DecisionsProps): ReactElement | null {
  if (approval.state !== "pending") return null;
  const isOwn = approval.requested_by.id === session.data.user.id;
  return (
    <span className="buttons">
      {approval.may_decide && (
        <button
          type="button"
          className="small"
          aria-label={`Approve: ${whatOf(approval)}`}
          onClick={() => onDecide({ kind: "Approve", approval })}
        >
          Approve
        </button>
      )}
      {(approval.may_decide || isOwn) && (
        <button
          type="button"
          className="plain small"
          aria-label={`${isOwn ? "Withdraw" : "Deny"}: ${whatOf(approval)}`}
          onClick={() => onDecide({ kind: "Deny", approval })}
        >
          {isOwn ? "Withdraw" : "Deny"}
        </button>
      )}
    </span>
  );
}

function DecisionDialog({
  decision,
  onClose,
}: {
  readonly decision: Decision;
  readonly onClose: () => void;
}): ReactElement {
  const { kind, approval } = decision;
  const outdate = useOutdate();
  const params = { id: String(approval.id) };
  const decide = async (reason: string) => {
    if (kind === "Approve") await client.call(approvalsApi.approve, { params });
    else await client.call(approvalsApi.deny, { params, body: { reason } });
    notifyDone(kind === "Approve" ? "It is approved, and carried out now." : "It is denied.");
    await outdate(approvalsApi.list);
  };
  return (
    <ConfirmDialog
      title={`${kind}: ${whatOf(approval)}`}
      verb={kind}
      isDangerous={kind === "Approve"}
      hasReason={kind === "Deny"}
      {...(kind === "Approve" && approval.hosts_count > 1 ? { typed: String(approval.hosts_count) } : {})}
      onConfirm={decide}
      onClose={() => onClose()}
    >
      <p>
        {approval.requested_by.name} asked for it <Time value={approval.created_at} />. It concerns{" "}
        {counted(approval.hosts_count, "host")}:
      </p>
      <ul>
        {approval.hosts.map(({ id, display_name }) => (
          <li key={id}>{display_name}</li>
        ))}
        {approval.hosts_count > approval.hosts.length && (
          <li>and {approval.hosts_count - approval.hosts.length} more</li>
        )}
      </ul>
      {approval.request_reason !== "" && <p>Reason: {approval.request_reason}</p>}
      {kind === "Approve" && <p>This cannot be undone.</p>}
    </ConfirmDialog>
  );
}
