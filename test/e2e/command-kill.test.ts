// kill -9 of the server around the delivery of a command and its answer: no command is lost, and none is done twice.
import { beforeAll, expect, it } from "vitest";
import { AppleFleet } from "../../src/simulator/apple/fleet.ts";
import { signIn, turnOn } from "../soak/apple-devices.ts";
import { Bed } from "../soak/support/bed.ts";
import { killedEngines } from "../support/engines.ts";
import { startMessageProxy } from "../support/message-proxy.ts";
import { appleCommand } from "../support/profiles.ts";
import { endServer, moments } from "./support/end-server.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

const DEVICES = 3;

interface ListedCommands {
  readonly count: number;
  readonly results: readonly { readonly host_uuid: string; readonly status: string }[];
}

it.each(killedEngines)(
  "loses and repeats no command (%s)",
  async (engine) => {
    const bed = await Bed.make({ engine, env: { SVC_APNS_URL: "http://127.0.0.1:1" } });
    const proxy = await startMessageProxy(() => bed.url);
    const fleet = new AppleFleet({ devices: DEVICES, pollSeconds: 0, concurrency: 1, families: ["macos"] });
    try {
      await bed.start();
      const api = await signIn(bed);
      await turnOn(api, proxy.url);
      const url = `${bed.url}/api/v1/svc/enrollment_profiles/manual`;
      await fleet.enrollAll({ url, headers: { authorization: api.authorization } });
      await fleet.connectAll();
      const host_uuids = fleet.devices.map(({ facts }) => facts.udid);
      for (const moment of moments) {
        const done = fleet.report().acknowledged;
        const command = { command: appleCommand("DeviceInformation"), host_uuids };
        const { command_uuid } = (await api.call("POST", "/commands/run", command)) as { command_uuid: string };
        const ended = endServer(bed, proxy, moment, { uuid: command_uuid, nth: 2 });
        await fleet.connectAll();
        await ended;
        await bed.start();
        await fleet.connectAll();
        const listed = (status: string) =>
          api.call("GET", `/commands?command_uuid=${command_uuid}&command_status=${status}`) as Promise<ListedCommands>;
        expect((await listed("pending")).count, moment).toBe(0);
        expect((await listed("ran")).results.map((one) => one.host_uuid).sort(), moment).toEqual(
          [...host_uuids].sort(),
        );
        expect(fleet.report().acknowledged - done, `${moment}: done once by each`).toBe(DEVICES);
        const results = (await api.call("GET", `/commands/results?command_uuid=${command_uuid}`)) as ListedCommands;
        expect(results.results).toHaveLength(DEVICES);
      }
      const { activities } = (await api.call("GET", "/activities?per_page=100")) as { activities: { type: string }[] };
      const sent = activities.filter(({ type }) => type === "ran_custom_mdm_command");
      expect(sent).toHaveLength(DEVICES * moments.length);
      expect((await fleet.stop()).unsentAnswers).toBe(0);
      await bed.stop();
      await bed.dbCheck();
    } finally {
      proxy.close();
      await bed.dispose();
    }
  },
  300_000,
);
