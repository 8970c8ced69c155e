// kill -9 of the server around the delivery of a wipe, and of the request to leave device management: both end once.
import { beforeAll, expect, it } from "vitest";
import { AppleFleet } from "../../src/simulator/apple/fleet.ts";
import { signIn, turnOn } from "../soak/apple-devices.ts";
import { Bed } from "../soak/support/bed.ts";
import { killedEngines } from "../support/engines.ts";
import { startMessageProxy } from "../support/message-proxy.ts";
import { endServer, moments } from "./support/end-server.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

interface ShownHost {
  readonly host: { readonly id: number; readonly mdm: Readonly<Record<string, unknown>> };
}
interface ListedActivities {
  readonly activities: readonly { readonly uuid: string; readonly type: string }[];
}

/** What is asked of a Mac, and what its host shows afterwards. */
const requests = [
  ["POST", "wipe", { device_status: "wiped", pending_action: "" }],
  ["DELETE", "mdm", { enrollment_status: "Off", connected_to_svc: false }],
] as const;

it.each(killedEngines)(
  "wipes a Mac once, and turns off its management once (%s)",
  async (engine) => {
    const bed = await Bed.make({ engine, env: { SVC_APNS_URL: "http://127.0.0.1:1" } });
    const proxy = await startMessageProxy(() => bed.url);
    const devices = moments.length * requests.length;
    const fleet = new AppleFleet({ devices, pollSeconds: 0, concurrency: 1, families: ["macos"] });
    try {
      await bed.start();
      const api = await signIn(bed);
      await turnOn(api, proxy.url);
      const url = `${bed.url}/api/v1/svc/enrollment_profiles/manual`;
      await fleet.enrollAll({ url, headers: { authorization: api.authorization } });
      await fleet.connectAll();
      const waiting = [...fleet.devices];
      for (const [method, path, shown] of requests)
        for (const moment of moments) {
          const { udid } = waiting.pop()!.facts;
          const hostOf = async () => ((await api.call("GET", `/hosts/identifier/${udid}`)) as ShownHost).host;
          const { id } = await hostOf();
          await api.call(method, `/hosts/${id}/${path}`);
          const upcoming = (await api.call("GET", `/hosts/${id}/activities/upcoming`)) as ListedActivities;
          const ended = endServer(bed, proxy, moment, { uuid: upcoming.activities[0]!.uuid });
          await fleet.connectAll();
          await ended;
          await bed.start();
          await fleet.connectAll();
          expect((await hostOf()).mdm, `${path}, ${moment}`).toMatchObject(shown);
          expect(await api.call("GET", `/hosts/${id}/activities/upcoming`)).toMatchObject({ activities: [] });
        }
      const { activities } = (await api.call("GET", "/activities?per_page=100")) as ListedActivities;
      for (const type of ["wiped_host", "mdm_unenrolled"])
        expect(
          activities.filter((one) => one.type === type),
          type,
        ).toHaveLength(moments.length);
      await bed.stop();
      await bed.dbCheck();
    } finally {
      proxy.close();
      await bed.dispose();
    }
  },
  300_000,
);
