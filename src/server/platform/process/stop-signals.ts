/**
 * A stop arrives more than once: a terminal and systemd send the signal to every process of the service, npm and the
 * primary process pass theirs on. Only a signal that comes later than this is a second one.
 */
const SAME_STOP_MS = 250;

interface StopSignals {
  /** Called at the first signal. */
  stop(signal: NodeJS.Signals): void;
  /** Called at every later one: whoever sent it does not want to wait. */
  hurry(signal: NodeJS.Signals): void;
}

export function onStopSignals({ stop, hurry }: StopSignals): void {
  let stopTime: number | null = null;
  const received = (signal: NodeJS.Signals) => {
    if (stopTime === null) {
      stopTime = performance.now();
      stop(signal);
    } else if (performance.now() - stopTime > SAME_STOP_MS) hurry(signal);
  };
  process.on("SIGTERM", received);
  process.on("SIGINT", received);
}
