// The agent as a task of Windows. A service would have to be a program that speaks with the service manager.

import { win32 } from "node:path";
import type { ServiceFile, ServicePlan } from "./service-plan.ts";

const TASK = "svc-agent";
/** Bytes of the log that a start of the agent keeps. */
const LOG_MAX = 10_000_000;

const logIn = (folder: string) => win32.join(folder, "agent.log");
const taskIn = (config: string) => win32.join(config, "task.xml");
export const launcherIn = (config: string): string => win32.join(config, "run.cmd");

/** In batch files, `%` begins a variable. A quotation mark cannot be quoted. */
function word(text: string): string {
  if (/["\p{Cc}]/u.test(text)) throw new Error(`${JSON.stringify(text)} cannot be written into a batch file`);
  return `"${text.replaceAll("%", "%%")}"`;
}

/**
 * A task starts one program with a short line, and not again when it ends: so it starts this. `timeout` would end at
 * once, because tasks have no console.
 */
const launcherOf = (argv: readonly string[], log: string) =>
  [
    "@echo off",
    "chcp 65001 > nul",
    ":start",
    `if exist ${word(log)} for %%F in (${word(log)}) do if %%~zF gtr ${LOG_MAX} move /y ${word(log)} ${word(`${log}.1`)} > nul`,
    `${argv.map(word).join(" ")} 2>> ${word(log)}`,
    "ping -n 6 127.0.0.1 > nul",
    "goto start",
    "",
  ].join("\r\n");

/** In ASCII, so that it does not depend on how `schtasks` reads it. */
const escaped = (text: string) => text.replace(/[&<>]|[^\x20-\x7e]/gu, (character) => `&#${character.codePointAt(0)};`);

/**
 * Without these settings, Windows would end a task after three days, and neither start it on battery nor keep it
 * running there. S-1-5-18 is the system. https://learn.microsoft.com/windows/win32/taskschd/task-scheduler-schema
 */
const taskOf = (launcher: string) => `<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Agent of svc: inventory, queries and scripts of this machine</Description>
  </RegistrationInfo>
  <Triggers>
    <BootTrigger><Enabled>true</Enabled></BootTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>S-1-5-18</UserId>
      <RunLevel>HighestAvailable</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>StopExisting</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <RunOnlyIfNetworkAvailable>false</RunOnlyIfNetworkAvailable>
    <Enabled>true</Enabled>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec><Command>"${escaped(launcher)}"</Command></Exec>
  </Actions>
</Task>
`;

interface Parts {
  /** The folder of everything that only administrators and the system may read. */
  readonly folder: string;
  readonly config: string;
  /** The agent with its arguments. */
  readonly argv: readonly string[];
  readonly files: readonly ServiceFile[];
}

export function windowsService({ folder, config, argv, files }: Parts): ServicePlan {
  const launcher = launcherIn(config);
  return {
    closed: {
      folder,
      // Anybody may create this folder before, and the owner of a file may always change who reads it.
      commands: [
        ["icacls", folder, "/setowner", "*S-1-5-32-544", "/T", "/L", "/Q"],
        ["icacls", folder, "/reset", "/T", "/L", "/Q"],
        ["icacls", folder, "/inheritance:r", "/grant:r", "*S-1-5-18:(OI)(CI)F", "*S-1-5-32-544:(OI)(CI)F"],
      ],
    },
    files: [
      ...files,
      { path: launcher, content: launcherOf(argv, logIn(folder)), mode: 0o644 },
      { path: taskIn(config), content: taskOf(launcher), mode: 0o644 },
    ],
    start: [
      ["schtasks", "/Create", "/TN", TASK, "/XML", taskIn(config), "/F"],
      ["schtasks", "/Run", "/TN", TASK],
    ],
  };
}

/** `schtasks /Query` would only show that there is the task, or in which state it is in the language of Windows. */
export const statusOnWindows: readonly string[] = [
  ...["powershell.exe", "-NoProfile", "-NonInteractive", "-Command"],
  // 4: running.
  `exit [int]([int](Get-ScheduledTask -TaskName '${TASK}' -ErrorAction SilentlyContinue).State -ne 4)`,
];

export const logOnWindows = (
  folder: string,
  { lines, follow }: { lines: number; follow: boolean },
): readonly string[] => [
  ...["powershell.exe", "-NoProfile", "-Command"],
  `Get-Content -Encoding UTF8 -LiteralPath '${logIn(folder).replaceAll("'", "''")}' -Tail ${lines}${follow ? " -Wait" : ""}`,
];
