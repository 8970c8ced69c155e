// Simulated Windows hosts on the built server with Postgres: how fast they enroll, how soon their agents have reported
// profiles, and whether commands survive a server that is killed (kill -9) again and again.
//   npm run test:soak -- windows-devices --devices 300 --kills 100
//   npm run test:soak -- windows-devices --devices 10000 --kills 0 --poll 60 --details 60
import { FormData } from "undici";
import { WindowsFleet } from "../../src/simulator/windows/fleet.ts";
import { windowsProfile } from "../support/profiles.ts";
import { type Api, signIn } from "./apple-devices.ts";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { between, insist, numberOf, pause, until } from "./support/check.ts";

/** All devices have a profile within this time. */
const SETTLED_MS = 30 * 60_000;
const SECRET = "enroll secret of the windows devices";
const NODE = "./Device/Vendor/MSFT/Policy/Config/Camera/Allow";

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const devices = numberOf(args, "devices", 300);
  const kills = numberOf(args, "kills", 100);
  const profiles = numberOf(args, "profiles", 5);
  const notNow = numberOf(args, "not-now", kills > 0 ? 0.05 : 0);
  const bed = await Bed.make({
    engine: "postgres",
    // Agents report profiles with the details of their hosts.
    args: ["--dev-license", "--detail-interval", `${numberOf(args, "details", 10)}s`, "--max-jitter-percent", "0"],
  });
  let fleet: WindowsFleet | null = null;
  try {
    await bed.start();
    const api = await signIn(bed);
    await api.call("PATCH", "/config", {
      server_settings: { server_url: bed.url },
      mdm: { windows_enabled_and_configured: true },
    });
    await api.call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
    const poll = { pollSeconds: numberOf(args, "poll", 5), softwarePerHost: 5 };
    fleet = new WindowsFleet({ devices, serverUrl: bed.url, enrollSecret: SECRET, notNow, ...poll });
    const cpuBefore = bed.alive.usage().cpu;
    await fleet.enrollAll();
    const enrolled = fleet.report();
    insist(enrolled.enrolled === devices, () => `${enrolled.enrolled} enrolled: ${enrolled.recentErrors.join("; ")}`);
    const cpuOfEnrollment = bed.alive.usage().cpu - cpuBefore;
    fleet.start();
    const { cpu: start } = bed.alive.usage();
    for (let i = 0; i < profiles; i++) await upload(api, `first-${i}`);
    const reached = await allHave(api, fleet, devices, profiles);
    const { cpu, rss } = bed.alive.usage();
    const killed = kills === 0 ? "" : await killAgainAndAgain(bed, api, fleet, { devices, kills, profiles });
    const report = await fleet.stop();
    fleet = null;
    await bed.stop();
    insist(report.doubled === 0, `${report.doubled} commands came again after their answer`);
    insist(report.refused === 0, `${report.refused} commands failed`);
    const expected = devices * (profiles + killed.length);
    insist(report.done === expected, `${report.done} commands were done instead of ${expected}`);
    return (
      `${devices} hosts enrolled with ${enrolled.enrolledPerSecond}/s (${((cpuOfEnrollment / devices) * 1000).toFixed(1)} ms of CPU each); ` +
      `${profiles} profiles were verified on all in ${(reached / 1000).toFixed(1)} s (${(((cpu - start) / devices) * 1000).toFixed(1)} ms of CPU each, RSS ${Math.round(rss / 1e6)} MB)` +
      `${kills === 0 ? "" : `; ${kills} servers killed under ${killed.length} more profiles: 0 lost, 0 twice`}; ` +
      `${report.done} commands done, ${report.repeated} received again, ${report.postponed} postponed`
    );
  } finally {
    await fleet?.stop();
    await bed.dispose();
  }
}

async function upload(api: Api, name: string): Promise<void> {
  const form = new FormData();
  form.set("profile", new Blob([windowsProfile(`${NODE}${name}`)]), `${name}.xml`);
  await api.call("POST", "/configuration_profiles", form);
}

/** Until each device has this many profiles, and its agent has reported them. Returns how long it took. */
async function allHave(api: Api, fleet: WindowsFleet, devices: number, profiles: number): Promise<number> {
  return until(`all devices have ${profiles} profiles`, SETTLED_MS, async () => {
    await pause(500);
    const { verified } = (await api.call("GET", "/configuration_profiles/summary")) as { verified: number };
    // The summary knows only of profiles that were compared with the hosts since they were uploaded.
    return verified === devices && fleet.report().done >= devices * profiles;
  });
}

/** Kills the server while commands are queued, delivered and answered. Returns the profiles that it has uploaded. */
async function killAgainAndAgain(
  bed: Bed,
  api: Api,
  fleet: WindowsFleet,
  { devices, kills, profiles }: { devices: number; kills: number; profiles: number },
): Promise<string[]> {
  const each = Math.max(1, Math.round(kills / 10));
  const uploaded: string[] = [];
  for (let killed = 0; killed < kills; killed++) {
    if (killed % each === 0) {
      const name = `killed-${uploaded.length}`;
      await upload(api, name);
      uploaded.push(name);
    }
    await pause(between(50, 1500));
    bed.alive.process.kill("SIGKILL");
    await bed.start();
  }
  await allHave(api, fleet, devices, profiles + uploaded.length);
  return uploaded;
}
