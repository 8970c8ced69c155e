import { RequestStats } from "../request-stats.ts";

/** The kinds of requests that a device and its agents make. */
export const windowsRequests = ["agent", "enrollment", "session", "answer", "queries"] as const;
export type WindowsRequest = (typeof windowsRequests)[number];

/** Counters for all devices of a run. */
export class WindowsStats extends RequestStats<WindowsRequest> {
  enrolled = 0;
  left = 0;
  done = 0;
  refused = 0;
  postponed = 0;
  /** Commands that arrived again after the device had done them, because its answer was lost. */
  repeated = 0;
  /** Commands that arrived again although the server had taken the answer. */
  doubled = 0;
  wiped = 0;
  reports = 0;

  constructor() {
    super(windowsRequests);
  }
}
