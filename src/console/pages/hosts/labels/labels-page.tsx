import { type ReactElement, useMemo, useState } from "react";
import { reportsApi } from "../../../../api/edge/reports.ts";
import { type LabelItem, labelsApi } from "../../../../api/hosts/labels.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { formatted } from "../../../parts/counted.ts";
import type { Column, ListDefinition } from "../../../parts/list/definition.ts";
import { ListPage } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { maySomewhere, session } from "../../../session.ts";
import { DeleteLabelDialog } from "./delete-label-dialog.tsx";
import { EditLabelDialog } from "./edit-label-dialog.tsx";
import { LabelUsesDialog } from "./label-uses.tsx";
import { NewLabelDialog } from "./new-label-dialog.tsx";

type OpenDialog =
  | { readonly name: "create" }
  | { readonly name: "uses" | "edit" | "delete"; readonly label: LabelItem };

const kinds = { dynamic: "query", manual: "manual", host_vitals: "criteria" } as const;

/** What decides which hosts have the label. */
function ruleOf({ query, criteria, label_membership_type }: LabelItem): string {
  if (label_membership_type === "dynamic") return query;
  if (criteria === undefined) return "";
  return "where" in criteria ? criteria.where : `${criteria.vital} = ${criteria.value}`;
}

const isBuiltIn = ({ label_type }: LabelItem): boolean => label_type === "builtin";

/** Users who may not change labels of others may change their own. */
const mayChange = (label: LabelItem): boolean =>
  !isBuiltIn(label) &&
  maySomewhere("labels:write") &&
  (maySomewhere("labels:write_any") || label.author_id === session.data.user.id);

const columns: readonly Column<LabelItem>[] = [
  { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
  {
    id: "kind",
    name: "Kind",
    order: "label_membership_type",
    cell: (label) => (
      <>
        {kinds[label.label_membership_type]} {isBuiltIn(label) && <Badge tone="quiet">built-in</Badge>}
      </>
    ),
  },
  {
    id: "hosts",
    name: "Hosts",
    isNumber: true,
    cell: ({ id, count, name }) => (
      <PageLink href="/hosts" query={{ label_id: id }} aria-label={`Hosts with ${name}: ${count}`}>
        {formatted(count)}
      </PageLink>
    ),
  },
  {
    id: "errors",
    name: "Errors",
    isNumber: true,
    cell: ({ error_host_count, error_message }) =>
      error_host_count > 0 && <span title={error_message ?? undefined}>{formatted(error_host_count)}</span>,
  },
  { id: "description", name: "Description", order: "description", cell: ({ description }) => description },
  { id: "rule", name: "Query or criteria", cell: (label) => <code title={ruleOf(label)}>{ruleOf(label)}</code> },
  { id: "platform", name: "Platform", order: "platform", isOptional: true, cell: ({ platform }) => platform },
  {
    id: "created",
    name: "Created",
    order: "created_at",
    isOptional: true,
    cell: ({ created_at }) => <Time value={created_at} />,
  },
];

const labelList = (open: (dialog: OpenDialog) => void): ListDefinition<typeof labelsApi.list, LabelItem> => ({
  name: "Labels",
  view: "labels",
  thing: "label",
  endpoint: labelsApi.list,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ labels }) => labels,
  defaultOrder: { key: "name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  hrefOf: ({ id }) => `/hosts?label_id=${id}`,
  columns: [
    ...columns,
    {
      id: "actions",
      name: "Actions",
      cell: (label) => <LabelButtons label={label} open={open} />,
    },
  ],
  csv: { endpoint: reportsApi.labels, query: { format: "csv" } },
  command: "labels list",
  empty: <p>Labels group hosts: for queries, policies, profiles and software.</p>,
});

interface LabelButtonsProps {
  readonly label: LabelItem;
  readonly open: (dialog: OpenDialog) => void;
}

function LabelButtons({ label, open }: LabelButtonsProps): ReactElement {
  const button = (name: "uses" | "edit" | "delete", text: string, what: string) => (
    <button
      type="button"
      className={name === "delete" ? "danger small" : "plain small"}
      aria-label={`${what} ${label.name}`}
      onClick={() => open({ name, label })}
    >
      {text}
    </button>
  );
  return (
    <span className="buttons">
      {button("uses", "Uses", "Uses of")}
      {mayChange(label) && button("edit", "Edit", "Edit")}
      {mayChange(label) && button("delete", "Delete", "Delete")}
    </span>
  );
}

export default function LabelsPage(): ReactElement {
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const definition = useMemo(() => labelList(setDialog), []);
  const close = () => setDialog(null);
  const create = maySomewhere("labels:write") && (
    <button type="button" onClick={() => setDialog({ name: "create" })}>
      Create label
    </button>
  );
  return (
    <>
      <ListPage definition={definition} actions={create} />
      {dialog?.name === "create" && <NewLabelDialog onClose={close} />}
      {dialog?.name === "uses" && <LabelUsesDialog label={dialog.label} onClose={close} />}
      {dialog?.name === "edit" && <EditLabelDialog label={dialog.label} onClose={close} />}
      {dialog?.name === "delete" && <DeleteLabelDialog label={dialog.label} onClose={close} />}
    </>
  );
}
