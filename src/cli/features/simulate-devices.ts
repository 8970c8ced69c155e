// `svc agent simulate --mdm`: the flags of simulated devices, and what they mean.
import * as Flags from "@oclif/core/flags";
import { type AppleFamily, appleFamilies } from "../../simulator/apple/facts.ts";
import type { AppleRunOptions } from "../../simulator/apple/fleet.ts";
import type { WindowsRunOptions } from "../../simulator/windows/fleet.ts";
import { usage } from "../errors.ts";
import { durationMs } from "../output/text.ts";

const dependsOn = ["mdm"];

export const deviceSimulationFlags = {
  mdm: Flags.string({
    summary: "Simulate devices of device management instead of agents.",
    options: ["apple", "windows"],
  }),
  "not-now": Flags.string({ summary: "Share of the commands that a device postpones.", dependsOn }),
  "command-failures": Flags.string({ summary: "Share of the commands that fail.", dependsOn }),
  "poll-interval": Flags.string({
    summary: "How often a device asks by itself; 0: only when it is asked to. Default: 1m.",
    helpValue: "1m",
    dependsOn,
  }),
  "push-listen": Flags.string({
    summary:
      "Address at which the server's pushes to Apple devices arrive. The server's setting apns_url has to name it.",
    helpValue: "127.0.0.1:2197",
    dependsOn,
  }),
};

export interface DeviceSimulationFlags {
  readonly hosts: number;
  readonly seed: number;
  readonly platforms: readonly string[] | undefined;
  readonly duration: string | undefined;
  readonly "enroll-only": boolean;
  readonly "not-now": string | undefined;
  readonly "command-failures": string | undefined;
  readonly "poll-interval": string | undefined;
  readonly "push-listen": string | undefined;
  readonly "max-connections": number | undefined;
  readonly "software-per-host": number | undefined;
}

/** Throws an error that names the flag which is wrong. */
export function appleOptions(
  flags: DeviceSimulationFlags,
  server: Pick<AppleRunOptions, "profile" | "tls">,
): Omit<AppleRunOptions, "onProgress"> {
  const push = flags["push-listen"];
  return {
    ...server,
    ...common(flags),
    ...(flags.platforms === undefined ? {} : { families: flags.platforms.map(familyOf) }),
    ...(push === undefined ? {} : { push: addressOf(push) }),
  };
}

/** The same for Windows hosts. */
export function windowsOptions(
  flags: DeviceSimulationFlags,
  server: Pick<WindowsRunOptions, "serverUrl" | "enrollSecret" | "tls">,
): Omit<WindowsRunOptions, "onProgress"> {
  for (const name of ["platforms", "push-listen"] as const)
    if (flags[name] !== undefined) throw usage(`--${name} cannot be used with --mdm windows`);
  const software = flags["software-per-host"];
  return { ...server, ...common(flags), ...(software === undefined ? {} : { softwarePerHost: software }) };
}

function common(flags: DeviceSimulationFlags) {
  const connections = flags["max-connections"];
  const interval = flags["poll-interval"];
  return {
    devices: flags.hosts,
    seed: flags.seed,
    notNow: share(flags, "not-now"),
    errors: share(flags, "command-failures"),
    ...(interval === undefined
      ? {}
      : { pollSeconds: interval === "0" ? 0 : durationMs(interval, "--poll-interval") / 1000 }),
    ...(connections === undefined ? {} : { maxConnections: connections }),
    ...(flags["enroll-only"] ? { duration: null } : {}),
    ...(flags.duration === undefined ? {} : { duration: durationMs(flags.duration, "--duration") / 1000 }),
  };
}

function familyOf(text: string): AppleFamily {
  const found = appleFamilies.find((family) => family === text);
  if (found === undefined) throw usage(`--platforms: ${text} is none of ${appleFamilies.join(", ")}`);
  return found;
}

function share(flags: DeviceSimulationFlags, name: "not-now" | "command-failures"): number {
  const value = Number(flags[name] ?? "0");
  if (!(value >= 0 && value <= 1)) throw usage(`--${name}: ${flags[name]} is not a number from 0 to 1`);
  return value;
}

function addressOf(text: string): { host: string; port: number } {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) throw usage(`--push-listen: ${text} is not HOST:PORT`);
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}
