import { type ReactElement, useMemo } from "react";
import { type AutomationActivity, policyRunsApi, runStatuses } from "../../../../api/delivery/policy-runs.ts";
import { ActivitySentence } from "../../../parts/activities/activity-sentence.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Dialog, ShowButton } from "../../../parts/dialog.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { Time } from "../../../parts/time.tsx";

/** What automations of the policy did, a row for each host and attempt. */
export function AutomationRuns({ policyId }: { readonly policyId: number }): ReactElement {
  const definition = useMemo(() => runsOf(policyId), [policyId]);
  return <List definition={definition} />;
}

const badges = {
  success: <Badge tone="good">success</Badge>,
  error: <Badge tone="bad">error</Badge>,
} as const;

const runsOf = (id: number): ListDefinition<typeof policyRunsApi.list, AutomationActivity> => ({
  name: "Automation runs",
  thing: "run",
  endpoint: policyRunsApi.list,
  params: { id },
  hasTeams: false,
  rowsOf: ({ activities }) => activities,
  countOf: ({ count }) => count,
  defaultOrder: { key: "created_at", direction: "desc" },
  // An activity may be about many hosts, and a host has several activities.
  keyOf: (run) => `${run.id}-${run.host_id}`,
  nameOf: ({ host_display_name }) => host_display_name,
  hrefOf: ({ host_id }) => `/hosts/${host_id}/policies`,
  columns: [
    { id: "host", name: "Host", cell: ({ host_display_name }) => host_display_name },
    { id: "time", name: "Time", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
    { id: "what", name: "What", cell: (activity) => <ActivitySentence activity={activity} /> },
    { id: "outcome", name: "Outcome", cell: ({ status }) => badges[status] },
    { id: "output", name: "Output", cell: (run) => outputsOf(run).length > 0 && <OutputButton run={run} /> },
  ],
  filters: [{ name: "status", label: "Outcome", options: runStatuses.map((value) => ({ value, label: value })) }],
  command: `policies automation-activities ${id}`,
  empty: <p>No automation of this policy ran in the last 30 days.</p>,
});

/** What the run has written, by its source. */
function outputsOf(run: AutomationActivity): readonly { readonly name: string; readonly text: string }[] {
  const outputs = [
    { name: "Before the installation", text: run.pre_install_output },
    { name: "Output", text: run.output },
    { name: "After the installation", text: run.post_install_output },
  ];
  return outputs.flatMap(({ name, text }) => (text === null || text === "" ? [] : { name, text }));
}

const OutputButton = ({ run }: { readonly run: AutomationActivity }): ReactElement => (
  <ShowButton label={`Show the output of ${run.host_display_name}`}>
    {(close) => (
      <Dialog title={`Output of ${run.host_display_name}`} isWide onClose={close}>
        {outputsOf(run).map(({ name, text }) => (
          <section key={name}>
            <h3>{name}</h3>
            <ScrollingText text={text} />
          </section>
        ))}
      </Dialog>
    )}
  </ShowButton>
);
