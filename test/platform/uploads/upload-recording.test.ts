// How the server records what arrives of an upload while more arrives.
import { expect, it } from "vitest";
import { Recording } from "../../../src/server/platform/uploads/recording.ts";
import type { UploadRow } from "../../../src/server/platform/uploads/service.ts";

const row = { id: 1, received: 0, size: 100 } as UploadRow;

it("records one position at a time, and what has arrived meanwhile together", async () => {
  const recorded: number[] = [];
  const waiting: (() => void)[] = [];
  const recording = new Recording(row, async (before, arrived) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    recorded.push(arrived);
    return { ...before, received: arrived };
  });
  recording.upTo(8);
  recording.upTo(16);
  recording.upTo(24);
  expect(waiting).toHaveLength(1);
  waiting.shift()!();
  await expect.poll(() => waiting.length).toBe(1);
  expect(recorded).toEqual([8]);
  waiting.shift()!();
  expect((await recording.end()).received).toBe(24);
  expect(recorded).toEqual([8, 24]);
  expect((await recording.end()).received).toBe(24);
});

it("records nothing after a failure, which the end throws", async () => {
  let tries = 0;
  const recording = new Recording(row, async () => {
    tries++;
    throw new Error("the disk is full");
  });
  recording.upTo(8);
  await recording.settled();
  expect(() => recording.throwFailure()).toThrow("the disk is full");
  recording.upTo(16);
  await expect(recording.end()).rejects.toThrow("the disk is full");
  expect(tries).toBe(1);
});
