// Whether a server has been asked to stop. It still answers, but load balancers are to send requests elsewhere.
import type { Services } from "../context.ts";

/** The configuration reader is the same object in the services and in every context made of them. */
const stopping = new WeakSet<Services["config"]>();

export const announceStop = ({ config }: Pick<Services, "config">): void => void stopping.add(config);

export const isStopping = ({ config }: Pick<Services, "config">): boolean => stopping.has(config);
