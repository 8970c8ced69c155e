// Configuration profiles in tests, and the commands that Apple devices would get.

import { expect } from "vitest";
import type { PlistDict } from "../../src/plist/value.ts";
import { writePlist } from "../../src/plist/write.ts";
import { APPLE_LANE } from "../../src/server/devices/apple/lane.ts";
import { answerOperation, isOpen } from "../../src/server/hosts/operations/queue.ts";
import { operations } from "../../src/server/hosts/operations/tables.ts";
import { eq, exists, isNull } from "../../src/server/platform/store/query.ts";
import type { TestApp } from "./app.ts";
import { makeHost } from "./make.ts";

let made = 0;

/** The content of a declaration; each has its own identifier unless one is given. */
export const declaration = (identifier = `com.example.made.${++made}`, payload: object = { Echo: "x" }): string =>
  JSON.stringify({ Type: "com.apple.configuration.management.test", Identifier: identifier, Payload: payload });

/** The content of an activation of the declaration with this identifier. */
export const activation = (of: string, more: object = {}, identifier = `com.example.activation${++made}`): string =>
  JSON.stringify({
    Type: "com.apple.activation.simple",
    Identifier: identifier,
    Payload: { StandardConfigurations: [of], ...more },
  });

/** The content of an asset declaration; each has its own identifier unless one is given. */
export const asset = (identifier = `com.example.asset${++made}`, payload: object = {}): string =>
  JSON.stringify({ Type: "com.apple.asset.credential.userpassword", Identifier: identifier, Payload: payload });

export function assetForm(content: string, fields: Readonly<Record<string, string>> = {}, fileName = "asset.json") {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("asset", new Blob([content]), fileName);
  return form;
}

/** A property list with the payload; each has its own identifier unless one is given. */
export const mobileconfig = (identifier = `com.example.made.${++made}`, payload = "", name = identifier): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>PayloadType</key><string>Configuration</string>
<key>PayloadVersion</key><integer>1</integer>
<key>PayloadIdentifier</key><string>${identifier}</string>
<key>PayloadUUID</key><string>4F6A2C1E-0000-4000-8000-000000000001</string>
<key>PayloadDisplayName</key><string>${name}</string>
<key>PayloadContent</key><array>${payload}</array>
</dict></plist>
`;

/** A payload of this type, with more members as XML. */
export const payload = (type: string, more = ""): string =>
  `<dict><key>PayloadType</key><string>${type}</string><key>PayloadIdentifier</key><string>com.example.payload</string>${more}</dict>`;

/** The ending of files of the content's kind. */
function endingOf(content: string | Uint8Array | null): string {
  const text = typeof content === "string" ? content : Buffer.from(content ?? []).toString("latin1");
  if (/^\s*[{[]/.test(text)) return "json";
  return /<plist\b|^bplist/.test(text) || text.startsWith("0") ? "mobileconfig" : "xml";
}

/** The body of an upload. A field with several values is repeated. */
export function profileForm(
  content: string | Uint8Array<ArrayBuffer> | null,
  fields: Readonly<Record<string, string | readonly string[]>>,
  fileName = `profile.${endingOf(content)}`,
): FormData {
  const form = new FormData();
  for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) form.append(name, value);
  if (content !== null) form.append("profile", new Blob([content]), fileName);
  return form;
}

/** A profile for Windows that sets a node. */
export const windowsProfile = (node = "./Device/Vendor/MSFT/Policy/Config/Camera/AllowCamera", data = "0"): string =>
  `<Replace><Item><Target><LocURI>${node}</LocURI></Target><Meta><Format xmlns="syncml:metinf">int</Format></Meta><Data>${data}</Data></Item></Replace>`;

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

export interface OpenCommand {
  readonly host_id: number;
  readonly request_type: string;
}

/** The commands that Apple devices have not answered. */
export async function openCommands({ store }: TestApp): Promise<OpenCommand[]> {
  const open = exists(operations, "id", isOpen);
  return store.mdmCommands.pick(["host_id", "request_type"], {
    where: open,
    order: [{ column: "id", direction: "asc" }],
  });
}

/** An Apple device that this server manages. */
export async function makeManagedMac(t: TestApp, given: Parameters<typeof makeHost>[1] = {}) {
  const host = await makeHost(t, { platform: "darwin", label_updated_at: t.clock.iso(), ...given });
  await t.store.hostMdm.insert({ id: host.id, enrollment_status: "On (manual)", connected_to_svc: true });
  return host;
}

/** A command for Apple devices as the API takes it, and as it shows it. */
export const appleCommand = (RequestType: string, more: PlistDict = {}, CommandUUID?: string): string =>
  base64(writePlist({ ...(CommandUUID === undefined ? {} : { CommandUUID }), Command: { RequestType, ...more } }));

/** The devices' answers to all commands of profiles. */
export async function answerAll(t: TestApp, detail?: string): Promise<void> {
  await expect.poll(() => t.store.hostProfiles.count(isNull("status"))).toBe(0);
  const pending = await t.store.hostProfiles.list({ where: eq("status", "pending") });
  const commands = new Map(pending.map(({ host_id, command_uuid }) => [command_uuid!, host_id]));
  const answer = detail === undefined ? { status: "Acknowledged", detail: "" } : { status: "Error", detail };
  for (const [uuid, host_id] of commands) await answerOperation(t.services, host_id, uuid, answer, APPLE_LANE);
}

/** A profile of a team, by the API. Returns its uuid. */
export async function makeProfile(
  t: TestApp,
  { team_id = 0, name = `made ${++made}`, content = declaration(), more = {} } = {},
): Promise<string> {
  const known = (await (await t.get(`/mdm/profiles?team_id=${team_id}`)).json()) as {
    profiles: { profile_uuid: string }[];
  };
  const items = await Promise.all(
    known.profiles.map(async ({ profile_uuid }) => {
      const file = await t.get(`/mdm/profiles/${profile_uuid}?alt=media`);
      const row = (await (await t.get(`/mdm/profiles/${profile_uuid}`)).json()) as { name: string };
      return { profile: Buffer.from(await file.arrayBuffer()).toString("base64"), display_name: row.name };
    }),
  );
  const body = { configuration_profiles: [...items, { profile: base64(content), display_name: name, ...more }] };
  const res = await t.post(`/mdm/profiles/batch?team_id=${team_id}`, body);
  if (res.status !== 204) throw new Error(`the profile was refused: ${await res.text()}`);
  const after = (await (await t.get(`/mdm/profiles?team_id=${team_id}`)).json()) as {
    profiles: { profile_uuid: string; name: string }[];
  };
  return after.profiles.find((one) => one.name === name)!.profile_uuid;
}
