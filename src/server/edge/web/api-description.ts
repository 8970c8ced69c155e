// The API's description for machines and for readers. It never changes while the server runs. Building it takes up to a
// second of processor time, so that a thread does it, once: neither the first reader nor others pay for it.
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import { Thread } from "../../platform/core/concurrency/thread.ts";
import { part } from "../../platform/core/running.ts";
import { version } from "../../platform/core/version.ts";
import type { DescriptionThread } from "./api-description.thread.ts";

export type ApiDescription = Readonly<Record<"document" | "html" | "css", Uint8Array<ArrayBuffer>>>;

async function build(): Promise<ApiDescription> {
  const thread = new Thread<DescriptionThread>("edge/web/api-description.thread", { heapMaxMb: 512 });
  try {
    return await thread.call("describe", version.version);
  } finally {
    await thread.end();
  }
}

/** Built for the first reader, because most servers have none. After a failure, the next one tries again. */
export const apiDescription = part("description of the API", () => new CachedValue(build));
