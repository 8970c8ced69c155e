// Work that continues after its request was answered. When the server stops, it is aborted and awaited.
import type { Services } from "../context.ts";
import { part } from "../running.ts";

type Deps = Pick<Services, "running" | "log">;

const background = part("background work", () => ({
  stopping: new AbortController(),
  works: new Set<Promise<void>>(),
}));

/** Does nothing in a dry run. */
export function inBackground(
  home: Deps & Pick<Services, "dryRun">,
  name: string,
  work: (signal: AbortSignal) => Promise<unknown>,
): void {
  if (home.dryRun !== null) return;
  const { stopping, works } = home.running.of(background);
  const running = work(stopping.signal)
    .then(() => {
      if (stopping.signal.aborted) home.log.warn({ work: name }, "stopped before it was done");
    })
    .catch((err: unknown) => home.log.error({ err, work: name }, "background work failed"))
    .finally(() => works.delete(running));
  works.add(running);
}

/** Waits for the work that is running now. */
export async function backgroundIdle(home: Deps): Promise<void> {
  await Promise.all(home.running.of(background).works);
}

export async function stopBackground(home: Deps): Promise<void> {
  home.running.of(background).stopping.abort();
  await backgroundIdle(home);
}
