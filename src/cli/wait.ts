// Waiting for an operation on the server, in the same way for all commands: until it ends, until the timeout, or
// until Ctrl-C.
import * as Flags from "@oclif/core/flags";
import { CliError } from "./errors.ts";
import type { Io } from "./io.ts";
import { durationMs } from "./output/text.ts";

export const waitFlags = {
  wait: Flags.boolean({ summary: "Wait until it has finished; the exit code is its result." }),
  timeout: Flags.string({ summary: "Time limit for --wait (10m).", helpValue: "10m", dependsOn: ["wait"] }),
};

/** The operation that continues without this command, and how to check or end it. */
export interface Going {
  readonly what: string;
  readonly hint: string;
}

interface Wait {
  readonly timeout: string;
  /** Whether the operation has ended; polled at increasing intervals. */
  readonly done: () => Promise<boolean>;
  readonly going: () => Going;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 5_000;

/** The --timeout flag, or its default. */
export const timeoutOf = (flags: { readonly timeout?: unknown }): string => {
  const timeout = String(flags.timeout ?? "10m");
  durationMs(timeout, "--timeout");
  return timeout;
};

export const interrupted = ({ what, hint }: Going) => new CliError("interrupted", `interrupted: ${what}`, hint);

/**
 * Returns when the operation has ended. Exit code 7 after the timeout, 130 after an interrupt; both errors name what
 * continues.
 */
export async function waitFor(io: Io, stop: AbortSignal, { timeout, done, going }: Wait): Promise<void> {
  const most = durationMs(timeout, "--timeout");
  const started = io.now().getTime();
  let slept = 0;
  try {
    for (let pause = FIRST_MS; !(await done()); pause = Math.min(LONGEST_MS, pause * 1.5)) {
      const left = most - Math.max(slept, io.now().getTime() - started);
      if (left <= 0) {
        const { what, hint } = going();
        throw new CliError("pending", `after ${timeout} ${what}`, hint);
      }
      const ms = Math.min(pause, left);
      await io.sleep(ms, stop);
      slept += ms;
    }
  } catch (error) {
    throw stop.aborted ? interrupted(going()) : error;
  }
}
