// The part of the host page that shows its device management: the enrollment, and what the server sets on the host.
import type { Host } from "../../../../../api/hosts/host.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { type Html, html } from "../../html.ts";
import { facts, when } from "../../parts.ts";

/** The colors of states, as those of profiles. */
const looks: Readonly<Record<string, string>> = {
  verified: "good",
  installed: "good",
  verifying: "off",
  failed: "bad",
  action_required: "bad",
};

interface State {
  readonly status: string | null;
  readonly detail?: string | undefined;
}

/** Null, which is not shown, for what the host does not have. */
function state(settingState: State | undefined, more = ""): Html | null {
  if (settingState === undefined || settingState.status === null) return null;
  const { status, detail = "" } = settingState;
  return html`<span class="badge ${looks[status] ?? "note"}">${status.replaceAll("_", " ")}</span>${more !== "" && html` ${more}`}${detail !== "" && html`<p class="small">${detail}</p>`}`;
}

/** Nothing for hosts without device management. */
export function managementCard(ctx: Context, host: Host): Html | false {
  const { mdm } = host;
  const { os_settings: settings, macos_setup: setup } = mdm;
  const encryption = state(settings?.disk_encryption);
  if (mdm.enrollment_status === null && encryption === null) return false;
  const update = settings?.os_update;
  return html`<section class="card" aria-labelledby="management"><h2 id="management">Device management</h2>${facts([
    ["Enrollment", mdm.enrollment_status],
    ["Product", mdm.name],
    ["Server", mdm.server_url],
    ["Enrolled since", host.last_mdm_enrolled_at ? when(ctx, host.last_mdm_enrolled_at) : null],
    ["Last contact", host.last_mdm_checked_in_at ? when(ctx, host.last_mdm_checked_in_at) : null],
    [
      "Automatic enrollment",
      mdm.dep_profile_error &&
        state({
          status: "failed",
          detail: "The business portal did not take the device's profile. It is tried again.",
        }),
    ],
    ["Disk encryption", encryption],
    ["Recovery key", mdm.encryption_key_available && "stored"],
    [
      "Bootstrap package",
      setup && state({ status: setup.bootstrap_package_status, detail: setup.detail }, setup.bootstrap_package_name),
    ],
    ["System update", update && state(update, updateText(update))],
    ["Recovery lock", state(settings?.recovery_lock_password)],
    ["Managed account", state(settings?.managed_local_account)],
    ["Name", state(settings?.host_name_template)],
  ])}</section>`;
}

type Update = NonNullable<NonNullable<Host["mdm"]["os_settings"]>["os_update"]>;

const updateText = ({ minimum_version: version, deadline, install_state, pending_version }: Update): string =>
  [
    version === "" ? "the newest version, as soon as the device is known" : `${version} until ${deadline}`,
    install_state === "" || install_state === "none" ? "" : `${install_state} ${pending_version}`.trim(),
  ]
    .filter(Boolean)
    .join("; ");
