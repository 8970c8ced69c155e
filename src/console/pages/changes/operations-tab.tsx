import { type ReactElement, useMemo, useState } from "react";
import { type HostOperation, operationsApi } from "../../../api/hosts/operations.ts";
import { PageLink } from "../../frame/page-link.tsx";
import { Badge, type Tone } from "../../parts/badge.tsx";
import type { ListDefinition } from "../../parts/list/definition.ts";
import { List } from "../../parts/list/list-page.tsx";
import { Time } from "../../parts/time.tsx";
import { maySomewhere } from "../../session.ts";
import { CancelOperationsDialog } from "./cancel-operations-dialog.tsx";
import { kindName, kindOptions, nameOfOperation, whatOf } from "./operation-kinds.ts";

const tones: Readonly<Record<HostOperation["state"], Tone>> = {
  queued: "quiet",
  sent: "note",
  answered: "good",
  failed: "bad",
  cancelled: "quiet",
  expired: "bad",
};

const OPEN = "queued,sent";

/** What is asked of hosts and lasts until they have answered. Without a filter, what they have not answered yet. */
export function OperationsTab(): ReactElement {
  const [cancelling, setCancelling] = useState<readonly HostOperation[] | null>(null);
  const definition = useMemo(() => operationList(setCancelling), []);
  return (
    <>
      <List definition={definition} />
      {cancelling !== null && <CancelOperationsDialog operations={cancelling} onClose={() => setCancelling(null)} />}
    </>
  );
}

type OnCancel = (operations: readonly HostOperation[]) => void;

const operationList = (onCancel: OnCancel): ListDefinition<typeof operationsApi.list, HostOperation> => ({
  name: "Operations",
  thing: "operation",
  endpoint: operationsApi.list,
  query: { state: OPEN },
  rowsOf: ({ operations }) => operations,
  defaultOrder: { key: "id", direction: "desc" },
  keyOf: ({ id }) => id,
  nameOf: nameOfOperation,
  columns: columnsWith(onCancel),
  filters: [
    {
      name: "state",
      label: "State",
      options: [
        { value: "queued", label: "queued" },
        { value: "sent", label: "running" },
        { value: "answered", label: "done" },
        ...["failed", "expired", "cancelled"].map((value) => ({ value, label: value })),
        { value: Object.keys(tones).join(","), label: "any" },
      ],
    },
    { name: "kind", label: "Kind", options: kindOptions },
    { name: "host_id", label: "Host (id)" },
    { name: "task_id", label: "Task (id)" },
    { name: "requested_by", label: "Requested by (id of the user)" },
  ],
  actions: maySomewhere("hosts:cancel_activity")
    ? [
        {
          name: "Cancel operations",
          isDangerous: true,
          onSelect: (selection) => selection.kind === "rows" && onCancel(selection.rows),
        },
      ]
    : [],
  command: "operations list",
  flags: { team_id: "team" },
  empty: (
    <p>No host has anything to do. Scripts, installations, locks and commands are listed here until hosts answer.</p>
  ),
});

const stateName = (state: HostOperation["state"]): string =>
  state === "sent" ? "running" : state === "answered" ? "done" : state;

const sourceNames: Readonly<Record<HostOperation["source"], string>> = {
  user: "",
  policy: "a policy",
  batch: "a script batch",
  self_service: "the host's user",
  server: "svc",
};

/** Who asked for it, and through what if not directly. */
function requesterOf({ requested_by, source }: HostOperation): string {
  const through = sourceNames[source];
  if (requested_by === null) return through;
  return through === "" || source === "server" ? requested_by.name : `${requested_by.name}, by ${through}`;
}

const columnsWith = (onCancel: OnCancel): ListDefinition<typeof operationsApi.list, HostOperation>["columns"] => [
  { id: "what", name: "What", cell: whatOf },
  { id: "kind", name: "Kind", cell: ({ kind }) => kindName(kind) },
  { id: "host", name: "Host", cell: ({ host }) => <PageLink href={`/hosts/${host.id}`}>{host.display_name}</PageLink> },
  { id: "state", name: "State", cell: ({ state }) => <Badge tone={tones[state]}>{stateName(state)}</Badge> },
  { id: "place", name: "Place in the queue", isNumber: true, cell: ({ position_in_queue: place }) => place ?? "" },
  { id: "since", name: "Since", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
  { id: "by", name: "Requested by", cell: requesterOf },
  { id: "sent", name: "Sent", isOptional: true, cell: ({ sent_at }) => <Time value={sent_at} none="" /> },
  { id: "ended", name: "Ended", isOptional: true, cell: ({ finished_at }) => <Time value={finished_at} none="" /> },
  { id: "attempts", name: "Attempts", isNumber: true, isOptional: true, cell: ({ attempts }) => attempts },
  {
    id: "action",
    name: "Action",
    cell: (operation) => {
      if (operation.finished_at !== null) return null;
      if (!operation.can_cancel) return <span className="quiet">{operation.reason_not_cancellable}</span>;
      return (
        <button
          type="button"
          className="plain small"
          aria-label={`Cancel ${nameOfOperation(operation)}`}
          onClick={() => onCancel([operation])}
        >
          Cancel
        </button>
      );
    },
  },
];
