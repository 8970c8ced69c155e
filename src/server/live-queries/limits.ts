import { days, hours, minutes, seconds } from "../core/clock.ts";

const KiB = 1024;
const MiB = 1024 * KiB;

/** What one host may answer: more is an error in its place. */
export const HOST_ROWS_MAX = 10_000;
export const HOST_BYTES_MAX = 4 * MiB;
export const CELL_MAX = 1 * MiB;
/** What a whole live query may keep; hosts that answer later are told as errors, without their rows. */
export const CAMPAIGN_BYTES_MAX = 128 * MiB;
export const ERROR_MAX = 4 * KiB;
/** Live answers in one write at most: hosts are asked one live query at a time, so more is no agent's doing. */
export const ANSWERS_MAX = 16;

/** A reader keeps a query alive for this long at a time. */
export const READER_LEASE = seconds(60);
export const RUNNING_MAX = hours(24);
export const QUEUE_MAX = days(7);
/** How long outcomes can be read after the end. */
export const KEPT_FOR = hours(24);
/** The same where the query waited for hosts to come: whoever asked will not be watching. */
export const QUEUED_KEPT_FOR = days(7);
/** What all queries that are over may hold, rows and targets: beyond it the oldest go sooner, but none that may still be read. */
export const KEPT_BYTES_MAX = 256 * MiB;
export const TARGET_BYTES = 1 * KiB;
export const KEPT_AT_LEAST = minutes(10);

/** Real time, in milliseconds. */
export const TICK_MS = 1_000;
export const RENEW_EVERY_MS = seconds(20);
/** How often it is looked at whether targets went offline. */
export const RECOUNT_EVERY_MS = seconds(5);
/** Messages may be lost: now and then what is known is held against the store. */
export const RECONCILE_EVERY_MS = seconds(30);
/** Nothing new for this long: readers look for themselves, and their clients hear that the stream lives. */
export const QUIET_MS = seconds(15);

export const CLEANUP_EVERY = minutes(5);
