// Device management of Apple devices in tests.
import type { MdmSettings } from "../../src/api/settings/app-config.ts";
import { keepHostNames } from "../../src/server/devices/apple/names/keep.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { readSection, writeSection } from "../../src/server/settings/app-config/rows.ts";
import { mdm } from "../../src/server/settings/app-config/sections/mdm.ts";
import { noMdm } from "../../src/server/settings/teams/defaults.ts";
import type { TestApp } from "./app.ts";
import { TOPIC } from "./push-certificate.ts";

/** Turns device management on or off, like an upload of a push certificate or its removal. */
export async function turnOnAppleMdm({ store, clock }: Pick<TestApp, "store" | "clock">, isOn = true): Promise<void> {
  const value = await readSection(store, mdm);
  await store.tx(async (tx) => {
    await writeSection(tx, mdm, { ...value, enabled_and_configured: isOn }, clock.iso());
    await tx.notify(channels.config, mdm.name);
  });
}

/** `turnOnAppleMdm` with a push certificate, which enrollment profiles name. */
export async function allowEnrollment(t: Pick<TestApp, "store" | "clock">): Promise<void> {
  await turnOnAppleMdm(t);
  const text = { certificate: "", key: "", fingerprint: "", common_name: "", serial_number: "1", issuer: "" };
  const times = { not_valid_before: t.clock.iso(), not_valid_after: "2049-01-01T00:00:00.000Z" };
  await t.store.applePushCertificates.insert({ created_at: t.clock.iso(), topic: TOPIC, ...text, ...times });
}

/** Makes the host an enrolled iPhone, without the messages of a device. */
export const makePhone = (t: Pick<TestApp, "store" | "clock">, id: number) => makeDevice(t, id, "ios");

/** Makes the host an enrolled Mac with a recovery lock and a managed account, without the messages of a device. */
export async function makeMacWithPasswords(t: Pick<TestApp, "store" | "clock">, id: number): Promise<void> {
  await makeDevice(t, id, "darwin");
  await turnOnRecoveryLock(t, (await t.store.hosts.get(id))!.team_id);
  const known = {
    id,
    status: "verified",
    updated_at: t.clock.iso(),
    next: null,
    step: null,
    command_uuid: null,
  } as const;
  // The server may have begun to set a lock by itself.
  await t.store.recoveryLocks.upsert([{ ...known, password: "A-LOCK" }], { on: ["id"] });
  await t.store.managedAccounts.insert({ ...known, password: "A-PASSWORD", name: "svcadmin", account_guid: null });
}

/** Makes the host an enrolled iPhone that has the name of its team's template, without the messages of a device. */
export async function makeNamedPhone(t: TestApp, id: number): Promise<void> {
  await makePhone(t, id);
  await setOfTeam(t, (await t.store.hosts.get(id))!.team_id, { name_template: "Phone" });
  await keepHostNames(t.services);
  await t.store.hostNames.update({ where: eq("id", id), set: { status: "verified", step: null, command_uuid: null } });
}

/** Turned on, so that the server does not remove the lock of the Mac. */
const turnOnRecoveryLock = (t: Pick<TestApp, "store" | "clock">, teamId: number | null) =>
  setOfTeam(t, teamId, { enable_recovery_lock_password: true });

async function setOfTeam(
  { store, clock }: Pick<TestApp, "store" | "clock">,
  teamId: number | null,
  on: Partial<Pick<MdmSettings, "enable_recovery_lock_password" | "name_template">>,
) {
  const team = teamId === null ? null : await store.teams.get(teamId);
  if (team) {
    const settings = { ...team.settings, mdm: { ...noMdm, ...team.settings.mdm, ...on } };
    await store.teams.update({ where: eq("id", team.id), set: { settings } });
    return;
  }
  const value = await readSection(store, mdm);
  await store.tx(async (tx) => {
    await writeSection(tx, mdm, { ...value, ...on }, clock.iso());
    await tx.notify(channels.config, mdm.name);
  });
}

async function makeDevice({ store, clock }: Pick<TestApp, "store" | "clock">, id: number, platform: "ios" | "darwin") {
  await store.hosts.updateEach([{ id, platform }]);
  const tokens = { token: "aa", push_magic: "magic", unlock_token: "dG9rZW4=", bootstrap_token: null };
  const times = { created_at: clock.iso(), token_at: clock.iso(), enrolled_at: clock.iso() };
  await store.appleEnrollments.insert({
    ...tokens,
    ...times,
    enrollment_id: `device ${id}`,
    host_id: id,
    state: "enabled",
    identity_id: null,
    returns_after: null,
  });
}
