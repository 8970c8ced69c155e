import type { Services } from "../core/context.ts";

export interface Health {
  readonly ok: boolean;
  readonly body: { status: "ok" } | { status: "unhealthy"; failing: Record<string, string> };
}

/** Whether requests can be served now; otherwise names the part that fails. */
export async function health({ store, log }: Services): Promise<Health> {
  try {
    await store.check();
    return { ok: true, body: { status: "ok" } };
  } catch (error) {
    log.warn({ err: error }, "health check failed");
    return { ok: false, body: { status: "unhealthy", failing: { store: "cannot be read or written now" } } };
  }
}
