import { type ReactElement, useMemo } from "react";
import { type Task, tasksApi } from "../../../api/platform/tasks.ts";
import { client, request, useOutdate } from "../../api.ts";
import { notifyDone } from "../../frame/notices.tsx";
import { useAction } from "../../parts/action.ts";
import { Badge } from "../../parts/badge.tsx";
import { formatted } from "../../parts/counted.ts";
import type { ListDefinition } from "../../parts/list/definition.ts";
import { List } from "../../parts/list/list-page.tsx";
import { Time } from "../../parts/time.tsx";
import { nameOfTask, taskTones } from "./task-names.ts";
import { TaskPanel } from "./task-panel.tsx";

/** What the servers do after a request was answered, with how far it is. */
export function TasksTab(): ReactElement {
  const outdate = useOutdate();
  const cancel = useAction(async ({ id }: Task) => {
    await request(() => client.call(tasksApi.cancel, { params: { id: String(id) } }));
    notifyDone("The task ends before its next step.");
    await outdate(tasksApi.list);
  });
  const definition = useMemo(() => tasksOf(cancel.run), [cancel.run]);
  return <List definition={definition} />;
}

const tasksOf = (onCancel: (task: Task) => void): ListDefinition<typeof tasksApi.list, Task> => ({
  name: "Tasks",
  view: "tasks",
  thing: "task",
  endpoint: tasksApi.list,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ tasks }) => tasks,
  defaultOrder: { key: "id", direction: "desc" },
  keyOf: ({ id }) => id,
  nameOf: (task) => `${nameOfTask(task)}, task ${task.id}`,
  details: (id) => <TaskPanel key={id} id={id} />,
  columns: [
    { id: "kind", name: "What", cell: nameOfTask },
    { id: "state", name: "State", cell: ({ state }) => <Badge tone={taskTones[state]}>{state}</Badge> },
    {
      id: "progress",
      name: "Progress",
      isNumber: true,
      cell: ({ progress, total }) => `${formatted(progress)} of ${formatted(total)}`,
    },
    { id: "by", name: "Requested by", cell: ({ requested_by }) => requested_by?.name ?? "svc" },
    { id: "time", name: "Requested", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
    { id: "end", name: "Ended", order: "finished_at", cell: ({ finished_at }) => <Time value={finished_at} none="" /> },
    { id: "error", name: "Error", cell: ({ error }) => error },
    {
      id: "action",
      name: "Action",
      cell: (task) =>
        ["queued", "running"].includes(task.state) && (
          <button
            type="button"
            className="plain small"
            aria-label={`Cancel ${nameOfTask(task)}`}
            disabled={task.cancel_requested}
            onClick={() => onCancel(task)}
          >
            {task.cancel_requested ? "Ending" : "Cancel"}
          </button>
        ),
    },
  ],
  filters: [
    {
      name: "state",
      label: "State",
      options: Object.keys(taskTones).map((value) => ({ value, label: value })),
    },
    { name: "kind", label: "Kind" },
  ],
  command: "tasks list",
  empty: (
    <p>Work that takes longer than a request, such as deleting many hosts, is listed here while and after it runs.</p>
  ),
});
