import type { ReactElement } from "react";
import { type LastAutomation, policyRunsApi } from "../../../../api/delivery/policy-runs.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { Time } from "../../../parts/time.tsx";

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
  const { data } = useRead(policyRunsApi.ofHost, { params: { id: host.id } }, { isLive: true });
  const runs = new Map(data?.automations.map((run) => [run.policy_id, run]));
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
        { name: "Last automation", cell: ({ id }) => runs.has(id) && <LastRun run={runs.get(id)!} /> },
        {
          name: "What to do",
          cell: ({ response, error, resolution }) => error ?? (response === "fail" ? resolution : ""),
        },
      ]}
      empty="No policy applies to this host."
    />
  );
}

/** Texts for the types of activities, without what differs between success and error. */
const names: Readonly<Record<string, string>> = {
  ran_script: "script",
  installed_software: "installation",
  installed_app_store_app: "store app",
  resent_configuration_profile: "profile",
  webhook: "webhook",
  ticket: "ticket",
  calendar_event: "calendar event",
  conditional_access: "conditional access",
};

function LastRun({ run: { type, status, error, created_at } }: { readonly run: LastAutomation }): ReactElement {
  const name = names[type.replace(/^(ran|failed)_automation_/, "")] ?? type;
  return (
    <>
      <Badge tone={status === "success" ? "good" : "bad"}>{status}</Badge> {name} <Time value={created_at} />
      {error !== null && <> {error}</>}
    </>
  );
}
