// Work that continues after its request was answered. When the server stops, it is aborted and awaited.
import type { Services } from "../context.ts";

type Home = Pick<Services, "config" | "log">;

interface Running {
  readonly stop: AbortController;
  readonly works: Set<Promise<void>>;
}

/** One per server, keyed by the configuration reader, which the services and all their contexts share. */
const servers = new WeakMap<Services["config"], Running>();

function runningOf({ config }: Home): Running {
  const known = servers.get(config);
  if (known) return known;
  const made = { stop: new AbortController(), works: new Set<Promise<void>>() };
  servers.set(config, made);
  return made;
}

/** Does nothing in a dry run. */
export function inBackground(
  home: Home & Pick<Services, "dryRun">,
  name: string,
  work: (signal: AbortSignal) => Promise<unknown>,
): void {
  if (home.dryRun !== null) return;
  const { stop, works } = runningOf(home);
  const running = work(stop.signal)
    .then(() => {
      if (stop.signal.aborted) home.log.warn({ work: name }, "stopped before it was done");
    })
    .catch((err: unknown) => home.log.error({ err, work: name }, "background work failed"))
    .finally(() => works.delete(running));
  works.add(running);
}

/** Waits for the work that is running now. */
export async function backgroundIdle(home: Home): Promise<void> {
  await Promise.all(runningOf(home).works);
}

export async function stopBackground(home: Home): Promise<void> {
  runningOf(home).stop.abort();
  await backgroundIdle(home);
}
