// Device management of Apple devices in tests.
import { readSection, writeSection } from "../../src/server/app-config/rows.ts";
import { mdm } from "../../src/server/app-config/sections/mdm.ts";
import { channels } from "../../src/server/core/channels.ts";
import type { TestApp } from "./app.ts";

/** As uploading a push certificate does. */
export async function turnOnAppleMdm({ store, clock }: Pick<TestApp, "store" | "clock">): Promise<void> {
  const value = await readSection(store, mdm);
  await store.tx(async (tx) => {
    await writeSection(tx, mdm, { ...value, enabled_and_configured: true }, clock.iso());
    await tx.notify(channels.config, mdm.name);
  });
}
