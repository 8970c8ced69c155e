// The policy that lets users set a BitLocker PIN, where the team requires one (BitLocker CSP). Without it, Windows offers
// none.
import { syncCommand } from "../../../../syncml/value.ts";
import { and, eq } from "../../../platform/store/query.ts";
import { mustEncrypt } from "../../../settings/app-config/sections/mdm-rules.ts";
import { windowsCommandKind } from "../commands/kind.ts";
import { SettingSender } from "../settings/sent-setting.ts";
import { windowsStartupPins } from "./tables.ts";

const NODE = "./Device/Vendor/MSFT/BitLocker/SystemDrivesRequireStartupAuthentication";

/** Values of the lists of the policy. */
const [DISALLOWED, ALLOWED] = [0, 2];

/**
 * A PIN is allowed instead of required, and the TPM alone as well: otherwise Windows would refuse to encrypt the disk
 * before its user has chosen a PIN. Whether there is one decides the state of the host.
 */
const elements = [
  // Disks of machines without a TPM stay as they are.
  ["ConfigureNonTPMStartupKeyUsage_Name", "false"],
  ["ConfigureTPMUsageDropDown_Name", ALLOWED],
  ["ConfigurePINUsageDropDown_Name", ALLOWED],
  ["ConfigureTPMStartupKeyUsageDropDown_Name", DISALLOWED],
  ["ConfigureTPMPINKeyUsageDropDown_Name", DISALLOWED],
] as const;
const POLICY = `<enabled/>${elements.map(([id, value]) => `<data id="${id}" value="${value}"/>`).join("")}`;

export const startupPinPolicy = windowsCommandKind({
  name: "windows_startup_pin",
  title: "policy for BitLocker PINs",
  async ended({ store }, { host_id, uuid }, { state }) {
    const byCommand = and(eq("id", host_id), eq("command_uuid", uuid));
    if (state === "cancelled") await store.windowsStartupPins.update({ where: byCommand, set: { command_uuid: null } });
    else await store.windowsStartupPins.delete(and(byCommand, eq("allows_pin", false)));
  },
});

const sender = new SettingSender<true>({
  name: "windows_startup_pins",
  title: "policies for BitLocker PINs",
  kind: startupPinPolicy,
  table: windowsStartupPins,
  valueIn: (mdm) => (mustEncrypt(mdm, "windows") && mdm.windows_require_bitlocker_pin ? true : null),
  isValue: (allows) => eq("allows_pin", allows !== null),
  commandOf: (allows) =>
    allows === null
      ? syncCommand("Delete", "", { items: [{ target: NODE }] })
      : syncCommand("Replace", "", { items: [{ target: NODE, format: "chr", type: "text/plain", data: POLICY }] }),
  async read(store, where) {
    const rows = await store.windowsStartupPins.list({ where });
    return rows.map(({ id, allows_pin, command_uuid }) => ({ id, value: allows_pin ? true : null, command_uuid }));
  },
  async record(store, values) {
    await store.windowsStartupPins.upsert(
      values.map(({ id, value, command_uuid }) => ({ id, allows_pin: value !== null, command_uuid })),
      { on: ["id"], returning: [] },
    );
  },
  forget: (store, where) => store.windowsStartupPins.delete(where),
});

export const { listener: startupPinListener, follower: startupPins, job: startupPinsJob } = sender;
