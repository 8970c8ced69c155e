// Renders the device management data of hosts for the host object.
import type { HostMdm, HostProfile } from "../../../api/hosts/host-mdm.ts";
import type { hostNames } from "../../devices/host-names/tables.ts";
import type { managedAccounts, recoveryLocks } from "../../devices/host-passwords/tables.ts";
import type { hostProfiles } from "../../devices/profiles/tables.ts";
import { hostDiskEncryption, isKeyReadable } from "../../hosts/disk-encryption/tables.ts";
import { lockSide, lockStateOf } from "../../hosts/host-actions/states.ts";
import { shownEnrollment } from "../../hosts/mdm-status/service.ts";
import { type hostBootstrap, hostMdm, type mdmSolutions } from "../../hosts/mdm-status/tables.ts";
import { byId, groupBy } from "../../platform/core/maps.ts";
import { ReadOnce } from "../../platform/core/read-once.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import { type SidesOf, side } from "../../platform/store/sides.ts";
import type { RowOf } from "../../platform/store/table.ts";

type Solution = RowOf<typeof mdmSolutions>;

export interface HostMdmView {
  readonly mdm: HostMdm;
  readonly last_mdm_checked_in_at: string | null;
  readonly last_mdm_enrolled_at: string | null;
}

/** The columns that `mdmOfHosts` reads. The disk encryption key is not among them: it would be decrypted. */
export const mdmSides = {
  enrollment: side(
    hostMdm,
    "enrollment_status",
    "solution_id",
    "is_server",
    "connected_to_svc",
    "leaving",
    "dep_profile_error",
    "enrolled_at",
    "checked_in_at",
  ),
  lock: lockSide,
  encryption: side(hostDiskEncryption, "status", "detail", "key_updated_at"),
};

type MdmSides = Partial<SidesOf<typeof mdmSides>>;

type MdmSolutions = ReadOnce<Solution>;

export const mdmSolutionsOnce = ({ mdmSolutions }: Pick<ServerTx, "mdmSolutions">): MdmSolutions =>
  new ReadOnce(async (ids) => byId(await mdmSolutions.getMany(ids)));

/**
 * Returns a function for the hosts' positions in the list. `whole` adds settings, setup and profiles, for the
 * single-host view.
 */
export async function mdmOfHosts(
  store: ServerTx,
  hosts: readonly { readonly id: number; readonly platform: string }[],
  sides: readonly MdmSides[],
  solutions: MdmSolutions,
  { whole = false }: { whole?: boolean } = {},
): Promise<(at: number) => HostMdmView> {
  const ids = whole ? hosts.map(({ id }) => id) : [];
  const [solutionsById, bootstrap, profiles, locks, accounts, names, updates, updateReports] = await Promise.all([
    solutions.of(sides.map(({ enrollment }) => enrollment?.solution_id)),
    whole ? store.hostBootstrap.getMany(ids) : [],
    whole ? store.hostProfiles.list({ where: oneOf("host_id", ids) }) : [],
    whole ? store.recoveryLocks.pick(shownState, { where: oneOf("id", ids) }) : [],
    whole ? store.managedAccounts.pick(shownState, { where: oneOf("id", ids) }) : [],
    whole ? store.hostNames.pick(shownState, { where: oneOf("id", ids) }) : [],
    whole ? store.appleUpdates.getMany(ids) : [],
    whole ? store.appleUpdateReports.getMany(ids) : [],
  ]);
  const bootstrapOf = byId(bootstrap);
  const [lockOf, accountOf, nameOf] = [byId(locks), byId(accounts), byId(names)];
  const [updateOf, updateReportOf] = [byId(updates), byId(updateReports)];
  const profilesOf = groupBy(profiles, ({ host_id }) => host_id);
  return (at) => {
    const { enrollment, lock, encryption } = sides[at]!;
    const row = shownEnrollment(enrollment);
    const mdm = mdmFields(
      row,
      row?.solution_id == null ? undefined : solutionsById.get(row.solution_id),
      lock,
      encryption,
    );
    if (whole) {
      const { id, platform } = hosts[at]!;
      if (platform === "darwin")
        Object.assign(mdm, {
          macos_settings: macosSettings(encryption),
          macos_setup: macosSetup(bootstrapOf.get(id)),
        });
      Object.assign(mdm, {
        os_settings: {
          disk_encryption: { status: encryption?.status ?? null, detail: encryption?.detail ?? "" },
          ...settingStates(lockOf.get(id), accountOf.get(id), nameOf.get(id)),
          ...updateState(updateOf.get(id), updateReportOf.get(id)),
        },
        profiles: (profilesOf.get(id) ?? []).map(profileOf),
      });
    }
    return { mdm, last_mdm_checked_in_at: row?.checked_in_at ?? null, last_mdm_enrolled_at: row?.enrolled_at ?? null };
  };
}

