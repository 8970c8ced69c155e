// Runs the agent until the process is asked to stop.
import type { Level } from "./options.ts";
import { findOsqueryd } from "./osqueryd.ts";
import { runAgent } from "./run.ts";
import { type AgentSetup, SetupError } from "./setup.ts";

export interface StartFlags {
  readonly osqueryd: boolean;
  readonly "osqueryd-path"?: string | undefined;
  readonly "hardware-uuid"?: string | undefined;
  readonly "hardware-serial"?: string | undefined;
}

export interface StartParts {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes a line. */
  readonly note: (line: string) => void;
}

/** As journals of systemd read them: a number in front of the line. */
const PRIORITIES: Record<Level, string> = { error: "<3>", warn: "<4>", info: "<6>" };

export async function startAgent(
  { ca, ...setup }: AgentSetup,
  flags: StartFlags,
  { version, env, note }: StartParts,
): Promise<void> {
  // For tests: a factor for all waits.
  const scale = Number(env.SVC_AGENT_SCALE || 1);
  if (!(scale > 0)) throw new SetupError("usage", `SVC_AGENT_SCALE: ${env.SVC_AGENT_SCALE} is not a positive number`);
  // It connects only over TLS.
  const isUsed = flags.osqueryd && setup.serverUrl.startsWith("https:");
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const { "hardware-uuid": uuid, "hardware-serial": serial } = flags;
  await runAgent(
    {
      ...setup,
      ...(ca === null ? {} : { ca }),
      version,
      osqueryd: isUsed ? (flags["osqueryd-path"] ?? (await findOsqueryd())) : null,
      hardware: { ...(uuid === undefined ? {} : { uuid }), ...(serial === undefined ? {} : { serial }) },
      scale,
      log: (level, message) => note(`${env.JOURNAL_STREAM ? PRIORITIES[level] : `${level}: `}${message}`),
    },
    stop.signal,
  );
}
