import { setTimeout as pause } from "node:timers/promises";
import type { BenchServer } from "./serve.ts";

const LOOK_MS = 2_000;
/** Seconds of CPU between two looks that count as quiet. */
const QUIET = 0.4;
const LOOKS_MAX = 90;

/**
 * Waits until a server, and Postgres if there is one, have done what follows from a start, an enrollment or an import:
 * counting, comparing, vacuum. Otherwise it would run during one of the measurements.
 */
export async function settled(server: BenchServer, database: { cpu(): number } | null = null): Promise<void> {
  const used = () => server.usage().cpu + (database?.cpu() ?? 0);
  for (let quiet = 0, looks = 0; quiet < 3 && looks < LOOKS_MAX; looks++) {
    const before = used();
    await pause(LOOK_MS);
    quiet = used() - before < QUIET ? quiet + 1 : 0;
  }
}
