import type { ReactElement, ReactNode } from "react";
import { Time } from "../time.tsx";
import { ActivitySentence } from "./activity-sentence.tsx";
import type { ShownActivity } from "./pieces.ts";

interface ActivityFeedProps {
  readonly label: string;
  readonly activities: readonly ShownActivity[];
  readonly empty: string;
  /** What can be done with an entry. */
  readonly action?: (activity: ShownActivity) => ReactNode;
}

/** Activities in a list, the newest first. */
export function ActivityFeed({ label, activities, empty, action }: ActivityFeedProps): ReactElement {
  if (activities.length === 0) return <p className="quiet">{empty}</p>;
  return (
    <ol className="feed" aria-label={label}>
      {activities.map((activity) => (
        <li key={"uuid" in activity ? activity.uuid : activity.id}>
          <div>
            <ActivitySentence activity={activity} />
            <div className="quiet small">
              <Time value={activity.created_at} />
            </div>
          </div>
          {action?.(activity)}
        </li>
      ))}
    </ol>
  );
}
