import type { ReactElement } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";

type HostPolicy = NonNullable<Host["policies"]>[number];

const results = {
  fail: { order: 0, badge: <Badge tone="bad">failing</Badge> },
  error: { order: 1, badge: <Badge tone="note">error</Badge> },
  "": { order: 2, badge: <Badge tone="quiet">no answer</Badge> },
  pass: { order: 3, badge: <Badge tone="good">passing</Badge> },
} as const;

const resultOf = ({ response, error }: HostPolicy) => results[error === null ? response : "error"];

/** The policies of the host, those that fail first, with how to mend them. */
export function PoliciesTab({ host }: { readonly host: Host }): ReactElement {
  const policies = (host.policies ?? []).toSorted((a, b) => resultOf(a).order - resultOf(b).order);
  return (
    <SmallTable
      name="Policies"
      rows={policies}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Name",
          cell: ({ id, name, critical }) => (
            <>
              <PageLink href={`/policies/${id}`}>{name}</PageLink> {critical && <Badge tone="note">critical</Badge>}
            </>
          ),
        },
        { name: "Result", cell: (policy) => resultOf(policy).badge },
        {
          name: "What to do",
          cell: ({ response, error, resolution }) => error ?? (response === "fail" ? resolution : ""),
        },
      ]}
      empty="No policy applies to this host."
    />
  );
}
