// Device management of hosts as the host object shows it.
import type { HostMdm, HostProfile } from "../../api/host-mdm.ts";
import { byId, groupBy } from "../hosts/parts.ts";
import { lockStates } from "../scripts/states.ts";
import { oneOf } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { ServerTx } from "../tables.ts";
import type { hostBootstrap, hostDiskEncryption, hostMdm, hostProfiles, mdmSolutions } from "./tables.ts";

type Enrollment = RowOf<typeof hostMdm>;
type Solution = RowOf<typeof mdmSolutions>;
type Encryption = Pick<RowOf<typeof hostDiskEncryption>, "id" | "status" | "detail" | "key_updated_at">;

export interface HostMdmView {
  readonly mdm: HostMdm;
  readonly last_mdm_checked_in_at: string | null;
  readonly last_mdm_enrolled_at: string | null;
}

/** Windows servers show no enrollment, whatever their agents tell. */
export const shownEnrollment = <T extends Pick<Enrollment, "is_server">>(row: T | undefined): T | undefined =>
  row?.is_server ? undefined : row;

/** `whole` adds settings, setup and profiles: the view of one host. */
export async function mdmOfHosts(
  store: ServerTx,
  hosts: readonly { readonly id: number; readonly platform: string }[],
  { whole = false }: { whole?: boolean } = {},
): Promise<(id: number) => HostMdmView> {
  const ids = hosts.map(({ id }) => id);
  const [enrollments, actions, encryption, bootstrap, profiles] = await Promise.all([
    store.hostMdm.getMany(ids),
    lockStates(store, ids),
    // The key itself is not read: it would be deciphered for nothing.
    store.hostDiskEncryption.pick(["id", "status", "detail", "key_updated_at"], { where: oneOf("id", ids) }),
    whole ? store.hostBootstrap.getMany(ids) : [],
    whole ? store.hostProfiles.list({ where: oneOf("host_id", ids) }) : [],
  ]);
  const solutionIds = new Set(enrollments.map((row) => row.solution_id).filter((id) => id !== null));
  const solutions = byId(await store.mdmSolutions.getMany([...solutionIds]));
  const platforms = new Map(hosts.map(({ id, platform }) => [id, platform]));
  const enrollmentOf = byId(enrollments);
  const encryptionOf = byId(encryption);
  const bootstrapOf = byId(bootstrap);
  const profilesOf = groupBy(profiles, ({ host_id }) => host_id);
  return (id) => {
    const row = shownEnrollment(enrollmentOf.get(id));
    const disk = encryptionOf.get(id);
    const more = whole
      ? {
          ...(platforms.get(id) === "darwin"
            ? { macos_settings: macosSettings(disk), macos_setup: macosSetup(bootstrapOf.get(id)) }
            : {}),
          os_settings: { disk_encryption: { status: disk?.status ?? null, detail: disk?.detail ?? "" } },
          profiles: (profilesOf.get(id) ?? []).map(profileOf),
        }
      : {};
    return {
      mdm: { ...enrollmentFields(row, solutions), ...actions.get(id)!, ...keyField(disk), ...more },
      last_mdm_checked_in_at: row?.checked_in_at ?? null,
      last_mdm_enrolled_at: row?.enrolled_at ?? null,
    };
  };
}

function enrollmentFields(row: Enrollment | undefined, solutions: ReadonlyMap<number, Solution>) {
  const solution = row?.solution_id == null ? undefined : solutions.get(row.solution_id);
  return {
    enrollment_status: row?.enrollment_status ?? null,
    name: solution?.name ?? "",
    server_url: solution?.server_url || null,
    connected_to_svc: row?.connected_to_svc ?? false,
    dep_profile_error: false,
  };
}

/** A key that is not verified is not given out, so it is not there to be had. */
const keyField = (disk: Encryption | undefined) => ({
  encryption_key_available: disk?.status === "verified" && disk.key_updated_at !== null,
});

const macosSettings = (disk: Encryption | undefined): HostMdm["macos_settings"] => ({
  disk_encryption: disk?.status ?? null,
  action_required: disk?.status === "action_required" ? disk.detail || null : null,
});

const macosSetup = (row: RowOf<typeof hostBootstrap> | undefined): HostMdm["macos_setup"] => ({
  bootstrap_package_status: row?.status ?? null,
  detail: row?.detail ?? "",
  bootstrap_package_name: row?.package_name ?? "",
});

const profileOf = (row: RowOf<typeof hostProfiles>): HostProfile => ({
  profile_uuid: row.profile_uuid,
  name: row.name,
  status: row.status,
  operation_type: row.operation_type,
  scope: row.scope,
  managed_local_account: row.managed_local_account,
  detail: row.detail,
});
