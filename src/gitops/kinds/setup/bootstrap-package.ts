// Bootstrap packages: what Macs install first after they have enrolled automatically.

import { PACKAGE_MAX } from "../../../api/devices/bootstrap.ts";
import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import { thing } from "../../desired/values.ts";
import { fieldsOf } from "../../export/fields.ts";
import { safeName } from "../../export/names.ts";
import { largeFileValue } from "../../files/large-values.ts";
import { isOfTeam } from "../../plan/activities.ts";
import type { Kind } from "../kind.ts";

const KIND = "bootstrap_package";

export const bootstrapPackage: Kind = {
  noun: "bootstrap package",
  file: {
    section: "controls",
    keys: [["setup_experience", "macos_setup"], ["bootstrap_package"]],
    extensions: [".pkg"],
    takesUrl: true,
    read: (path, _named, sources) => largeFileValue(path, PACKAGE_MAX, "bootstrap.pkg", sources),
  },
  desired: ({ scopes }) =>
    scopes.flatMap(({ named, owner }) => {
      const { name, ...value } = named[KIND]?.value ?? {};
      // Controls of hosts without a team are settings of the organization.
      return name === undefined ? [] : [thing(KIND, owner === NO_TEAM_NAME ? null : owner, value, String(name))];
    }),
  // The one file that could define the controls of hosts without a team may have been skipped.
  isComplete: ({ owner }, { owners, hasAllControls }) => owners.has(owner) && (owner !== null || hasAllControls),
  exported({ file, owner, stem, objects, addDownload }) {
    const [installer] = file === "no_team" ? [] : objects.all(owner, KIND);
    if (!installer) return {};
    const path = `lib/${stem === "" ? "" : `${stem}.`}setup/${safeName(installer.name, ".pkg")}`;
    addDownload(path, { of: KIND, sha256: String(fieldsOf(installer.value).sha256) });
    return { controls: { macos_setup: { bootstrap_package: `${owner === null ? "" : "../"}${path}` } } };
  },
  typesOf: () => ["added_bootstrap_package", "deleted_bootstrap_package"],
  isAbout: (details, _, { owner }) => isOfTeam(details, owner),
};
