// Reads the directory of a store that a server may have open at the same time.
import { setTimeout as sleep } from "node:timers/promises";
import type { WithAdmin } from "../admin.ts";
import { type Collections, StoreDamaged, type Tables } from "../store.ts";
import { type LowdbOptions, openLowdb } from "./open.ts";

const MAX_ATTEMPTS = 8;
const PAUSE_MS = 250;

/** If the server replaces files with a new snapshot during the read, the read is retried. */
export async function openBeside<S extends Tables>(
  options: Omit<LowdbOptions<S>, "readOnly">,
): Promise<WithAdmin<S> & Collections<S>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openLowdb({ ...options, readOnly: true });
    } catch (error) {
      const mayPass = error instanceof StoreDamaged || (error as NodeJS.ErrnoException).code === "ENOENT";
      if (!mayPass || attempt === MAX_ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
