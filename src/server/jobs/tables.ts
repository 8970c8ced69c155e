import { id, table, text, time } from "../store/table.ts";

export const jobRuns = table("job_runs", {
  id: id(),
  name: text().unique(),
  /** Null where it was asked for, and never ran. */
  started_at: time().nullable(),
  finished_at: time().nullable(),
  error: text().nullable(),
  /** Somebody asked for a run that has not begun. */
  requested_at: time().nullable(),
});
