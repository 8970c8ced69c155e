import type { ReactElement, ReactNode } from "react";
import type { EffectHosts, PlannedChange, PlannedField } from "../../../api/edge/plans.ts";
import { isRecord } from "../../../text/record.ts";
import { PageLink } from "../../frame/page-link.tsx";
import { counted } from "../counted.ts";
import { SmallTable } from "../small-table.tsx";
import { isEmpty, reasons, shown, titleOf, verbs } from "./plan-texts.ts";
import "./plans.css";

/** The changes of a plan: the hosts that each affects, and the fields that differ. */
export function PlanChanges({ changes }: { readonly changes: readonly PlannedChange[] }): ReactElement {
  if (changes.length === 0) return <p className="quiet">Nothing changes: the server has all of it already.</p>;
  return (
    <>
      {changes.map((change) => (
        <section key={titleOf(change)} aria-label={titleOf(change)} className="planned-change">
          <h3>
            {verbs[change.action]} {titleOf(change)}
          </h3>
          <Effect change={change} />
          {change.action !== "delete" && <Fields change={change} />}
        </section>
      ))}
    </>
  );
}

function Effect({ change: { effect } }: { readonly change: PlannedChange }): ReactElement {
  if (effect === null) return <p className="quiet">Hosts are not counted, because the plan has many changes.</p>;
  const { get, lose, change, cannot, not_computed } = effect;
  const counts = [get, lose, change, ...cannot].some(({ count }) => count > 0);
  return (
    <ul className="plan-effect">
      <Hosts hosts={get} singular="gets it" plural="get it" />
      <Hosts hosts={lose} singular="loses it" plural="lose it" />
      <Hosts hosts={change} singular="has it changed" plural="have it changed" />
      {cannot.map(({ reason, ...hosts }) => (
        <Hosts key={reason} hosts={hosts} singular="cannot have it" plural="cannot have it" reason={reasons[reason]} />
      ))}
      {!counts && not_computed.length === 0 && <li>No hosts are affected.</li>}
      {not_computed.map((text) => (
        <li key={text} className="quiet">
          {text}
        </li>
      ))}
    </ul>
  );
}

interface HostsProps {
  readonly hosts: EffectHosts;
  readonly singular: string;
  readonly plural: string;
  readonly reason?: string;
}

function Hosts({ hosts: { count, hosts }, singular, plural, reason }: HostsProps): ReactElement | null {
  if (count === 0) return null;
  const rest = count - hosts.length;
  return (
    <li>
      <strong>{counted(count, "host")}</strong> {count === 1 ? singular : plural}
      {reason !== undefined && `: ${reason}`}
      {hosts.length > 0 && (
        <span className="plan-hosts">
          {hosts.map(({ id, display_name }) => (
            <PageLink key={id} href={`/hosts/${id}`}>
              {display_name}
            </PageLink>
          ))}
          {rest > 0 && <span className="quiet">and {counted(rest, "other")}</span>}
        </span>
      )}
    </li>
  );
}

function Fields({ change }: { readonly change: PlannedChange }): ReactElement {
  const isNew = change.action === "create";
  const rows: readonly PlannedField[] = isNew ? newFields(change) : change.fields;
  const text = (value: unknown): ReactNode => <span className="plan-value">{shown(value)}</span>;
  return (
    <SmallTable
      name={`Fields of ${titleOf(change)}`}
      rows={rows}
      keyOf={({ path }) => path}
      columns={[
        { name: "Field", cell: ({ path }) => <code>{path || "value"}</code> },
        ...(isNew
          ? []
          : [{ name: "Old", cell: (field: PlannedField) => <del>{field.secret ? "(secret)" : text(field.old)}</del> }]),
        {
          name: isNew ? "Value" : "New",
          cell: (field) => <ins>{field.secret ? "(another secret)" : text(field.new)}</ins>,
        },
      ]}
      empty="It has no fields."
    />
  );
}

const newFields = ({ value }: PlannedChange): PlannedField[] =>
  Object.entries(isRecord(value) ? (value as Record<string, PlannedField["new"]>) : {}).flatMap(([path, field]) =>
    isEmpty(field) ? [] : [{ path, new: field }],
  );
