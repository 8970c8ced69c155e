import type { TestApp } from "./app.ts";

/** How many calls of its store the server has made. */
export async function storeCalls(t: TestApp): Promise<number> {
  const text = await (await t.raw("/metrics")).text();
  return [...text.matchAll(/^svc_store_seconds_count\{.*\} (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
}
