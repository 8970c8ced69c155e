/** What the servers of apple-idle send when they are ready. */
export interface IdleReady {
  readonly port: number;
  /** Of each device: it asks for commands, and there are none. */
  readonly requests: readonly string[];
}
