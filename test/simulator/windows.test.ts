// Simulated Windows devices against the server, through a socket.
import type { RequestListener } from "node:http";
import { toNodeHandler } from "h3/node";
import { generate } from "selfsigned";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/server/app.ts";
import { profileReconciler } from "../../src/server/devices/profiles/part.ts";
import { hours } from "../../src/server/platform/core/clock.ts";
import { chooseAddress, listen as listenTls } from "../../src/server/platform/process/listen.ts";
import { WindowsFleet, type WindowsOptions } from "../../src/simulator/windows/fleet.ts";
import { perform } from "../../src/simulator/windows/nodes.ts";
import { isWindowsComplete, renderWindowsReport } from "../../src/simulator/windows/report.ts";
import { readCommands } from "../../src/syncml/read.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { listen } from "../support/apple-server.ts";
import { rulesEngines } from "../support/engines.ts";
import { addSecret, SECRET } from "../support/managed.ts";
import { makeProfile } from "../support/profiles.ts";

const node = (name: string, verb = "Replace", data = "1") =>
  `<${verb}><CmdID>1</CmdID><Item><Target><LocURI>./Device/Vendor/MSFT/Policy/Config/${name}</LocURI></Target><Meta><Format xmlns="syncml:metinf">int</Format></Meta><Data>${data}</Data></Item></${verb}>`;

async function turnOn(t: TestApp, url: string): Promise<void> {
  const change = { server_settings: { server_url: url }, mdm: { windows_enabled_and_configured: true } };
  expect((await t.patch("/config", change)).status).toBe(200);
  await addSecret(t);
}

async function start(t: TestApp, options: Partial<WindowsOptions> = {}) {
  const url = await listen((path, init) => t.raw(path, init));
  await turnOn(t, url);
  const given = { serverUrl: url, enrollSecret: SECRET, keys: 1, pollSeconds: 0, softwarePerHost: 2, ...options };
  const fleet = new WindowsFleet({ devices: 2, ...given });
  await fleet.enrollAll();
  return fleet;
}

const reconcile = (t: TestApp) => t.services.running.of(profileReconciler).run();
const statusesOf = async (t: TestApp) => (await t.store.hostProfiles.list()).map(({ status }) => status).sort();

describe.each(rulesEngines)("simulated Windows devices on %s", (engine) => {
  it("enroll with the key of their agent, install profiles, and report them", async () => {
    const t = await startApp({ engine });
    const fleet = await start(t);
    expect((await t.store.hosts.list()).map(({ platform }) => platform)).toEqual(["windows", "windows"]);
    expect((await t.store.hostMdm.list()).map(({ enrollment_status }) => enrollment_status)).toEqual([
      "On (manual)",
      "On (manual)",
    ]);
    for (const name of ["Camera/AllowCamera", "Experience/AllowCortana"])
      await makeProfile(t, { name: name.replace("/", "-"), content: node(name) });
    await reconcile(t);
    await fleet.connectAll();
    const [{ device } = fleet.hosts[0]!] = fleet.hosts;
    expect(device.nodes.get("./device/vendor/msft/policy/config/camera/allowcamera")?.data).toBe("1");
    expect(await statusesOf(t), "the agents have reported them").toEqual(Array(4).fill("verified"));
    for (const { enrollment_status, connected_to_svc } of await t.store.hostMdm.list())
      expect({ enrollment_status, connected_to_svc }, "the agents' registries say so too").toEqual({
        enrollment_status: "On (manual)",
        connected_to_svc: true,
      });

    // Somebody changes the setting: it is sent again.
    device.nodes = new Map([...device.nodes].filter(([path]) => !path.includes("allowcamera")));
    t.clock.advance(hours(2));
    await fleet.connectAll();
    await expect.poll(() => statusesOf(t)).not.toEqual(Array(4).fill("verified"));
    await reconcile(t);
    await fleet.connectAll();
    expect(device.nodes.has("./device/vendor/msft/policy/config/camera/allowcamera")).toBe(true);
    const report = await fleet.stop();
    expect(report).toMatchObject({ enrolled: 2, errors: 0, refused: 0, doubled: 0, unsentAnswers: 0 });
    expect(isWindowsComplete(report)).toBe(true);
    expect(renderWindowsReport(report)).toContain("2, 2 enrolled");
  });

  it("are erased and leave on command, or when their user removes the enrollment", async () => {
    const t = await startApp({ engine });
    const fleet = await start(t, { devices: 3 });
    const [one, two, three] = fleet.hosts;
    const idOf = async (uuid: string) => (await t.store.hosts.list()).find((host) => host.uuid === uuid)!.id;
    expect((await t.post(`/hosts/${await idOf(one!.machine.uuid)}/wipe`)).status).toBe(200);
    expect((await t.delete(`/hosts/${await idOf(two!.machine.uuid)}/mdm`)).status).toBeLessThan(300);
    await three!.device.leave();
    await fleet.connectAll();
    expect(fleet.hosts.map(({ device }) => device.isEnrolled)).toEqual([false, false, false]);
    expect(await fleet.stop()).toMatchObject({ left: 3, wiped: 1, errors: 0, unsentAnswers: 0 });
    const { host } = (await (await t.get(`/hosts/${await idOf(one!.machine.uuid)}`)).json()) as {
      host: { mdm: { device_status: string } };
    };
    expect(host.mdm.device_status).toBe("wiped");
    const states = await t.store.windowsEnrollments.list();
    expect(states.filter(({ state }) => state === "removed")).toHaveLength(2);
  });
});

