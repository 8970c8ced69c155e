import type { Task } from "../../../api/platform/tasks.ts";
import type { Tone } from "../../parts/badge.tsx";

export const taskTones: Readonly<Record<Task["state"], Tone>> = {
  queued: "quiet",
  running: "note",
  done: "good",
  failed: "bad",
  cancelled: "quiet",
};

export const nameOfTask = ({ kind }: Task): string => kind.replaceAll("_", " ");
