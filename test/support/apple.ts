// Device management of Apple devices in tests.
import { readSection, writeSection } from "../../src/server/app-config/rows.ts";
import { mdm } from "../../src/server/app-config/sections/mdm.ts";
import { channels } from "../../src/server/core/channels.ts";
import type { TestApp } from "./app.ts";
import { TOPIC } from "./push-certificate.ts";

/** As uploading a push certificate does, or removing it. */
export async function turnOnAppleMdm({ store, clock }: Pick<TestApp, "store" | "clock">, isOn = true): Promise<void> {
  const value = await readSection(store, mdm);
  await store.tx(async (tx) => {
    await writeSection(tx, mdm, { ...value, enabled_and_configured: isOn }, clock.iso());
    await tx.notify(channels.config, mdm.name);
  });
}

/** As `turnOnAppleMdm`, with a push certificate, which enrollment profiles name. */
export async function allowEnrollment(t: Pick<TestApp, "store" | "clock">): Promise<void> {
  await turnOnAppleMdm(t);
  const text = { certificate: "", key: "", fingerprint: "", common_name: "", serial_number: "1", issuer: "" };
  const times = { not_valid_before: t.clock.iso(), not_valid_after: "2049-01-01T00:00:00.000Z" };
  await t.store.applePushCertificates.insert({ created_at: t.clock.iso(), topic: TOPIC, ...text, ...times });
}

/** Makes the host an enrolled iPhone, without the messages of a device. */
export async function makePhone({ store, clock }: Pick<TestApp, "store" | "clock">, id: number): Promise<void> {
  await store.hosts.updateEach([{ id, platform: "ios" }]);
  const tokens = { token: "aa", push_magic: "magic", unlock_token: "dG9rZW4=", bootstrap_token: null };
  const times = { created_at: clock.iso(), token_at: clock.iso(), enrolled_at: clock.iso() };
  await store.appleEnrollments.insert({
    ...tokens,
    ...times,
    enrollment_id: `phone ${id}`,
    host_id: id,
    state: "enabled",
    identity_id: null,
    returns_after: null,
  });
}
