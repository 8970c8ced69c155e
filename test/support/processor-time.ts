/**
 * Milliseconds of processor time that synchronous work takes. On a busy machine, the time until it is done may be twenty
 * times as long.
 */
export function processorTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
