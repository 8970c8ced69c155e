// Simulated Apple devices on the built server with Postgres: how fast they enroll, how soon a profile has reached all of
// them, and whether commands survive a server that is killed (kill -9) again and again.
//   npm run test:soak -- apple-devices --devices 1000 --kills 100
//   npm run test:soak -- apple-devices --devices 10000 --kills 0
import { X509Certificate } from "node:crypto";
import { FormData, fetch } from "undici";
import { newKey } from "../../src/pki/x509.ts";
import { systemClock } from "../../src/server/platform/core/clock.ts";
import { AppleFleet } from "../../src/simulator/apple/fleet.ts";
import { mobileconfig } from "../support/profiles.ts";
import { pemOfKey, pushCertificateFor } from "../support/push-certificate.ts";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { between, insist, numberOf, pause, until } from "./support/check.ts";

/** All devices have a profile within this time. */
const SETTLED_MS = 30 * 60_000;

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const devices = numberOf(args, "devices", 1000);
  const kills = numberOf(args, "kills", 100);
  const notNow = numberOf(args, "not-now", kills > 0 ? 0.05 : 0);
  const errors = numberOf(args, "errors", 0);
  const fleet = new AppleFleet({
    devices,
    notNow,
    errors,
    // Devices come back by themselves if a push was lost with a server.
    pollSeconds: kills > 0 ? 20 : 600,
    postponedSeconds: 1,
    concurrency: 64,
  });
  const pushUrl = await fleet.listen({ host: "127.0.0.1", port: 0 });
  const bed = await Bed.make({ engine: "postgres", args: ["--dev-license"], env: { SVC_APNS_URL: pushUrl } });
  try {
    await bed.start();
    const api = await signIn(bed);
    await turnOn(api, bed.url);
    const cpuBefore = bed.alive.usage().cpu;
    await fleet.enrollAll({
      url: `${bed.url}/api/v1/svc/enrollment_profiles/manual`,
      headers: { authorization: api.authorization },
    });
    const enrolled = fleet.report();
    insist(enrolled.enrolled === devices, () => `${enrolled.enrolled} enrolled: ${enrolled.recentErrors.join("; ")}`);
    const cpuOfEnrollment = bed.alive.usage().cpu - cpuBefore;
    fleet.start();
    const start = bed.alive.usage().cpu;
    const reached = await reachAll(api, devices, 1);
    const { cpu, rss } = bed.alive.usage();
    const killed = kills === 0 ? "" : await killAgainAndAgain(bed, api, fleet, { devices, kills });
    const report = await fleet.stop();
    await bed.stop();
    insist(report.unsentAnswers === 0, `${report.unsentAnswers} answers were not delivered`);
    return (
      `${devices} devices enrolled with ${enrolled.enrolledPerSecond}/s (${((cpuOfEnrollment / devices) * 1000).toFixed(1)} ms of CPU each); ` +
      `a profile reached all in ${(reached / 1000).toFixed(1)} s (${(((cpu - start) / devices) * 1000).toFixed(1)} ms of CPU each, RSS ${Math.round(rss / 1e6)} MB)${killed}; ${report.acknowledged} commands done, ${report.repeated} received again, ${report.pushes} pushes`
    );
  } finally {
    await bed.dispose();
  }
}

export interface Api {
  readonly authorization: string;
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

export async function signIn(bed: Bed): Promise<Api> {
  const { email, password } = bed.alive;
  const request = async (method: string, path: string, body: unknown, authorization: string | null) => {
    const isForm = body instanceof FormData;
    const reply = await fetch(`${bed.url}/api/v1/svc${path}`, {
      method,
      headers: {
        ...(authorization === null ? {} : { authorization }),
        ...(isForm || body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    insist(reply.status < 300, () => `${method} ${path}: ${reply.status} ${text.slice(0, 300)}`);
    return text === "" ? null : (JSON.parse(text) as unknown);
  };
  const { token } = (await request("POST", "/login", { email, password }, null)) as { token: string };
  const authorization = `Bearer ${token}`;
  return { authorization, call: (method, path, body) => request(method, path, body, authorization) };
}

export async function turnOn({ call }: Api, server_url: string): Promise<void> {
  await call("PATCH", "/config", { server_settings: { server_url } });
  const key = await newKey();
  const certificate = await pushCertificateFor(key, systemClock.now());
  insist(new X509Certificate(certificate).checkPrivateKey(key), "the push certificate has another key");
  const form = new FormData();
  form.set("certificate", new Blob([certificate]), "push.pem");
  form.set("private_key", new Blob([pemOfKey(key)]), "push.key");
  await call("POST", "/mdm/vendora/apns_certificate", form);
}

interface Summary {
  readonly verified: number;
  readonly verifying: number;
  readonly failed: number;
  readonly pending: number;
}

/** Uploads profiles and waits until all devices have all. Returns how long the last one took, in milliseconds. */
async function reachAll(api: Api, devices: number, count: number, prefix = "first"): Promise<number> {
  for (let i = 0; i < count; i++) {
    const form = new FormData();
    const content = mobileconfig(`com.example.${prefix}.${i}`);
    form.set("profile", new Blob([content]), `${prefix}-${i}.mobileconfig`);
    await api.call("POST", "/configuration_profiles", form);
  }
  return until(`all devices have their profiles`, SETTLED_MS, async () => {
    await pause(500);
    const { verifying, verified } = (await api.call("GET", "/configuration_profiles/summary")) as Summary;
    return verifying + verified === devices;
  });
}

/** Kills the server while commands are queued, delivered and answered. None may be lost, done twice, or be stuck. */
async function killAgainAndAgain(
  bed: Bed,
  api: Api,
  fleet: AppleFleet,
  { devices, kills }: { devices: number; kills: number },
): Promise<string> {
  const each = Math.max(1, Math.round(kills / 10));
  let uploaded = 0;
  for (let killed = 0; killed < kills; killed++) {
    if (killed % each === 0) {
      const form = new FormData();
      const content = mobileconfig(`com.example.killed.${uploaded}`);
      form.set("profile", new Blob([content]), `killed-${uploaded++}.mobileconfig`);
      await api.call("POST", "/configuration_profiles", form);
    }
    await pause(between(50, 1500));
    bed.alive.process.kill("SIGKILL");
    await bed.start();
  }
  const before = performance.now();
  const expected = devices * (uploaded + 1);
  await until(`all devices have ${uploaded + 1} profiles`, SETTLED_MS, async () => {
    await pause(1000);
    const { verifying, verified } = (await api.call("GET", "/configuration_profiles/summary")) as Summary;
    // The summary knows only of profiles that were compared with the hosts since they were uploaded.
    return verifying + verified === devices && fleet.report().profilesInstalled >= expected;
  });
  const settled = performance.now() - before;
  // Each profile once, on each device: a command that was lost would be missing, one that was repeated would count twice.
  const { profilesInstalled } = fleet.report();
  insist(profilesInstalled === expected, `${profilesInstalled} profiles were installed instead of ${expected}`);
  return `; ${kills} servers killed under ${uploaded} more profiles, settled ${(settled / 1000).toFixed(1)} s after the last one: 0 lost, 0 twice, 0 stuck`;
}
