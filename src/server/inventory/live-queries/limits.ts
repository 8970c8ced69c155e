import { days, hours, minutes, seconds } from "../../platform/core/clock.ts";
import { limit } from "../../platform/core/limits.ts";

const KiB = 1024;
const MiB = 1024 * KiB;

/** Limits for the result of one host; a larger one is recorded as an error. */
export const liveRows = limit({
  what: "rows of one host in a live query",
  max: 10_000,
  unit: "rows",
  beyond: "The result of the host is recorded as an error.",
});
export const HOST_ROWS_MAX = liveRows.max;
export const liveBytes = limit({
  what: "rows of one host in a live query, together",
  max: 4 * MiB,
  unit: "bytes",
  beyond: "The result of the host is recorded as an error.",
});
export const HOST_BYTES_MAX = liveBytes.max;
export const liveCell = limit({
  what: "cell of a live query",
  max: 1 * MiB,
  unit: "bytes",
  beyond: "The result of the host is recorded as an error.",
});
export const CELL_MAX = liveCell.max;
/** Maximum size of the rows of one live query. Results beyond it are recorded as errors, without their rows. */
export const campaignBytes = limit({
  what: "rows of all hosts in one live query",
  max: 128 * MiB,
  unit: "bytes",
  beyond: "Further results are recorded as errors, without their rows.",
});
export const CAMPAIGN_BYTES_MAX = campaignBytes.max;
export const liveError = limit({
  what: "error message of a host in a live query",
  max: 4 * KiB,
  unit: "bytes",
  beyond: "The message is shortened.",
});
export const ERROR_MAX = liveError.max;
/** Live results per distributed write. Hosts get one live query at a time, so agents do not send more. */
export const liveAnswers = limit({
  what: "results of live queries in one message of an agent",
  max: 16,
  unit: "entries",
  per: "message",
  beyond: "The rest is ignored.",
});
export const ANSWERS_MAX = liveAnswers.max;

/** A connected reader extends the life of a query by this time. */
export const READER_LEASE = seconds(60);
export const RUNNING_MAX = hours(24);
export const QUEUE_MAX = days(7);
/** How long results can be read after the end. */
export const KEPT_FOR = hours(24);
/** How long queries are kept that waited for offline hosts, since their user may not be watching. */
export const QUEUED_KEPT_FOR = days(7);
/**
 * Maximum size of all finished queries, rows and targets. Above it the oldest are deleted, except within KEPT_AT_LEAST.
 */
export const keptLiveQueries = limit({
  what: "finished live queries",
  max: 256 * MiB,
  unit: "bytes",
  per: "server",
  beyond: "The oldest are deleted, except those of the last ten minutes.",
});
export const KEPT_BYTES_MAX = keptLiveQueries.max;
export const TARGET_BYTES = 1 * KiB;
export const KEPT_AT_LEAST = minutes(10);

/** Real time (not the test clock), in milliseconds. */
export const TICK_MS = 1_000;
export const RENEW_EVERY_MS = seconds(20);
/** Interval of checking whether targets went offline. */
export const RECOUNT_EVERY_MS = seconds(5);
/** Interval of comparing the cached state with the store, since notifications may be lost. */
export const RECONCILE_EVERY_MS = seconds(30);
/** After this time without events, readers check the store, and clients get a keep-alive. */
export const QUIET_MS = seconds(15);

export const CLEANUP_EVERY = minutes(5);
