// `npm run test:soak -- apple-fuzz [--messages 100000] [--seed N] [--engine lowdb|postgres]`: changed messages of enrolled
// Apple devices to the built server: property lists, their signatures, requests for certificates. No 5xx, no answer
// that takes long, other devices are served, and the memory does not grow.
import { randomUUID } from "node:crypto";
import { turnAppleOn } from "../../bench/support/apple.ts";
import { newKey, readCertificate } from "../../src/pki/x509.ts";
import { readEnrollmentProfile } from "../../src/simulator/apple/enrollment-profile.ts";
import { Authorities, requestIdentity } from "../../src/simulator/scep.ts";
import { Web } from "../../src/simulator/web.ts";
import { type FuzzedDevice, fuzzApple } from "../support/apple-fuzz.ts";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { insist, numberOf } from "./support/check.ts";

const MB = 1e6;
/** The later half of a run may need this much more than the earlier one. */
const GROWTH_MAX = 40 * MB;

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const messages = numberOf(args, "messages", 100_000);
  const seed = numberOf(args, "seed", Date.now() % 2 ** 31);
  const engine = args.engine === "postgres" ? "postgres" : "lowdb";
  const bed = await Bed.make({ engine });
  const web = new Web({ maxConnections: 64 });
  try {
    const server = await bed.start();
    const source = await turnAppleOn(server);
    const authorities = new Authorities(web);
    const devices: FuzzedDevice[] = [];
    let urls = { scep: "", channel: "" };
    for (let i = 0; i < 4; i++) {
      const { body } = await web.call({ method: "GET", ...source });
      const profile = readEnrollmentProfile(body);
      urls = { scep: `${profile.scep.url}?operation=`, channel: profile.serverUrl };
      const identity = await requestIdentity(web, authorities, profile.scep, await newKey());
      devices.push({ udid: randomUUID().toUpperCase(), identity });
    }
    const ca = await web.call({ method: "GET", url: `${urls.scep}GetCACert` });
    const sizes: number[] = [];
    const { faults, byStatus } = await fuzzApple({
      devices,
      ca: readCertificate(ca.body),
      messages,
      seed,
      together: 64,
      async send(to, body, headers) {
        const isChannel = to === "channel";
        const url = isChannel ? urls.channel : `${urls.scep}PKIOperation`;
        return (await web.call({ method: isChannel ? "PUT" : "POST", url, headers, body })).status;
      },
      async look() {
        sizes.push(bed.alive.usage().rss);
      },
    });
    insist(faults.length === 0, () => `seed ${seed}: ${faults.length} faults\n${faults.join("\n")}`);
    const third = Math.floor(sizes.length / 3);
    const peak = (some: readonly number[]) => Math.max(...some);
    // Short runs are too short to compare.
    if (third === 0) return `seed ${seed}: ${messages} messages on ${engine} ${JSON.stringify(byStatus)}`;
    const [middle, last] = [peak(sizes.slice(third, 2 * third)), peak(sizes.slice(2 * third))];
    insist(
      messages < 20_000 || last - middle < GROWTH_MAX,
      () => `seed ${seed}: the memory grows: ${middle / MB} MB in the middle, ${last / MB} MB at the end`,
    );
    await bed.stop();
    const mb = (bytes: number) => Math.round(bytes / MB);
    return `seed ${seed}: ${messages} messages on ${engine} ${JSON.stringify(byStatus)}; RSS at most ${mb(peak(sizes.slice(0, third)))}, ${mb(middle)} and ${mb(last)} MB in each third`;
  } finally {
    await web.close();
    await bed.dispose();
  }
}
