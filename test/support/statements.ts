import { Histogram } from "prom-client";
import type { Services } from "../../src/server/platform/core/context.ts";
import { timed } from "../../src/server/platform/store/timed.ts";
import type { TestApp } from "./app.ts";

export interface CountedServices {
  readonly services: Services;
  /** How many calls of the store were made through these services. */
  calls(): Promise<number>;
}

/** The services of the server, with a store that counts its calls. */
export function countedStore({ services }: TestApp): CountedServices {
  const seconds = new Histogram({ name: "calls", help: "calls", labelNames: ["table", "operation"], registers: [] });
  return {
    services: { ...services, store: timed(services.store, seconds) },
    async calls() {
      const { values } = await seconds.get();
      return values.reduce((sum, { metricName, value }) => sum + (metricName === "calls_count" ? value : 0), 0);
    },
  };
}
