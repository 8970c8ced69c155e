import { eq, exists, type Predicate } from "../../platform/store/query.ts";
import { bool, id, idOf, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly mdmSolutions: typeof mdmSolutions;
    readonly hostMdm: typeof hostMdm;
    readonly hostBootstrap: typeof hostBootstrap;
  }
}

/** A device management product, as reported by hosts. */
export const mdmSolutions = table(
  "mdm_solutions",
  { id: id(), name: text(), server_url: text() },
  { unique: [["name", "server_url"]] },
);

/** A host's enrollment in any device management product. */
export const hostMdm = table("host_mdm", {
  id: idOf("hosts"),
  enrollment_status: text<"On (automatic)" | "On (manual)" | "On (personal)" | "Pending" | "Off">().index(),
  solution_id: ref("mdm_solutions").nullable(),
  installed_from_dep: bool().default(false),
  /** A Windows server: its state is stored but not shown. */
  is_server: bool().default(false).index(),
  /** Whether this server manages the host. */
  connected_to_svc: bool().default(false).index(),
  /** The device was asked to leave the device management of this server, and has not answered yet. */
  leaving: bool().default(false),
  /** The business portal could not assign a profile to the host. */
  dep_profile_error: bool().default(false),
  enrolled_at: time().nullable(),
  checked_in_at: time().nullable(),
});

/** The bootstrap package of an enrolled host. */
export const hostBootstrap = table("host_bootstrap", {
  id: idOf("hosts"),
  status: text<"installed" | "pending" | "failed">().index(),
  package_name: text().default(""),
  detail: text().default(""),
});

/** Neither the summary of settings nor filters on device management include these hosts. */
export const windowsServers: Predicate = exists(hostMdm, "id", eq("is_server", true));
