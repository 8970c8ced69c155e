// Runs the agent until the process is asked to stop.
import type { Level, Log } from "./options.ts";
import { findOsqueryd } from "./osqueryd.ts";
import { runAgent } from "./run.ts";
import { type AgentSetup, SetupError } from "./setup.ts";
import { launchNewest, startedVersion } from "./updates/launch.ts";

interface StartFlags {
  readonly osqueryd: boolean;
  readonly "osqueryd-path"?: string | undefined;
  readonly "hardware-uuid"?: string | undefined;
  readonly "hardware-serial"?: string | undefined;
  /** Only the agent as one file replaces itself. */
  readonly updates?: boolean | undefined;
}

interface StartParts {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes a line. */
  readonly note: (line: string) => void;
  readonly secondProgram: readonly [string, ...string[]];
}

/** Time in which the agent ends what it does; longer than osqueryd has for it. */
const STOP_MS = 20_000;

/** Ends this process if something does not end by itself. `process.exit` would wait for calls of the file system. */
function endLater(): void {
  setTimeout(() => process.kill(process.pid, "SIGKILL"), STOP_MS).unref();
}

/** Priorities for journals of systemd: a number in front of the line. */
const PRIORITIES: Record<Level, string> = { error: "<3>", warn: "<4>", info: "<6>" };

const logTo =
  (note: StartParts["note"], env: StartParts["env"]): Log =>
  (level, message) =>
    note(`${env.JOURNAL_STREAM ? PRIORITIES[level] : `${level}: `}${message}`);

/** For tests: a factor for all waits. */
function scaleOf({ SVC_AGENT_SCALE: text }: StartParts["env"]): number {
  const scale = Number(text || 1);
  if (!(scale > 0)) throw new SetupError("usage", `SVC_AGENT_SCALE: ${text} is not a positive number`);
  return scale;
}

export async function startAgent(
  { ca, ...setup }: AgentSetup,
  flags: StartFlags,
  { version, env, note, secondProgram }: StartParts,
): Promise<void> {
  const log = logTo(note, env);
  const scale = scaleOf(env);
  const launch = { stateDir: setup.stateDir, installed: version, scale, log };
  if (flags.updates && startedVersion() === null && (await launchNewest(launch))) return;
  // The query engine connects only over TLS.
  const isUsed = flags.osqueryd && setup.serverUrl.startsWith("https:");
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      stop.abort();
      endLater();
    });
  const { "hardware-uuid": uuid, "hardware-serial": serial } = flags;
  await runAgent(
    {
      ...setup,
      ...(ca === null ? {} : { ca }),
      version,
      secondProgram,
      osqueryd: isUsed ? (flags["osqueryd-path"] ?? (await findOsqueryd())) : null,
      hardware: { ...(uuid === undefined ? {} : { uuid }), ...(serial === undefined ? {} : { serial }) },
      scale,
      ...(flags.updates ? { updates: { started: startedVersion() } } : {}),
      log,
    },
    stop.signal,
  );
}
