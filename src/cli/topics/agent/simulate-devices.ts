// `svc agent simulate --mdm`: the flags of simulated devices, and what they mean.
import * as Flags from "@oclif/core/flags";
import type { AndroidOptions } from "../../../simulator/android/fleet.ts";
import { type AppleFamily, appleFamilies } from "../../../simulator/apple/facts.ts";
import type { AppleRunOptions } from "../../../simulator/apple/fleet.ts";
import type { RunOptions } from "../../../simulator/fleet.ts";
import type { WindowsRunOptions } from "../../../simulator/windows/fleet.ts";
import { usage } from "../../errors.ts";
import { durationMs } from "../../output/text.ts";

const dependsOn = ["mdm"];

export const deviceSimulationFlags = {
  mdm: Flags.string({
    summary: "Simulate devices of device management instead of agents.",
    options: ["apple", "windows", "android"],
  }),
  "not-now": Flags.string({ summary: "Share of the commands that a device postpones.", dependsOn }),
  "command-failures": Flags.string({ summary: "Share of the commands that fail.", dependsOn }),
  "poll-interval": Flags.string({
    summary: "How often a device connects without a push; 0: only after a push. Default: 1m.",
    helpValue: "1m",
    dependsOn,
  }),
  "push-listen": Flags.string({
    summary:
      "Address at which the server's pushes to Apple devices arrive. The server's setting apns_url has to name it.",
    helpValue: "127.0.0.1:2197",
    dependsOn,
  }),
  "stand-in": Flags.string({
    summary:
      "Folder of the simulated Android Management API: its keys, and settings.env with the server's settings. Made by the first run.",
    helpValue: "DIR",
    dependsOn,
  }),
  "stand-in-listen": Flags.string({
    summary: "Address at which the simulated Android Management API listens. Default: 127.0.0.1:2198.",
    helpValue: "127.0.0.1:2198",
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
  readonly "stand-in": string | undefined;
  readonly "stand-in-listen": string | undefined;
  readonly "max-connections": number | undefined;
  readonly "software-per-host": number | undefined;
}

/** Throws an error that names the flag which is wrong. */
export function appleOptions(
  flags: DeviceSimulationFlags,
  server: Pick<AppleRunOptions, "profile" | "tls">,
): Omit<AppleRunOptions, "onProgress"> {
  refuseOthers(flags, "apple", ["stand-in", "stand-in-listen", "software-per-host"]);
  const push = flags["push-listen"];
  return {
    ...server,
    ...common(flags),
    ...(flags.platforms === undefined ? {} : { families: flags.platforms.map(familyOf) }),
    ...(push === undefined ? {} : { push: addressOf("push-listen", push) }),
  };
}

/** Options of simulated Windows hosts. */
export function windowsOptions(
  flags: DeviceSimulationFlags,
  server: Pick<WindowsRunOptions, "serverUrl" | "enrollSecret" | "tls">,
): Omit<WindowsRunOptions, "onProgress"> {
  refuseOthers(flags, "windows", ["platforms", "push-listen", "stand-in", "stand-in-listen"]);
  const software = flags["software-per-host"];
  return { ...server, ...common(flags), ...(software === undefined ? {} : { softwarePerHost: software }) };
}

/** Options of simulated Android devices. */
export function androidOptions(
  flags: DeviceSimulationFlags,
  server: Pick<AndroidOptions, "keys" | "listen" | "serverUrl" | "ownUrl" | "enrollSecret" | "tls">,
): AndroidOptions & Pick<RunOptions, "duration"> {
  return { ...server, ...common(flags) };
}

/** The folder and the address of the stand-in of the Android Management API. */
export function standInOf(flags: DeviceSimulationFlags) {
  refuseOthers(flags, "android", ["platforms", "push-listen", "software-per-host"]);
  const folder = flags["stand-in"];
  if (folder === undefined) throw usage("--stand-in DIR is required with --mdm android");
  return { folder, listen: addressOf("stand-in-listen", flags["stand-in-listen"] ?? "127.0.0.1:2198") };
}

function refuseOthers(
  flags: DeviceSimulationFlags,
  mdm: string,
  names: readonly (keyof DeviceSimulationFlags)[],
): void {
  for (const name of names) if (flags[name] !== undefined) throw usage(`--${name} cannot be used with --mdm ${mdm}`);
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
  const match = appleFamilies.find((family) => family === text);
  if (match === undefined) throw usage(`--platforms: ${text} is none of ${appleFamilies.join(", ")}`);
  return match;
}

function share(flags: DeviceSimulationFlags, name: "not-now" | "command-failures"): number {
  const value = Number(flags[name] ?? "0");
  if (!(value >= 0 && value <= 1)) throw usage(`--${name}: ${flags[name]} is not a number from 0 to 1`);
  return value;
}

function addressOf(name: string, text: string): { host: string; port: number } {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) throw usage(`--${name}: ${text} is not HOST:PORT`);
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}
