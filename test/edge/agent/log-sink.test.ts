// The log never blocks the server: lines that cannot be written are dropped and counted.
import { expect, it, vi } from "vitest";
import { stdoutDestination } from "../../../src/server/edge/agent/logs/files.ts";
import { LogSink } from "../../../src/server/platform/core/logging/log-sink.ts";
import { type Output, OutputFailed } from "../../../src/server/platform/core/logging/standard-output.ts";

const line = (text: string) => `${JSON.stringify({ msg: text })}\n`;

class TakenOutput implements Output {
  text = "";
  /** Called before each write: may throw or never resolve. */
  before: () => Promise<void> | void = () => {};
  async write(bytes: Buffer): Promise<void> {
    await this.before();
    this.text += bytes.toString();
  }
}

it("writes all lines in order", async () => {
  const output = new TakenOutput();
  const sink = new LogSink(output);
  for (let i = 0; i < 1_000; i++) sink.write(line(`line ${i}`));
  expect(await sink.flush(60_000)).toBe(true);
  expect(output.text).toBe(Array.from({ length: 1_000 }, (_, i) => line(`line ${i}`)).join(""));
  expect(sink.lost).toBe(0);
});

it("counts the lines that a full disk refused, continues when there is space, and reports how many were lost", async () => {
  const output = new TakenOutput();
  const sink = new LogSink(output);
  output.before = () => {
    throw new OutputFailed(new Error("ENOSPC"), 0);
  };
  for (let i = 0; i < 10; i++) sink.write(line(`lost ${i}`));
  await vi.waitFor(() => expect(sink.lost).toBe(10), 60_000);
  output.before = () => {};
  sink.write(line("kept"));
  await vi.waitFor(() => expect(output.text).toContain('"lines":10'), 60_000);
  expect(output.text).toContain(line("kept"));
  expect(output.text).not.toContain("lost 3");
  expect(sink.lost).toBe(10);
});

it("does not count lines that were written before the write failed", async () => {
  const output = new TakenOutput();
  const sink = new LogSink(output);
  output.before = () => {
    throw new OutputFailed(new Error("ENOSPC"), line("first").length + 3);
  };
  sink.write(line("first") + line("second") + line("third"));
  await vi.waitFor(() => expect(sink.lost).toBe(2));
});

it("keeps a limited number of lines for a slow reader, and counts the rest", async () => {
  const output = new TakenOutput();
  const sink = new LogSink(output);
  let read!: () => void;
  output.before = () =>
    new Promise((resolve) => {
      read = resolve;
    });
  const long = line("x".repeat(10_000));
  for (let i = 0; i < 1_000; i++) sink.write(long);
  expect(sink.lost).toBeGreaterThan(500);
  expect(await sink.flush(10)).toBe(false);
  output.before = () => {};
  read();
  expect(await sink.flush(60_000)).toBe(true);
  expect(output.text.split("\n").length - 1 + sink.lost).toBe(1_000 + 1);
});

it("refuses agents' lines that nobody reads from stdout, and accepts them again when somebody does", async () => {
  vi.useFakeTimers();
  try {
    const output = new TakenOutput();
    let read!: () => void;
    output.before = () =>
      new Promise((resolve) => {
        read = resolve;
      });
    const destination = stdoutDestination(output);
    const [first, second] = [destination.write(line("first")), destination.write(line("second"))];
    const refused = Promise.all([first, second].map((write) => expect(write).rejects.toThrow("not read in time")));
    await vi.advanceTimersByTimeAsync(20_000);
    await refused;
    output.before = () => {};
    read();
    await destination.write(line("third"));
    // The agent sends the second one again, because its write had not started.
    expect(output.text).toBe(line("first") + line("third"));
  } finally {
    vi.useRealTimers();
  }
});