function mdmFields(
  row: MdmSides["enrollment"],
  solution: Solution | undefined,
  lock: MdmSides["lock"],
  encryption: MdmSides["encryption"],
): HostMdm {
  const { device_status, pending_action, action_failure } = lockStateOf(lock);
  return {
    enrollment_status: row?.enrollment_status ?? null,
    name: solution?.name ?? "",
    server_url: solution?.server_url || null,
    connected_to_svc: row?.connected_to_svc ?? false,
    ...(row?.leaving ? { unenroll_pending: true } : {}),
    dep_profile_error: row?.dep_profile_error ?? false,
    device_status,
    pending_action,
    action_failure,
    // A key that is not verified is not returned, so it is reported as not available.
    encryption_key_available: encryption != null && isKeyReadable(encryption),
  };
}

const macosSettings = (disk: MdmSides["encryption"]): HostMdm["macos_settings"] => ({
  disk_encryption: disk?.status ?? null,
  action_required: disk?.status === "action_required" ? disk.detail || null : null,
});

/** Passwords and names are not among them: they would be decrypted. */
const shownState = ["id", "status", "detail"] as const;
type LockState = Pick<RowOf<typeof recoveryLocks>, (typeof shownState)[number]>;
type AccountState = Pick<RowOf<typeof managedAccounts>, (typeof shownState)[number]>;

type NameState = Pick<RowOf<typeof hostNames>, (typeof shownState)[number]>;

const settingStates = (lock?: LockState, account?: AccountState, name?: NameState) => ({
  ...(lock && { recovery_lock_password: { status: lock.status, detail: lock.detail } }),
  ...(account && { managed_local_account: { status: account.status, detail: account.detail } }),
  ...(name && { host_name_template: { status: name.status, detail: name.detail } }),
});

type Update = Awaited<ReturnType<ServerTx["appleUpdates"]["getMany"]>>[number];
type UpdateReport = Awaited<ReturnType<ServerTx["appleUpdateReports"]["getMany"]>>[number];

/** Systems that are too old for deadlines show none. */
function updateState(update?: Update, report?: UpdateReport) {
  if (!update?.is_declared) return {};
  const { refusal = "", failure = "", is_accepted = false, install_state = "", pending_version = "" } = report ?? {};
  const detail = refusal || failure;
  const { version: minimum_version, deadline } = update;
  const status = detail !== "" ? ("failed" as const) : is_accepted ? ("verified" as const) : ("pending" as const);
  return { os_update: { status, detail, minimum_version, deadline, install_state, pending_version } };
}

const macosSetup = (row: RowOf<typeof hostBootstrap> | undefined): HostMdm["macos_setup"] => ({
  bootstrap_package_status: row?.status ?? null,
  detail: row?.detail ?? "",
  bootstrap_package_name: row?.package_name ?? "",
});

const profileOf = (row: RowOf<typeof hostProfiles>): HostProfile => ({
  profile_uuid: row.profile_uuid,
  name: row.name,
  // What is still to be queued is pending.
  status: row.status ?? "pending",
  operation_type: row.operation_type,
  scope: row.scope,
  managed_local_account: row.managed_local_account,
  detail: row.detail,
});
