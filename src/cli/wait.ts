// Waiting for what goes on on the server: one way for all commands, to the end, to the end of the time, or to Ctrl-C.
import * as Flags from "@oclif/core/flags";
import { CliError } from "./errors.ts";
import type { Io } from "./io.ts";
import { durationMs } from "./text.ts";

export const waitFlags = {
  wait: Flags.boolean({ summary: "Wait until it is done, and tell how it went by the exit code." }),
  timeout: Flags.string({ summary: "How long to wait (10m).", helpValue: "10m", dependsOn: ["wait"] }),
};

/** What goes on without this command, and how to look at it or end it. */
export interface Going {
  readonly what: string;
  readonly hint: string;
}

interface Wait {
  readonly timeout: string;
  /** Whether it is over; asked again and again, ever less often. */
  readonly done: () => Promise<boolean>;
  readonly going: () => Going;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 5_000;

/** The flag, or how long waits last without it. */
export const timeoutOf = (flags: { readonly timeout?: unknown }): string => {
  const timeout = String(flags.timeout ?? "10m");
  durationMs(timeout, "--timeout");
  return timeout;
};

export const interrupted = ({ what, hint }: Going) => new CliError("interrupted", `interrupted: ${what}`, hint);

/** Returns when it is done. Exit code 7 when the time is over before, 130 at an interrupt; both say what goes on. */
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