it("simulated Windows devices postpone commands, fail them, and answer each once", async () => {
  const t = await startApp();
  const fleet = await start(t, { devices: 4, notNow: 0.4, errors: 0.4, seed: 5 });
  for (let i = 0; i < 5; i++) await makeProfile(t, { name: `Profile ${i}`, content: node(`Camera/Allow${i}`) });
  await reconcile(t);
  const waiting = async () =>
    (await t.store.hostProfiles.list()).filter(({ status }) => status === "pending" || !status);
  for (let round = 0; round < 40 && (await waiting()).length > 0; round++) {
    await fleet.connectAll();
    await reconcile(t);
  }
  expect(await waiting()).toEqual([]);
  const report = await fleet.stop();
  expect(report.postponed).toBeGreaterThan(0);
  expect(report.refused).toBeGreaterThan(0);
  expect(report).toMatchObject({ doubled: 0, unsentAnswers: 0, errors: 0 });
  const failed = (await t.store.hostProfiles.list()).filter(({ status }) => status === "failed");
  expect(failed.every(({ detail }) => detail.includes("Camera/Allow"))).toBe(true);
});

it("a simulated device whose reply is lost answers again, and does nothing twice", async () => {
  const t = await startApp();
  let lose = false;
  const url = await listen((path, init) => t.raw(path, init));
  const lossy = await listen(async (path, init) => {
    const reply = await t.raw(path, init);
    const isAnswer =
      path.endsWith("/management") && String(init.body && Buffer.from(init.body as Uint8Array)).includes("<CmdRef>");
    return lose && isAnswer ? new Response("lost", { status: 503 }) : reply;
  });
  await turnOn(t, lossy);
  const options = { serverUrl: lossy, enrollSecret: SECRET, keys: 1, pollSeconds: 0, softwarePerHost: 2 };
  const fleet = new WindowsFleet({ devices: 1, ...options });
  await fleet.enrollAll();
  await makeProfile(t, { name: "Once", content: node("Camera/Once", "Add") });
  await reconcile(t);
  lose = true;
  await fleet.connectAll();
  lose = false;
  await fleet.connectAll();
  expect(url).not.toBe(lossy);
  const report = await fleet.stop();
  expect(report).toMatchObject({ done: 1, doubled: 0 });
  expect(await statusesOf(t)).toEqual(["verified"]);
});

it("over https, simulated devices authenticate with their certificates", async () => {
  const t = await startApp();
  const names = { name: "subjectAltName" as const, altNames: [{ type: 7 as const, ip: "127.0.0.1" }] };
  const made = await generate([{ name: "commonName", value: "test" }], { keyType: "ec", extensions: [names] });
  const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: { cert: made.cert, key: made.private } });
  const app = toNodeHandler(createApp(t.services, { agent: t.agent, stop: async () => {} })) as RequestListener;
  const listening = await listenTls(app, address);
  try {
    await turnOn(t, address.url);
    const given = { serverUrl: address.url, enrollSecret: SECRET, keys: 1, pollSeconds: 0, softwarePerHost: 2 };
    const fleet = new WindowsFleet({ devices: 2, certificates: 1, tls: { ca: made.cert }, ...given });
    await fleet.enrollAll();
    await makeProfile(t, { name: "Camera", content: node("Camera/AllowCamera") });
    await reconcile(t);
    const nonces = await t.store.windowsNonces.count();
    await fleet.connectAll();
    expect(await t.store.windowsNonces.count(), "digests would use some").toBe(nonces);
    expect(await fleet.stop()).toMatchObject({ enrolled: 2, done: 2, errors: 0 });
  } finally {
    await listening.close({ graceMs: 0, limitMs: 0 });
  }
});

it("the tree of a device does what commands say, and an Atomic as a whole or not at all", () => {
  const [atomic] = readCommands(`<Atomic>${node("A/One", "Add")}${node("A/Two", "Add")}</Atomic>`);
  const first = perform(atomic!, new Map());
  expect(first.replies.map(({ data }) => data)).toEqual(["200", "200", "200"]);
  const second = perform(
    readCommands(`<Atomic>${node("A/Three", "Add")}${node("A/One", "Add")}${node("A/Four")}</Atomic>`)[0]!,
    first.nodes,
  );
  expect(second.replies.map(({ data }) => data)).toEqual(["507", "216", "418", "215"]);
  expect(second.nodes).toBe(first.nodes);
  const gone = perform(readCommands(node("A", "Delete"))[0]!, first.nodes);
  expect([gone.isDone, gone.nodes.size]).toEqual([true, 0]);
  expect(perform(readCommands(node("A", "Delete"))[0]!, gone.nodes).replies[0]!.data).toBe("404");
});
