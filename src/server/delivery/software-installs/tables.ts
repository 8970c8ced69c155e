import type { RowOf } from "../../platform/store/table.ts";
import { bool, idOf, int, packed, ref, table, text, time } from "../../platform/store/table.ts";
import type { InstallStatus } from "../../software/software/tables.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly softwareInstallRuns: typeof softwareInstallRuns;
  }
}

/** What a host answers to an installation. A step that it did not do has null. */
export interface InstallAnswer {
  readonly pre_install_condition_output: string | null;
  readonly install_script_exit_code: number | null;
  readonly install_script_output: string | null;
  readonly post_install_script_exit_code: number | null;
  readonly post_install_script_output: string | null;
}

export type RunStatus = InstallStatus | "uninstalled" | "canceled";

/** Each package that a host was asked to install or uninstall; the id is that of the operation. */
export const softwareInstallRuns = table(
  "software_install_runs",
  {
    id: idOf("operations"),
    created_at: time(),
    /** The uuid of the operation. */
    uuid: text().unique(),
    host_id: ref("hosts"),
    title_id: ref("software_titles").onDelete("restrict"),
    /** The package may be deleted since. */
    installer_id: int(),
    is_uninstall: bool().default(false),
    file_name: text(),
    /** What the host downloads. Null: it has ended, or uninstalls. */
    file_id: ref("files").nullable().onDelete("restrict"),
    self_service: bool().default(false),
    policy_id: ref("policies").nullable(),
    /** The package has another file now, or was deleted: the run counts no more. */
    is_outdated: bool().default(false),
    status: text<RunStatus>(),
    answer: packed<InstallAnswer>().nullable(),
    ended_at: time().nullable(),
  },
  { indexes: [["host_id", "title_id"], ["installer_id"]] },
);

export type InstallRun = RowOf<typeof softwareInstallRuns>;
