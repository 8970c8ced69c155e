// A comparer in a thread of its own.
import { Thread } from "../../../platform/core/concurrency/thread.ts";
import type { Services } from "../../../platform/core/context.ts";
import { localPlaces, type Source } from "../reference/sources.ts";
import type { CompareThread, PlacedSource } from "./compare.thread.ts";
import type { Comparer } from "./compare.ts";

interface ComparerApart extends Comparer {
  /** Ends the thread. */
  close(): Promise<void>;
}

/** The thread starts with the first comparison, and ends when the signal aborts. */
export function comparerApart(services: Services, sources: readonly Source[], signal: AbortSignal): ComparerApart {
  const thread = new Thread<CompareThread>("software/vulnerabilities/matching/compare.thread", { signal });
  const places = localPlaces(services);
  let opening: Promise<void> | null = null;

  async function open(): Promise<void> {
    const placed: PlacedSource[] = [];
    for (const source of sources) placed.push({ ...source, path: await places.of(source) });
    await thread.call("open", placed);
  }
  const ready = () => {
    opening ??= open();
    return opening;
  };

  return {
    async compare(rows) {
      await ready();
      return thread.call("compare", rows);
    },
    async compareSystem({ name, version, platform }) {
      await ready();
      return thread.call("compareSystem", { name, version, platform });
    },
    async describe(cves) {
      if (cves.length === 0) return [];
      await ready();
      return thread.call("describe", cves);
    },
    async close() {
      await thread.end();
      await places.close();
    },
  };
}
