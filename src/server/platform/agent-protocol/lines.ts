/** A line of the results of scheduled queries. */
export interface ResultLine {
  /** One line of JSON, exactly as sent. */
  readonly raw: string;
  readonly value: Readonly<Record<string, unknown>>;
}
