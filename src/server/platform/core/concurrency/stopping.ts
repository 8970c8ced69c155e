// Whether a server has been asked to stop. It still answers, but load balancers are to send requests elsewhere.
import type { Services } from "../context.ts";
import { part } from "../running.ts";

const stop = part("stop", () => ({ announced: false }));

export function announceStop({ running }: Pick<Services, "running">): void {
  running.of(stop).announced = true;
}

export const isStopping = ({ running }: Pick<Services, "running">): boolean => running.of(stop).announced;
