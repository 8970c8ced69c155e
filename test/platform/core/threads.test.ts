// Pure work in a thread of its own.
import { threadId } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { Thread, ThreadError, type ThreadOptions } from "../../../src/server/platform/core/concurrency/thread.ts";
import type { SampleThread } from "../../support/sample.thread.ts";

const start = (options?: ThreadOptions) => new Thread<SampleThread>("../../test/support/sample.thread", options);

describe("a thread", () => {
  it("answers calls in the order in which their functions end, apart from its owner's thread", async () => {
    const thread = start();
    expect(await Promise.all([thread.call("double", 4), thread.call("count"), thread.call("count")])).toEqual([
      8, 1, 2,
    ]);
    expect(await thread.call("where")).not.toBe(threadId);
    await thread.end();
  });

  it("hands bytes over", async () => {
    const thread = start();
    const bytes = await thread.call("bytes", 300_000);
    expect([bytes.length, bytes[299_999], bytes.buffer.byteLength]).toEqual([300_000, 7, 300_000]);
    await thread.end();
  });

  it("passes errors on with the name of their class, and goes on", async () => {
    const thread = start();
    const refused = await thread.call("refuse").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ThreadError);
    expect(refused).toMatchObject({ kind: "SampleRefused", message: "no such thing" });
    expect((refused as Error).stack).toContain("sample.thread");
    await expect(thread.call("throwText")).rejects.toMatchObject({ kind: "", message: "a text" });
    await expect(thread.call("double", Symbol("no copy") as never)).rejects.toThrow("could not be cloned");
    expect(await thread.call("count")).toBe(1);
    await thread.end();
  });

  it("fails what waits for it if it ends by itself, and begins again with the next call", async () => {
    const thread = start();
    await thread.call("count");
    await expect(thread.call("exit")).rejects.toThrow("sample.thread has ended: exit code 3");
    expect(await thread.call("count")).toBe(1);
    await thread.end();
  });

  it("has a limit for its memory, which ends it and not the process", async () => {
    const thread = start({ heapMaxMb: 32 });
    await expect(thread.call("grow")).rejects.toThrow(/sample\.thread has ended: .*memory/);
    expect(await thread.call("double", 2)).toBe(4);
    await thread.end();
  });

  it("is ended in the middle of its work by a signal, with its reason", async () => {
    const stop = new AbortController();
    const thread = start({ signal: stop.signal });
    await thread.call("count");
    const spinning = thread.call("spin");
    stop.abort(new Error("the server stops"));
    await expect(spinning).rejects.toThrow("the server stops");
    await expect(thread.call("count")).rejects.toThrow("the server stops");
    await thread.end();
  });

  it("answers nothing after its end", async () => {
    const thread = start();
    const spinning = thread.call("spin");
    await Promise.all([thread.end(), expect(spinning).rejects.toThrow("was ended")]);
    await expect(thread.call("count")).rejects.toThrow("was ended");
  });
});
