import { type ReactElement, useMemo, useState } from "react";
import { type Activity, activitiesApi } from "../../../../api/platform/activities.ts";
import { ActivitySentence } from "../../../parts/activities/activity-sentence.tsx";
import { typeInWords } from "../../../parts/activities/pieces.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { ListPage } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import { activityFilters } from "./filters.ts";
import { VerifyChain } from "./verify-chain.tsx";

const activityList = (): ListDefinition<typeof activitiesApi.list, Activity> => ({
  name: "Activity",
  view: "activity",
  thing: "activity",
  things: "activities",
  endpoint: activitiesApi.list,
  rowsOf: ({ activities }) => activities,
  defaultOrder: { key: "id", direction: "desc" },
  keyOf: ({ id }) => id,
  nameOf: ({ type }) => typeInWords(type),
  columns: [
    { id: "what", name: "What", cell: (activity) => <ActivitySentence activity={activity} /> },
    { id: "time", name: "Time", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
    { id: "address", name: "Address", cell: ({ actor_address }) => actor_address ?? "" },
    { id: "token", name: "API token", isOptional: true, cell: ({ actor_token }) => actor_token ?? "" },
    {
      id: "email",
      name: "Email",
      order: "actor_email",
      isOptional: true,
      cell: ({ actor_email }) => actor_email ?? "",
    },
    { id: "details", name: "Details", cell: (activity) => <Details activity={activity} /> },
  ],
  filters: activityFilters(),
  flags: { team_id: "team" },
  csv: { endpoint: activitiesApi.export, query: { format: "csv" } },
  command: "activities list",
  empty: <p>Everything that users and the server do is recorded here.</p>,
});

export default function ActivityPage(): ReactElement {
  const definition = useMemo(activityList, []);
  return <ListPage definition={definition} actions={may("activities:verify", null) && <VerifyChain />} />;
}

function Details({ activity }: { readonly activity: Activity }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const details = Object.entries(activity.details ?? {}).filter(([, value]) => value !== null && value !== "");
  return (
    <>
      <button
        type="button"
        className="plain small"
        aria-label={`Details of ${typeInWords(activity.type)}`}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        Details
      </button>
      {isOpen && (
        <Dialog title={typeInWords(activity.type)} isWide onClose={() => setOpen(false)}>
          <Facts
            facts={[
              ["Type", <code key="type">{activity.type}</code>],
              ["Time", activity.created_at],
              ["User", activity.actor_full_name],
              ["Email", activity.actor_email],
              ["Address", activity.actor_address],
              ["API token", activity.actor_token],
              ...details.map(([name, value]) => [name, <code key={name}>{shown(value)}</code>] as const),
            ]}
          />
        </Dialog>
      )}
    </>
  );
}

const DETAIL_MAX = 2_000;

function shown(value: unknown): string {
  const whole = typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
  return whole.length > DETAIL_MAX ? `${whole.slice(0, DETAIL_MAX)}…` : whole;
}
