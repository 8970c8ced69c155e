// What a server keeps in memory as long as it runs: caches, queues, listeners, timers. Each part is declared where it
// is implemented, and reached through the context: `ctx.running.of(labelCounts)`.
import type { Services } from "./context.ts";
import type { ServerTx } from "./tables.ts";

/** What a part is created from. In a dry run, `store` is a transaction's. */
export type PartServices = Omit<Services, "store"> & { readonly store: ServerTx };

/** Created when it is first needed. */
export interface Part<T> {
  readonly name: string;
  readonly create: (services: PartServices) => T;
}

/** Has to be started before it is needed, because it listens to other servers or reads something first. */
export interface StartedPart<T> {
  readonly name: string;
  readonly start: (services: Services) => Promise<T>;
}

type AnyPart<T> = Part<T> | StartedPart<T>;

/**
 * Declares a part of each server. If it has a method `stop`, that is called when the server stops, after the parts that
 * were started have been stopped.
 */
export const part = <T>(name: string, create: (services: PartServices) => T): Part<T> => ({ name, create });

/** Declares a part that `features.ts` starts. If it has a method `stop`, parts started later are stopped before it. */
export const startedPart = <T>(name: string, start: (services: Services) => Promise<T>): StartedPart<T> => ({
  name,
  start,
});

/** The parts of one server. A dry run has its own, so that it neither reads nor changes what the server keeps. */
export class Running {
  readonly #services: () => PartServices;
  readonly #parts = new Map<AnyPart<unknown>, unknown>();
  /** In the order in which they are called. */
  readonly #stops: (() => Promise<unknown> | unknown)[] = [];

  constructor(services: () => PartServices) {
    this.#services = services;
  }

  of<T>(part: AnyPart<T>): T {
    if (this.#parts.has(part)) return this.#parts.get(part) as T;
    if ("start" in part) throw new Error(`${part.name} was not started`);
    const created = part.create(this.#services());
    this.#parts.set(part, created);
    if (canStop(created)) this.#stops.push(() => created.stop());
    return created;
  }

  /** The part, or null if it was not started, as in a dry run. */
  find<T>(part: StartedPart<T>): T | null {
    return (this.#parts.get(part) as T | undefined) ?? null;
  }

  async start<T>(services: Services, part: StartedPart<T>): Promise<T> {
    if (this.#parts.has(part)) throw new Error(`${part.name} was started already`);
    const started = await part.start(services);
    this.#parts.set(part, started);
    if (canStop(started)) this.#stops.unshift(() => started.stop());
    return started;
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0)) await stop();
  }
}

interface Stoppable {
  stop(): Promise<void> | void;
}

const canStop = (part: unknown): part is Stoppable =>
  typeof part === "object" && part !== null && "stop" in part && typeof part.stop === "function";

/** The services of a server of their own. */
export function withRunning(parts: Omit<Services, "running">): Services {
  const services: Services = { ...parts, running: new Running(() => services) };
  return services;
}
