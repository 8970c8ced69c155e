// A second server of an app's Postgres database, in the same process.
import { createApp } from "../../src/server/app.ts";
import { deviceIdentityCache } from "../../src/server/certificates/device-ca/identities.ts";
import { windowsEnrollment } from "../../src/server/devices/windows/enroll/kind.ts";
import { withRunning } from "../../src/server/platform/core/running.ts";
import { openPostgres } from "../../src/server/platform/store/postgres/open.ts";
import { tables } from "../../src/server/tables.ts";
import type { TestApp } from "./app.ts";
import { testCipher } from "./engines.ts";

/** The app with requests that the second server answers, for as long as `work` runs. */
export async function withSecondServer(t: TestApp, work: (there: TestApp) => Promise<void>): Promise<void> {
  const store = await openPostgres({ tables, url: t.databaseUrl!, cipher: testCipher, create: true, poolSize: 4 });
  const services = withRunning({ ...t.services, store });
  try {
    await services.running.start(services, deviceIdentityCache);
    await services.running.start(services, windowsEnrollment);
    const app = createApp(services, { agent: t.agent, stop: async () => {} }, { routes: [], protocols: [] });
    const raw = async (path: string, init?: RequestInit) => app.request(path, init);
    const request: TestApp["request"] = (method, path, body) =>
      raw(`/api/v1/svc${path}`, {
        method,
        headers: { authorization: `Bearer ${t.token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    await work({
      ...t,
      services,
      store,
      raw,
      request,
      get: (path) => request("GET", path),
      post: (path, body) => request("POST", path, body),
      patch: (path, body) => request("PATCH", path, body),
      delete: (path, body) => request("DELETE", path, body),
    });
  } finally {
    await services.running.stop();
    await store.close();
  }
}
