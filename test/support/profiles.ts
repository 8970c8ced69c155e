// Configuration profiles in tests, and a queue of commands that Apple devices would get.
import type { AppleCommands, ProfileCommand } from "../../src/server/mdm/apple/profiles/commands.ts";
import { profileAnswered } from "../../src/server/mdm/profiles/host-rows.ts";
import type { TestApp } from "./app.ts";
import { turnOnAppleMdm } from "./apple.ts";
import { makeHost } from "./make.ts";

let made = 0;

/** The content of a declaration; each has its own identifier unless one is given. */
export const declaration = (identifier = `com.example.made.${++made}`, payload: object = { Echo: "x" }): string =>
  JSON.stringify({ Type: "com.apple.configuration.management.test", Identifier: identifier, Payload: payload });

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

export type Queued = ProfileCommand & { readonly uuid: string };

/** Turns on Apple management, and records the commands that profiles queue. */
export async function recordCommands(t: TestApp): Promise<Queued[]> {
  const queued: Queued[] = [];
  const appleCommands: AppleCommands = {
    async queue({ random, store, clock }, commands) {
      const added = commands.map((command) => ({ ...command, uuid: random.uuid() }));
      // The list has those of transactions that were repeated too; the table has what was committed.
      await store.operations.insertMany(
        added.map(({ uuid, host_id }) => {
          return { uuid, host_id, created_at: clock.iso(), kind: "script", priority: 100, timeout: 60 };
        }),
      );
      queued.push(...added);
      return added.map(({ uuid }) => uuid);
    },
  };
  Object.assign(t.services, { extensions: { ...t.services.extensions, appleCommands } });
  await turnOnAppleMdm(t);
  return queued;
}

/** An Apple device that this server manages. */
export async function makeManagedMac(t: TestApp, given: Parameters<typeof makeHost>[1] = {}) {
  const host = await makeHost(t, { platform: "darwin", label_updated_at: t.clock.iso(), ...given });
  await t.store.hostMdm.insert({ id: host.id, enrollment_status: "On (manual)", connected_to_svc: true });
  return host;
}

/** The device's answers to all commands that it has got. */
export async function answerAll(t: TestApp, queued: Queued[], detail?: string): Promise<void> {
  for (const { host_id, uuid } of queued.splice(0))
    await t.store.tx((store) =>
      profileAnswered(
        { ...t.services, store },
        host_id,
        uuid,
        detail === undefined ? { type: "acknowledged" } : { type: "error", detail },
      ),
    );
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
