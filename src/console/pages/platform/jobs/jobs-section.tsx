import { type ReactElement, useMemo } from "react";
import { type Job, jobsApi } from "../../../../api/platform/jobs.ts";
import { client, request, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { useAction } from "../../../parts/action.ts";
import { Badge } from "../../../parts/badge.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { SectionPage } from "../../settings/section-page.tsx";

/** What the servers do regularly, with buttons that run it at once. */
export default function JobsSection(): ReactElement {
  const outdate = useOutdate();
  const { run } = useAction(async ({ name }: Job) => {
    await request(() => client.call(jobsApi.trigger, { query: { name } }));
    notifyDone(`The job ${name} is started.`);
    await outdate(jobsApi.list);
  });
  const definition = useMemo(() => jobsOf(run), [run]);
  return (
    <SectionPage id="jobs">
      <List definition={definition} />
    </SectionPage>
  );
}

const jobsOf = (onRun: (job: Job) => void): ListDefinition<typeof jobsApi.list, Job> => ({
  name: "Jobs",
  thing: "job",
  endpoint: jobsApi.list,
  isPaged: false,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ jobs }) => jobs,
  keyOf: ({ name }) => name,
  nameOf: ({ name }) => name,
  columns: [
    { id: "name", name: "Name", cell: ({ name }) => name },
    { id: "every", name: "Every", cell: ({ every_seconds }) => period(every_seconds) },
    { id: "started", name: "Last start", cell: ({ started_at }) => <Time value={started_at} /> },
    { id: "finished", name: "Ended", cell: ({ finished_at }) => <Time value={finished_at} /> },
    { id: "state", name: "State", cell: stateCell },
    { id: "error", name: "Error", cell: ({ error }) => error ?? "" },
    {
      id: "action",
      name: "Action",
      cell: (job) => (
        <button
          type="button"
          className="plain small"
          aria-label={`Run ${job.name}`}
          disabled={job.running}
          title={job.running ? "It is running." : undefined}
          onClick={() => onRun(job)}
        >
          Run
        </button>
      ),
    },
  ],
  command: "jobs list",
  empty: <p>The server has no jobs.</p>,
});

const stateCell = ({ running, error, finished_at }: Job): ReactElement | null =>
  running ? (
    <Badge tone="note">running</Badge>
  ) : error !== null ? (
    <Badge tone="bad">failed</Badge>
  ) : finished_at !== null ? (
    <Badge tone="good">done</Badge>
  ) : null;

const units = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
] as const;

/** "5 min", "24 h". */
function period(seconds: number): string {
  const unit = units.find(([size]) => seconds >= size && seconds % size === 0);
  return unit === undefined ? `${seconds} s` : `${seconds / unit[0]} ${unit[1]}`;
}
