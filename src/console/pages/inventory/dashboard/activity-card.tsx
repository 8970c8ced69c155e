import type { ReactElement } from "react";
import { activitiesApi } from "../../../../api/platform/activities.ts";
import { useRead } from "../../../api.ts";
import { ActivityFeed } from "../../../parts/activities/activity-feed.tsx";
import { Card } from "../../../parts/card.tsx";
import { Read } from "../../../parts/loading/read.tsx";

const MAX_SHOWN = 10;

export function ActivityCard(): ReactElement {
  const query = { order_key: "id", order_direction: "desc", page: 0, per_page: MAX_SHOWN } as const;
  const reply = useRead(activitiesApi.list, { query }, { isLive: true });
  return (
    <Card title="Latest activity" more={{ name: "All activities", href: "/activity" }}>
      <Read from={reply} what="activities">
        {({ activities }) => (
          <ActivityFeed label="Latest activities" activities={activities} empty="Nothing happened yet." />
        )}
      </Read>
    </Card>
  );
}
