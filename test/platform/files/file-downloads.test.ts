// Files that the server downloads itself: how often it tries.
import { describe, expect, it } from "vitest";
import { DownloadError, fetchFile } from "../../../src/server/platform/files/fetch.ts";
import { startApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { startReceiver } from "../../support/receiver.ts";

describe.each(rulesEngines)("downloads of the server on %s", (engine) => {
  it.each([500, 502, 503, 429])("are tried three times after the status %i", async (status) => {
    const t = await startApp({ engine, settings: { outbound_allow: "127.0.0.1" } });
    const server = await startReceiver({
      answer: (_, index) => (index < 2 ? { status, body: "later" } : { body: "the file" }),
    });
    const started = t.clock.now();
    const row = await fetchFile(t.services, { url: `${server.url}/x.pkg`, maxBytes: 1000 });
    expect([row.size, server.received.length]).toEqual([8, 3]);
    expect(t.clock.now() - started).toBe(3_000);

    server.received.length = 0;
    server.answer = () => ({ status, body: "no" });
    await expect(fetchFile(t.services, { url: `${server.url}/y.pkg`, maxBytes: 1000 })).rejects.toThrow(
      `127.0.0.1 answered with status ${status}`,
    );
    expect(server.received).toHaveLength(3);
  });

  it.each([404, 403, 401])("are not tried again after the status %i", async (status) => {
    const t = await startApp({ engine, settings: { outbound_allow: "127.0.0.1" } });
    const server = await startReceiver({ answer: () => ({ status, body: "no" }) });
    await expect(fetchFile(t.services, { url: `${server.url}/x.pkg`, maxBytes: 1000 })).rejects.toThrow(DownloadError);
    expect(server.received).toHaveLength(1);
  });
});
