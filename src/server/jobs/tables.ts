import { id, table, text, time } from "../store/table.ts";

export const jobRuns = table("job_runs", {
  id: id(),
  name: text().unique(),
  started_at: time(),
  finished_at: time().nullable(),
  error: text().nullable(),
});
