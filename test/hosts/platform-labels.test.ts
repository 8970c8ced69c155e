// The built-in labels of platforms whose devices may have no agent.
import { describe, expect, it } from "vitest";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { ensureBuiltinLabels } from "../../src/server/hosts/labels/builtin.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { makeSecret } from "../edge/agent/agents.ts";
import { enrollAndroid, startAndroid, turnAndroidOn } from "../support/android.ts";
import { startApp } from "../support/app.ts";
import { allowEnrollment } from "../support/apple.ts";
import { enrolledDevice } from "../support/apple-device.ts";
import { bothEngines } from "../support/engines.ts";
import { makeAbmToken, startPortal } from "../support/portal.ts";
import { managedWindows } from "../support/windows-device.ts";

describe.each(bothEngines)("devices without an agent on %s", (engine) => {
  it("are in the built-in labels of their platforms", async () => {
    const [service, portal] = [await startAndroid(), await startPortal()];
    const t = await startApp({ engine, settings: { ...service.settings, dep_url: portal.url } });
    service.now = () => new Date(t.clock.now());
    await makeSecret(t, "secret");
    await turnAndroidOn(t, service);
    await allowEnrollment(t);
    await makeAbmToken(t, portal.credentials);

    await enrollAndroid(t, service, { id: "1", secret: "secret" });
    await enrolledDevice(t, { ProductName: "iPhone17,1" });
    await enrolledDevice(t, { ProductName: "iPad14,1" }, { key: 1 });
    await enrolledDevice(t, {}, { key: 2 });
    await managedWindows(t);
    portal.devices = [{ serial_number: "EXPECTED1", device_family: "iPhone" }];
    await runJob(t.services, "dep_sync");

    interface Labels {
      labels: { id: number; name: string; count: number }[];
    }
    const read = async <T>(path: string): Promise<T> => (await t.get(path)).json() as Promise<T>;
    const counted = async () => {
      const { labels } = await read<Labels>("/labels");
      return Object.fromEntries(labels.filter(({ count }) => count > 0).map(({ name, count }) => [name, count]));
    };
    const all = { "All Hosts": 6, Android: 1, iOS: 2, iPadOS: 1, macOS: 1, "MS Windows": 1 };
    await expect.poll(counted).toEqual(all);
    const { labels } = await read<Labels>("/labels");
    const ios = labels.find(({ name }) => name === "iOS")!;
    const { hosts } = await read<{ hosts: { platform: string }[] }>(`/labels/${ios.id}/hosts`);
    expect(hosts.map(({ platform }) => platform)).toEqual(["ios", "ios"]);

    // Rows of a server version that did not have them.
    for (const { id, name } of labels)
      if (["Android", "iOS", "iPadOS"].includes(name)) await t.store.labelMembers.delete(eq("label_id", id));
    await ensureBuiltinLabels(t.services);
    await expect.poll(counted).toEqual(all);
  });
});
