import { RequestStats } from "../request-stats.ts";

/** The kinds of requests that a device makes. */
export const appleRequests = [
  "profile",
  "identity",
  "authenticate",
  "token update",
  "poll",
  "answer",
  "declarations",
  "check out",
] as const;
export type AppleRequest = (typeof appleRequests)[number];

/** Counters for all devices of a run. */
export class AppleStats extends RequestStats<AppleRequest> {
  enrolled = 0;
  left = 0;
  acknowledged = 0;
  refused = 0;
  postponed = 0;
  /** Commands that arrived again after the device had done them, because its answer was lost. */
  repeated = 0;
  pushes = 0;
  profilesInstalled = 0;
  declarationsActive = 0;
  keysEscrowed = 0;

  constructor() {
    super(appleRequests);
  }
}
