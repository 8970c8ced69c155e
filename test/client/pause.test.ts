import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { pause } from "../../src/client/pause.ts";

it("ends after the time or with the signal, and leaves no listener behind", async () => {
  const { signal } = new AbortController();
  for (let turn = 0; turn < 20; turn++) await pause(0, signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);

  const stop = new AbortController();
  const waiting = pause(60_000, stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(pause(60_000, stop.signal)).rejects.toThrow("enough");
});
