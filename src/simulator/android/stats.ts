import { RequestStats } from "../request-stats.ts";

/** The kinds of requests that the server gets. */
export const androidRequests = [
  "token",
  "enrollment",
  "status report",
  "command result",
  "agent enrollment",
  "certificate template",
  "SCEP",
  "certificate status",
] as const;
export type AndroidRequest = (typeof androidRequests)[number];

/** Counters for all devices of a run. */
export class AndroidStats extends RequestStats<AndroidRequest> {
  enrolled = 0;
  left = 0;
  wiped = 0;
  /** Versions of policies that devices have applied, and those of which they have applied only a part. */
  applied = 0;
  partly = 0;
  done = 0;
  refused = 0;
  postponed = 0;
  /** Certificates of templates. */
  installed = 0;
  notInstalled = 0;
  /** Messages that the server was sent twice. */
  repeated = 0;

  constructor() {
    super(androidRequests);
  }
}
