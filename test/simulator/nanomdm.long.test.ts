// Simulated Apple devices against a device management server that others wrote, so that the simulator and this server
// are not wrong in the same way.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readPlistDict } from "../../src/plist/read.ts";
import { arrayIn, dictIn, type PlistDict, stringIn } from "../../src/plist/value.ts";
import { writePlist } from "../../src/plist/write.ts";
import { AppleFleet } from "../../src/simulator/apple/fleet.ts";
import { enrollmentProfile, listen } from "../support/apple-server.ts";
import { afterEveryTest } from "../support/ends.ts";
import { freePort } from "../support/free-port.ts";
import { goProgram } from "../support/go.ts";
import { mobileconfig } from "../support/profiles.ts";
import { haveScepServer, startScepServer } from "../support/scep-server.ts";

const stops: (() => void)[] = [];
afterEveryTest(() => {
  for (const stop of stops.splice(0)) stop();
});

const program = goProgram("github.com/micromdm/nanomdm/cmd/nanomdm");
let made = 0;
const API_KEY = "key-of-tests";

interface Event {
  readonly topic: string;
  readonly id: string;
  readonly command: string;
  readonly status: string;
  readonly message: PlistDict;
}

interface Webhook {
  readonly topic: string;
  readonly acknowledge_event?: { udid: string; status: string; command_uuid: string; raw_payload: string };
  readonly checkin_event?: { udid: string; raw_payload: string };
}

const eventOf = ({ topic, acknowledge_event: answer, checkin_event: checkIn }: Webhook): Event => ({
  topic,
  id: answer?.udid ?? checkIn?.udid ?? "",
  command: answer?.command_uuid ?? "",
  status: answer?.status ?? "",
  message: readPlistDict(Buffer.from(answer?.raw_payload ?? checkIn?.raw_payload ?? "", "base64")),
});

/** The server, what it reports, and what devices report about their declarations. */
async function startReferenceServer(path: string, ca: string) {
  const events: Event[] = [];
  const reports: { endpoint: string; text: string }[] = [];
  const hooks = await listen(async (_path, { body }) => {
    events.push(eventOf((await new Response(body).json()) as Webhook));
    return new Response("");
  });
  const declarations = await listen(async (asked, { body }) => {
    reports.push({ endpoint: asked, text: await new Response(body).text() });
    return asked.startsWith("/declaration") ? Response.json(declared(asked)) : new Response("");
  });
  const port = await freePort();
  const child = spawn(
    path,
    ["-ca", ca, "-api", API_KEY, "-listen", `127.0.0.1:${port}`, "-storage", "inmem", "-storage-dsn", ""].concat(
      ["-webhook-url", hooks],
      ["-dm", `${declarations}/`],
    ),
    { stdio: "ignore" },
  );
  stops.push(() => child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(`${url}/version`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(answers).toBe(true);
  const authorization = `Basic ${Buffer.from(`nanomdm:${API_KEY}`).toString("base64")}`;
  const send = async (udid: string, Command: PlistDict) => {
    const CommandUUID = randomUUID();
    const body = writePlist({ CommandUUID, Command });
    const reply = await fetch(`${url}/v1/enqueue/${udid}?nopush=1`, {
      method: "PUT",
      headers: { authorization },
      body,
    });
    expect(reply.status).toBe(200);
    return CommandUUID;
  };
  return { url, events, reports, send };
}

const CONFIGURATION = { Identifier: "com.example.cfg", ServerToken: "1" };
const ACTIVATION = { Identifier: "com.example.act", ServerToken: "1" };

function declared(asked: string): object {
  if (asked === "/declaration-items")
    return {
      DeclarationsToken: "1",
      Declarations: { Activations: [ACTIVATION], Configurations: [CONFIGURATION], Assets: [], Management: [] },
    };
  return asked.startsWith("/declaration/activation/")
    ? { ...ACTIVATION, Type: "com.apple.activation.simple", Payload: { StandardConfigurations: ["com.example.cfg"] } }
    : { ...CONFIGURATION, Type: "com.apple.configuration.management.test", Payload: { Echo: "x" } };
}

describe.skipIf(program === null || !haveScepServer())("simulated Apple devices and another server", () => {
  it("enroll in it, do its commands, report their declarations, and leave", async () => {
    const scep = await startScepServer("challenge");
    const server = await startReferenceServer(program!, scep.ca);
    const files = await listen(
      async () =>
        new Response(
          enrollmentProfile({
            scepUrl: scep.url,
            challenge: "challenge",
            channelUrl: `${server.url}/mdm`,
            topic: "com.apple.mgmt.test",
            // The SCEP server gives each name one certificate.
            commonName: `device ${++made}`,
          }),
        ),
    );
    const fleet = new AppleFleet({ devices: 2, keys: 2, families: ["macos"], pollSeconds: 0, concurrency: 1 });
    await fleet.enrollAll({ url: files });
    expect(fleet.report().recentErrors).toEqual([]);
    const [first, second] = fleet.devices.map(({ facts }) => facts.udid) as [string, string];
    const installed = await server.send(first, {
      RequestType: "InstallProfile",
      Payload: Buffer.from(mobileconfig("com.example.wifi")),
    });
    const missing = await server.send(first, { RequestType: "RemoveProfile", Identifier: "com.example.unknown" });
    const facts = await server.send(second, { RequestType: "DeviceInformation", Queries: ["OSVersion", "UDID"] });
    const profiles = await server.send(first, { RequestType: "ProfileList" });
    await server.send(second, { RequestType: "DeclarativeManagement" });
    await fleet.connectAll();
    await fleet.devices[0]!.checkOut();

    // NanoMDM reports events beside its answers, in any order.
    const commandsOf = () => server.events.map(({ command }) => command);
    await expect.poll(commandsOf).toEqual(expect.arrayContaining([installed, missing, facts, profiles]));
    const topics = () => server.events.filter(({ id }) => id === first).map(({ topic }) => topic.replace("mdm.", ""));
    await expect.poll(topics).toEqual(expect.arrayContaining(["Authenticate", "TokenUpdate", "Connect", "CheckOut"]));
    const answer = (uuid: string) => server.events.find(({ command }) => command === uuid)!;
    expect([answer(installed).status, answer(missing).status]).toEqual(["Acknowledged", "Error"]);
    expect(dictIn(answer(facts).message, "QueryResponses")).toEqual({
      OSVersion: fleet.devices[1]!.facts.osVersion,
      UDID: second,
    });
    const [profile] = arrayIn(answer(profiles).message, "ProfileList") as PlistDict[];
    expect(stringIn(profile!, "PayloadIdentifier")).toBe("com.example.wifi");
    expect(server.reports.map(({ endpoint }) => endpoint)).toEqual([
      "/declaration-items",
      "/declaration/activation/com.example.act",
      "/declaration/configuration/com.example.cfg",
      "/status",
    ]);
    const { StatusItems } = JSON.parse(server.reports.at(-1)!.text) as {
      StatusItems: { management: { declarations: Record<string, object[]> } };
    };
    expect(StatusItems.management.declarations.configurations).toEqual([
      { identifier: "com.example.cfg", "server-token": "1", active: true, valid: "valid" },
    ]);
    expect(await fleet.stop()).toMatchObject({
      enrolled: 2,
      left: 1,
      errors: 0,
      unsentAnswers: 0,
      declarationsActive: 2,
    });
  });
});
