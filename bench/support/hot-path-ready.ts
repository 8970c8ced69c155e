/** What the servers of agent-hot-path send when they are ready. */
export interface Ready {
  readonly port: number;
  readonly keys: readonly string[];
}

/** The scheduled query whose results the server stores as reports. */
export const STORED_QUERY = "stored_query";
