// Distributions that no list of the server names, and systems that are no Linux.
import { beforeEach, describe, expect, test } from "vitest";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makePolicy } from "../../support/make.ts";
import { enroll, enrollment, makeSecret, type Send, throughApp } from "./agents.ts";

interface System {
  readonly name: string;
  readonly version: string;
  readonly platform: string;
  readonly platform_like: string;
}

const alpine = { name: "Alpine Linux", version: "3.20.3", platform: "alpine", platform_like: "alpine" };
const bottlerocket = { name: "Bottlerocket", version: "1.20.0", platform: "bottlerocket", platform_like: "" };
const freebsd = { name: "FreeBSD", version: "14.1", platform: "freebsd", platform_like: "" };
const appliance = { name: "OPNsense", version: "24.7", platform: "opnsense", platform_like: "FreeBSD" };

describe.each(bothEngines)("hosts of systems that no list names on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  beforeEach(async () => {
    t = await startApp({ engine, settings: { max_jitter_percent: 0 } });
    send = throughApp(t);
    await makeSecret(t);
  });

  async function enrolled({ platform, ...system }: System): Promise<string> {
    const { host_details: details } = enrollment();
    return enroll(send, {
      host_identifier: platform,
      host_details: {
        ...details,
        os_version: { ...details.os_version, ...system, platform },
        system_info: { ...details.system_info, uuid: platform, hardware_serial: platform, hostname: platform },
        osquery_info: { ...details.osquery_info, uuid: platform, instance_id: platform },
      },
    });
  }
  const read = async (node_key: string): Promise<Record<string, string>> =>
    (await send("/api/v1/qengine/distributed/read", { node_key })).json.queries;
  // biome-ignore lint/suspicious/noExplicitAny: the body of any endpoint
  const body = async (path: string): Promise<any> => (await t.get(path)).json();

  test.each([alpine, bottlerocket])("$name is Linux", async (system) => {
    const policy = await makePolicy(t, { platform: "linux" });
    const key = await enrolled(system);
    await enrolled(freebsd);
    await enrolled(appliance);
    const names = Object.keys(await read(key));
    for (const name of ["disk_unix", "net_unix", "software_deb", "software_pacman", "software_apk", "users"])
      expect(names).toContain(`svc_detail_query_${name}`);
    expect(names).not.toContain("svc_detail_query_os_windows");
    expect(names).toContain(`svc_policy_query_${policy.id}`);
    expect(await body("/host_summary")).toMatchObject({ totals_hosts_count: 3, all_linux_count: 1 });
    expect(await body("/host_summary?platform=linux")).toMatchObject({ totals_hosts_count: 1, all_linux_count: 1 });
    const { policies } = await body("/global/policies");
    expect(policies).toMatchObject([{ id: policy.id, unanswered_host_count: 1 }]);
  });

  test.each([freebsd, appliance])("$name is no Linux", async (system) => {
    const names = Object.keys(await read(await enrolled(system)));
    expect(names).toContain("svc_detail_query_system_info");
    expect(names).not.toContain("svc_detail_query_disk_unix");
    expect(await body("/host_summary")).toMatchObject({ totals_hosts_count: 1, all_linux_count: 0 });
  });

  test("packages of pacman and apk are software of the host", async () => {
    const node_key = await enrolled(alpine);
    await read(node_key);
    const queries = {
      svc_detail_query_software_apk: [{ name: "libssl3", version: "3.3.1-r0", arch: "x86_64", origin: "openssl" }],
      svc_detail_query_software_pacman: [{ name: "openssl", version: "3.3.1-1", arch: "x86_64" }],
    };
    const details = { svc_detail_query_os_version: [alpine] };
    const reply = await send("/api/v1/qengine/distributed/write", {
      node_key,
      queries: { ...queries, ...details },
      statuses: {},
    });
    expect(reply).toMatchObject({ status: 200, text: "{}" });
    const listed = async () => {
      const { software } = await body("/hosts/1/software?order_key=name");
      return (software ?? []).map(({ name, source }: { name: string; source: string }) => [name, source]);
    };
    await expect.poll(listed).toEqual([
      ["libssl3", "apk_packages"],
      ["openssl", "pacman_packages"],
    ]);
    expect(await t.store.software.first({ where: eq("source", "apk_packages") })).toMatchObject({
      source_package: "openssl",
      arch: "x86_64",
    });
  });
});
