import { leaseColumns } from "../../platform/core/concurrency/lease.ts";
import { id, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly jobRuns: typeof jobRuns;
  }
}

export const jobRuns = table("job_runs", {
  id: id(),
  name: text().unique(),
  /** Null if a run was requested but the job has never run. */
  started_at: time().nullable(),
  finished_at: time().nullable(),
  error: text().nullable(),
  /** When a run was requested that has not started yet. */
  requested_at: time().nullable(),
  ...leaseColumns,
});
