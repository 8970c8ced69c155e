import { isStopping } from "../../platform/core/concurrency/stopping.ts";
import type { Services } from "../../platform/core/context.ts";

interface Health {
  readonly ok: boolean;
  readonly body:
    | { status: "ok"; warnings?: Record<string, string> }
    | { status: "unhealthy"; failing: Record<string, string> };
}

/** Whether the server can handle requests. Otherwise the reply names the failing part. */
export async function health(services: Services): Promise<Health> {
  const { store, log } = services;
  if (isStopping(services))
    return {
      ok: false,
      body: { status: "unhealthy", failing: { server: "stopping: send requests to another server" } },
    };
  try {
    await store.check();
    const problem = services.blobs.problem();
    // Still healthy: without its bucket a server can do all but store and send files, and other servers could not either.
    return { ok: true, body: problem === null ? { status: "ok" } : { status: "ok", warnings: { blobs: problem } } };
  } catch (error) {
    log.warn({ err: error }, "health check failed");
    return { ok: false, body: { status: "unhealthy", failing: { store: "cannot be read or written at the moment" } } };
  }
}
